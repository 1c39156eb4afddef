"""Sagas of servers whose ports ask for resources meet faults: what they hold stays right.

`verify` compares it after each fault with the ports and their bindings.
"""

import dataclasses

from nova_lite.moves import detach_interface
from nova_lite.moves import kinds
from tests.fixtures import attaching
from tests.fixtures import fault_cases
from tests.fixtures import guarantees
from tests.fixtures import moving
from tests.fixtures import saga_faults
from tests.fixtures import scenarios
from tests.functional import own_cloud
from tests.functional import test_saga_faults
from tests.sim.cases import loading
from tools import sample

load_tests = loading.load_tests

FOUR_HOSTS = {**own_cloud.FOUR_HOSTS, 'profile': guarantees.PROFILE}
# How many cases one stands for, where not all are run.
SAMPLED = 60


def _hands(stage, server):
    stage.wait_idle(server)
    return attaching.Attaching(stage.cloud)


def _boot(stage):
    """A server with such a port and a volume."""
    ports = guarantees.Guarantees(stage.cloud)
    image = {'source_type': 'image', 'uuid': stage.cloud.image_id('cirros'), 'boot_index': 0}
    return ports.boot(
        ports.port(kbps=100, kpps=10),
        block_device_mapping=[
            {**image, 'destination_type': 'local'},
            {'source_type': 'blank', 'boot_index': -1, **moving.VOLUME},
        ],
    )


def _spare(stage):
    """The id of a port that asks for resources and that no server has."""
    network = stage.cloud.admin.network
    free = [each.id for each in network.ports(name='spare') if not each.device_id]
    if free:
        return free[0]
    made = guarantees.Guarantees(stage.cloud).port(kbps=100, kpps=10)
    network.update_port(made, name='spare')
    return made


def _few(stage, server):
    """The server has one port."""
    hands = _hands(stage, server)
    for port in hands.interfaces(server)[1:]:
        hands.unplug(server, port['port_id'], status=None)
        hands.wait_idle(server)


def _attach(stage, server):
    _hands(stage, server).plug(server, port_id=_spare(stage), status=None)


def _more(stage, server):
    """The server has a port to lose."""
    if not _hands(stage, server).interfaces(server)[1:]:
        _attach(stage, server)
        stage.wait_idle(server)


def _detach(stage, server):
    hands = _hands(stage, server)
    hands.unplug(server, hands.interfaces(server)[-1]['port_id'], status=None)


class GuaranteesCase(test_saga_faults.FaultsCase):
    settings = FOUR_HOSTS

    def run_faults(self, kind, scenario, **data):
        scenario = dataclasses.replace(scenario, boot=_boot)
        found = fault_cases.cases(kind, scenario.arguments, **data)
        wanted = saga_faults.sample(found, len(kind), SAMPLED)
        runs = fault_cases.runs(wanted, sample.number())
        self.run_cases(f'{kind} (guarantee)', kind, scenario, runs)


class AttachTest(GuaranteesCase):
    def test_faults(self):
        way = kinds.KINDS['attach-interface'].ways[-1]
        scenario = scenarios.Scenario(_few, _attach, 'ACTIVE', arguments=way.arguments)
        self.run_faults('attach-interface', scenario)


class DetachTest(GuaranteesCase):
    def test_faults(self):
        way = detach_interface.DetachInterface.ways[-1]
        self.run_faults(
            'detach-interface', scenarios.Scenario(_more, _detach, 'ACTIVE'), **way.data
        )


def _class_of(kind):
    def test_faults(self):
        self.run_faults(kind, scenarios.SCENARIOS[kind])

    title = f'{kind.title().replace("-", "")}Test'
    return type(title, (GuaranteesCase,), {'test_faults': test_faults, '__module__': __name__})


MOVES = ('resize', 'revert-resize', 'live-migration', 'evacuation', 'unshelve', 'shelve-offload')
globals().update((case.__name__, case) for case in map(_class_of, MOVES))
