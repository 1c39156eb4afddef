"""A server is deleted at every step of every move: nothing of it stays.

A sample is run; `tox -e faults` runs them all.
"""

import itertools

import fixtures
from openstack import exceptions
import testtools

from tests.fixtures import cloud as cloud_fixture
from tests.fixtures import live_moving
from tests.fixtures import saga_faults
from tests.fixtures import scenarios
from tests.functional import own_cloud
from tests.sim.cases import loading
from tools import sample

load_tests = loading.load_tests
Mode = saga_faults.Mode
# How many scenarios one stands for, where not all are run.
SAMPLED = 9


class DeletedCase(testtools.TestCase):
    """One way of one kind of saga. settings: of the cloud.

    Within a cell; shelved servers stay on their hosts until they are asked to leave.
    """

    settings = own_cloud.FOUR_HOSTS

    def setUp(self):
        super().setUp()
        # The saga stands still until the deletion is answered, which waits for it in vain.
        self.useFixture(fixtures.MonkeyPatch('nova_lite.lifecycle.intents.END_TIMEOUT_S', 0.5))
        self.cloud = self.useFixture(cloud_fixture.Cloud(**self.settings))
        self.stage = live_moving.LiveMoving(self.cloud)
        self.faults = self.useFixture(saga_faults.SagaFaults(self.cloud))
        # Servers whose deletion had to wait for the end of the saga.
        self.refused = set()

    def run_scenario(self, name):
        scenario, kind = scenarios.SCENARIOS[name], scenarios.kind_of(name)
        wrong, number = [], scenarios.number_of(name)
        steps = saga_faults.steps_of(kind, scenario.arguments)
        modes = (Mode.DURING_BEFORE, Mode.DURING_AFTER)
        for step, mode in saga_faults.sample(itertools.product(steps, modes), number):
            found = self.run_case(kind, scenario, step, mode)
            if found:
                wrong.append((step.id, str(mode), found))
        self.assertEqual([], wrong, sample.replay())

    def try_to_delete(self, server):
        """Delete it, unless it waits for its resize to be confirmed and something else goes on."""
        try:
            self.cloud.admin.compute.delete_server(server.id)
        except exceptions.ConflictException:
            self.assertEqual('VERIFY_RESIZE', self.cloud.admin.compute.get_server(server.id).status)
            self.refused.add(server.id)

    def run_case(self, kind, scenario, step, mode):
        server = scenario.boot(self.stage)
        scenario.prepare(self.stage, server)
        self.stage.wait_idle(server)
        self.faults.fault = saga_faults.Fault(
            kind,
            step.id,
            mode,
            meanwhile=lambda: self.try_to_delete(server),
        )
        scenario.ask(self.stage, server)
        self.faults.ended(server)
        self.faults.fault = None
        if server.id in self.refused:
            self.cloud.admin.compute.delete_server(server.id)
        self.cloud.wait_gone(server)
        self.stage.wait_idle(server)
        scenario.recover(self.stage)
        return self.cloud.findings()


class DeletedCrossingCase(DeletedCase):
    """Servers rather leave their cell than stay."""

    settings = {
        'cells': 2,
        'hosts': 2,
        'options': {'filter_scheduler': {'cross_cell_move_weight_multiplier': -1000000.0}},
    }


def _class_of(name):
    """A test of a scenario, in a class of its own: classes are run beside each other."""

    def test_deleted(self):
        self.run_scenario(name)

    base = DeletedCrossingCase if name.startswith('cross-cell') else DeletedCase
    title = f'Deleted{name.title().replace("-", "")}Test'
    return type(title, (base,), {'test_deleted': test_deleted, '__module__': __name__})


CHOSEN = saga_faults.sample(scenarios.SCENARIOS, every=SAMPLED)
globals().update((case.__name__, case) for case in map(_class_of, CHOSEN))
