"""Every step of every saga fails, loses its reply, and outlives who runs it.

Steps and kinds come from the code: a new one is tested without another line here,
once `scenarios` tells how to provoke its kind. Afterwards the move is done or undone,
nothing is left behind, and the same can be asked for again.
A sample is run; `tox -e faults` runs them all.
"""

import testtools

from nova_lite import saga
from nova_lite.conductor import kinds
from tests.fixtures import cloud as cloud_fixture
from tests.fixtures import live_moving
from tests.fixtures import saga_faults
from tests.fixtures import scenarios

Mode = saga_faults.Mode


def cases(kind, arguments):
    """(step, mode, outcome, step that fails) of all faults of a kind of saga."""
    saga_class = kinds.KINDS[kind]
    steps = saga_faults.steps_of(saga_class, arguments)
    pivot = next(i for i, step in enumerate(steps) if step.pivot)
    for index, step in enumerate(steps):
        fatal = index <= pivot and step.attempts == 1
        for mode in (Mode.BEFORE, Mode.AFTER):
            # A pivot that took place was no failure.
            if not (step.pivot and mode is Mode.AFTER):
                yield step, mode, 'undone' if fatal else 'done', None
        for mode in (Mode.LOST, Mode.DIES_BEFORE, Mode.DIES_AFTER):
            yield step, mode, 'done', None
        if step.name in saga_class.refusable:
            yield step, Mode.REFUSED, 'done', None
        last = _last_fatal(steps, pivot)
        if index < last and step.undo is not None:
            for mode in (Mode.UNDO_LOST, Mode.UNDO_DIES_BEFORE, Mode.UNDO_DIES_AFTER):
                yield step, mode, 'undone', steps[last].name


def _last_fatal(steps, pivot):
    """The last step whose failure has everything undone."""
    return max(i for i in range(pivot + 1) if steps[i].attempts < saga.FOREVER)


class FaultsBase(testtools.TestCase):
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
        server = self.stage.boot_full()
        table = []
        for step, mode, expected, last in saga_faults.sample(cases(kind, scenario.arguments)):
            found = self.run_case(kind, scenario, server, step=step, mode=mode, last=last)
            table.append((step.name, str(mode), expected, found))
        self.report(kind, table)
        self.assertEqual([], [row for row in table if row[2] != row[3]])

    def run_case(self, kind, scenario, server, *, step, mode, last):
        """Provoke one fault; returns 'done', 'undone', or what was wrong afterwards."""
        scenario.prepare(self.stage, server)
        self.stage.wait_idle(server)
        self.faults.fault = fault = saga_faults.Fault(kind, step.name, mode, last)
        scenario.ask(self.stage, server)
        outcome = self.faults.ended(server).state
        self.faults.fault = None
        if not fault.met:
            return 'the fault was not met'
        status = scenario.done if outcome == 'done' else scenario.undone
        self.cloud.wait(server, status)
        wrong = self.cloud.findings()
        if wrong:
            return f'{outcome}, and {wrong}'
        if outcome == 'undone':
            scenario.ask(self.stage, server)
            self.cloud.wait(server, scenario.done)
        return outcome

    def report(self, kind, table):
        """Print the table step x fault."""
        modes = list(dict.fromkeys(mode for _step, mode, _expected, _found in table))
        found = {(step, mode): outcome for step, mode, _expected, outcome in table}
        print(f'\n{kind:34}' + ''.join(f'{mode:>19}' for mode in modes))
        for step in dict.fromkeys(step for step, *_rest in table):
            outcomes = (found.get((step, mode), '-') for mode in modes)
            print(f'  {step:32}' + ''.join(f'{outcome[:18]:>19}' for outcome in outcomes))


class SagaFaultsTest(FaultsBase):
    """Shelved servers stay on their hosts until they are asked to leave.

    Nobody waits for the answer of a request whose saga meets a fault.
    """

    options = {'DEFAULT': {'shelved_offload_time': -1}, 'api': {'device_timeout': 0}}

    def test_scenarios(self):
        self.assertEqual(set(kinds.KINDS), set(scenarios.SCENARIOS))


class CrossCellFaultsTest(FaultsBase):
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
        case = CrossCellFaultsTest if each.startswith('cross-cell') else SagaFaultsTest
        setattr(case, f'test_{each.replace("-", "_")}', _test_of(each))


_add_tests()
