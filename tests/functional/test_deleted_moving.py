"""A server is deleted at every step of every move: nothing of it stays.

A sample is run; `tox -e faults` runs them all.
"""

import itertools

import testtools

from nova_lite.conductor import kinds
from tests.fixtures import cloud as cloud_fixture
from tests.fixtures import live_moving
from tests.fixtures import saga_faults
from tests.fixtures import scenarios

Mode = saga_faults.Mode


class DeletedBase(testtools.TestCase):
    """cells, hosts, options: of the cloud."""

    cells, hosts, options = 1, 4, None

    def setUp(self):
        super().setUp()
        self.cloud = self.useFixture(
            cloud_fixture.Cloud(cells=self.cells, hosts=self.hosts, options=self.options)
        )
        self.stage = live_moving.LiveMoving(self.cloud)
        self.faults = self.useFixture(saga_faults.SagaFaults(self.cloud))

    def run_kind(self, kind):
        scenario = scenarios.SCENARIOS[kind]
        wrong = []
        steps = saga_faults.steps_of(kinds.KINDS[kind], scenario.arguments)
        modes = (Mode.DURING_BEFORE, Mode.DURING_AFTER)
        for step, mode in saga_faults.sample(itertools.product(steps, modes)):
            found = self.run_case(kind, scenario, step, mode)
            if found:
                wrong.append((step.name, str(mode), found))
        self.assertEqual([], wrong)

    def run_case(self, kind, scenario, step, mode):
        server = self.stage.boot_full()
        scenario.prepare(self.stage, server)
        self.stage.wait_idle(server)
        self.faults.fault = saga_faults.Fault(
            kind,
            step.name,
            mode,
            meanwhile=lambda: self.cloud.admin.compute.delete_server(server.id),
        )
        scenario.ask(self.stage, server)
        self.faults.ended(server)
        self.faults.fault = None
        self.cloud.wait_gone(server)
        self.stage.wait_idle(server)
        scenario.recover(self.stage)
        return self.cloud.findings()


class DeletedMovingTest(DeletedBase):
    """Within a cell. Shelved servers stay on their hosts until they are asked to leave."""

    options = {
        'DEFAULT': {'shelved_offload_time': -1},
        'compute': {'stray_grace': 0},
        'api': {'device_timeout': 0},
    }


class DeletedCrossingTest(DeletedBase):
    """Servers rather leave their cell than stay."""

    cells, hosts = 2, 2
    options = {'filter_scheduler': {'cross_cell_move_weight_multiplier': -1000000.0}}


def _test_of(kind):
    def test(self):
        self.run_kind(kind)

    return test


def _add_tests():
    """A test of each kind. In a function: a class named twice would be run twice."""
    for each in sorted(kinds.KINDS):
        case = DeletedCrossingTest if each.startswith('cross-cell') else DeletedMovingTest
        setattr(case, f'test_{each.replace("-", "_")}', _test_of(each))


_add_tests()
