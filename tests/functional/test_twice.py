"""Every message of a cloud is delivered twice, during each kind of saga.

Nothing is done twice, nothing fails, and nothing is left. Each server comes into being
and goes without: what builds and deletes it is no saga. Kinds come from the code.
A sample is run; `tox -e faults` runs them all.
"""

from tests.fixtures import cloud as cloud_fixture
from tests.fixtures import saga_faults
from tests.fixtures import scenarios
from tests.fixtures import twice
from tests.functional import test_saga_faults
from tests.sim.cases import loading
from tools import sample

load_tests = loading.load_tests

CROSSING = [name for name in scenarios.SCENARIOS if name.startswith('cross-cell')]
WITHIN = [name for name in scenarios.SCENARIOS if name not in CROSSING]
RUNNING = ('ACTIVE', 'VERIFY_RESIZE')
# How many ways of a saga one stands for, where not all are run.
SAMPLED = 6


class TwiceCase(test_saga_faults.FaultsCase):
    """Each scenario has a server of its own, which is deleted in the end."""

    # No cloud is started before the test: daemons are made while the fixture is in use.
    settings = None
    options = test_saga_faults.FaultsCase.settings

    def make_cloud(self):
        return cloud_fixture.Cloud(**self.options)

    def setUp(self):
        self.deliveries = self.useFixture(twice.DeliveredTwice())
        super().setUp()

    def run_all(self, names):
        chosen = saga_faults.sample(names, every=SAMPLED)
        found = {name: self.run_twice(scenarios.SCENARIOS[name]) for name in chosen}
        wrong = {name: what for name, what in found.items() if what}
        self.assertEqual({}, wrong, sample.replay())

    def run_twice(self, scenario):
        """Return what is wrong after a saga of a scenario; None when nothing is."""
        server = scenario.boot(self.stage)
        scenario.prepare(self.stage, server)
        self.stage.wait_idle(server)
        self.deliveries.on = True
        scenario.ask(self.stage, server)
        outcome = self.faults.ended(server).state
        if outcome != 'done':
            self.deliveries.on = False
            return outcome
        found = self.cloud.wait(server, scenario.done)
        self.stage.wait_idle(server)
        self.deliveries.on = False
        guests = self.cloud.guests().get(server.id, [])
        wanted = [found.compute_host] if scenario.done in RUNNING else []
        if scenario.done == 'VERIFY_RESIZE':
            # What a server that moves holds is left alone by the audit.
            self.stage.act(server, 'confirmResize', status=204)
            self.cloud.wait(server, 'ACTIVE')
            self.stage.wait_idle(server)
        boss = self.cloud.cloud.daemons['super-conductor'].manager
        for _look in range(2):
            # Two schedulers may claim two hosts; the audit gives up what no move wants.
            boss.audit_allocations()
        wrong = self.cloud.findings()
        scenario.recover(self.stage)
        self.cloud.admin.compute.delete_server(server)
        self.cloud.wait_gone(server)
        return wrong or (None if guests == wanted else f'runs on {guests}, not {wanted}')


class TwiceTest(TwiceCase):
    def test_within_a_cell(self):
        self.run_all(WITHIN)


class CrossingTwiceTest(TwiceCase):
    options = test_saga_faults.CrossingCase.settings

    def test_crossing(self):
        self.run_all(CROSSING)
