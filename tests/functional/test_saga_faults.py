"""Every step of every saga fails, loses its reply, and outlives who runs it.

Steps and kinds come from the code: a new one is tested without another line here,
once `scenarios` tells how to provoke its kind. Afterwards the move is done or undone,
nothing is left behind, and the same can be asked for again.
A sample is run; `tox -e faults` runs them all.
"""

import testtools

from nova_lite.moves import kinds
from tests.fixtures import cloud as cloud_fixture
from tests.fixtures import live_moving
from tests.fixtures import saga_faults
from tests.fixtures import scenarios
from tests.functional import own_cloud
from tests.sim.cases import loading
from tools import sample

load_tests = loading.load_tests
Mode = saga_faults.Mode
# How many cases one stands for, where not all are run: every kind has at least one then.
SAMPLED = 48


def cases(kind, arguments, **data):
    """(step, mode, outcome, step that fails) of all faults of a kind of saga.

    data: what the saga has found, where later steps depend on it
    """
    saga_class = kinds.KINDS[kind]
    steps = saga_faults.steps_of(kind, arguments, **data)
    pivot = next(i for i, step in enumerate(steps) if step.pivot)
    for index, step in enumerate(steps):
        fatal = index <= pivot and step.attempts == 1
        for mode in (Mode.BEFORE, Mode.AFTER):
            # A pivot that took place was no failure.
            if not (step.pivot and mode is Mode.AFTER):
                yield step, mode, 'undone' if fatal else 'done', None
        for mode in (Mode.LOST, Mode.DIES_BEFORE, Mode.DIES_AFTER):
            yield step, mode, 'done', None
        if step.id in saga_class.refusable:
            yield step, Mode.REFUSED, 'done', None
        last = saga_faults.last_fatal(steps)
        if index < last and step.undo is not None:
            for mode in (Mode.UNDO_LOST, Mode.UNDO_DIES_BEFORE, Mode.UNDO_DIES_AFTER):
                yield step, mode, 'undone', steps[last].id


class FaultsCase(testtools.TestCase):
    """One way of one kind of saga. settings: of the cloud.

    Within a cell; shelved servers stay on their hosts until they are asked to leave, and
    nobody waits for the answer of a request whose saga meets a fault.
    """

    settings = own_cloud.FOUR_HOSTS

    def setUp(self):
        super().setUp()
        self.cloud = self.useFixture(self.make_cloud())
        self.stage = live_moving.LiveMoving(self.cloud)
        self.faults = self.useFixture(saga_faults.SagaFaults(self.cloud))

    def make_cloud(self):
        """The fixture, not set up yet."""
        return cloud_fixture.Cloud(**self.settings)

    def run_scenario(self, name):
        scenario, kind = scenarios.SCENARIOS[name], scenarios.kind_of(name)
        found = cases(kind, scenario.arguments)
        self.run_cases(
            name, kind, scenario, saga_faults.sample(found, scenarios.number_of(name), SAMPLED)
        )

    def run_cases(self, name, kind, scenario, wanted):
        """Run cases of a scenario. name: for the report"""
        server, table = scenario.boot(self.stage), []
        for step, mode, expected, last in wanted:
            found = self.run_case(kind, scenario, server, step=step, mode=mode, last=last)
            table.append((step.id, str(mode), expected, found))
        self.report(name, table)
        wrong = [row for row in table if row[2] != row[3]]
        self.assertEqual([], wrong, sample.replay())

    def run_case(self, kind, scenario, server, *, step, mode, last):
        """Provoke one fault; returns 'done', 'undone', or what was wrong afterwards."""
        scenario.prepare(self.stage, server)
        self.stage.wait_idle(server)
        self.faults.fault = fault = saga_faults.Fault(kind, step.id, mode, last)
        scenario.ask(self.stage, server)
        outcome = self.faults.ended(server).state
        self.faults.fault = None
        if not fault.met:
            return 'the fault was not met'
        status = scenario.done if outcome == 'done' else scenario.undone
        self.cloud.wait(server, status)
        if mode is Mode.SLEEPS:
            before = self.stage.picture(server)
            self.faults.wake(fault)
            after = self.stage.picture(server)
            if after != before:
                return f'{before} became {after}'
        wrong = self.cloud.findings()
        if wrong:
            return f'{outcome}, and {wrong}'
        if outcome == 'undone':
            scenario.ask(self.stage, server)
            self.cloud.wait(server, scenario.done)
        return outcome

    def report(self, name, table):
        """Print the table step x fault."""
        modes = list(dict.fromkeys(mode for _step, mode, _expected, _found in table))
        found = {(step, mode): outcome for step, mode, _expected, outcome in table}
        print(f'\n{name:34}' + ''.join(f'{mode:>19}' for mode in modes))
        for step in dict.fromkeys(step for step, *_rest in table):
            outcomes = (found.get((step, mode), '-') for mode in modes)
            print(f'  {step:32}' + ''.join(f'{outcome[:18]:>19}' for outcome in outcomes))


class CrossingCase(FaultsCase):
    """Servers rather leave their cell than stay."""

    settings = {
        'cells': 2,
        'hosts': 2,
        'options': {'filter_scheduler': {'cross_cell_move_weight_multiplier': -1000000.0}},
    }


class ScenariosTest(testtools.TestCase):
    def test_every_kind_has_one(self):
        self.assertEqual(
            set(kinds.KINDS), {scenarios.kind_of(name) for name in scenarios.SCENARIOS}
        )


def _class_of(name):
    """A test of a scenario, in a class of its own: classes are run beside each other."""

    def test_faults(self):
        self.run_scenario(name)

    base = CrossingCase if name.startswith('cross-cell') else FaultsCase
    title = f'{name.title().replace("-", "")}Test'
    return type(title, (base,), {'test_faults': test_faults, '__module__': __name__})


globals().update((case.__name__, case) for case in map(_class_of, scenarios.SCENARIOS))
