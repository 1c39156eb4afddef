"""Every step of every saga fails, loses its reply, and outlives who runs it.

Steps and kinds come from the code: a new one is tested without another line here,
once `scenarios` tells how to provoke its kind. Afterwards the move is done or undone,
nothing is left behind, and the same can be asked for again.
A saga meets several faults, and which ones differs by commit; in `tox -e faults` each
meets one.
"""

import testtools

from nova_lite.moves import kinds
from tests.fixtures import cloud as cloud_fixture
from tests.fixtures import fault_cases
from tests.fixtures import live_moving
from tests.fixtures import saga_faults
from tests.fixtures import scenarios
from tests.functional import own_cloud
from tests.sim.cases import loading
from tools import sample

load_tests = loading.load_tests
Mode = saga_faults.Mode


class FaultsCase(testtools.TestCase):
    """One way of one kind of saga. settings: of the cloud.

    Within a cell; shelved servers stay on their hosts until they are asked to leave, and
    no process waits for the answer of a request whose saga meets a fault.
    """

    settings = own_cloud.FOUR_HOSTS

    def setUp(self):
        super().setUp()
        self.start()

    def start(self):
        """Start a new cloud, in which nothing has gone wrong."""
        self.cloud = self.useFixture(self.make_cloud())
        self.stage = live_moving.LiveMoving(self.cloud)
        self.faults = self.useFixture(saga_faults.SagaFaults(self.cloud))

    def make_cloud(self):
        """The fixture, not set up yet."""
        return cloud_fixture.Cloud(**self.settings)

    def begin(self, kind, scenario):
        """Boot the server whose sagas of a scenario meet faults."""
        self.kind, self.scenario = kind, scenario
        self.server, self.prepared = scenario.boot(self.stage), False

    def run_scenario(self, name):
        scenario, kind = scenarios.SCENARIOS[name], scenarios.kind_of(name)
        found = fault_cases.cases(kind, scenario.arguments)
        number = sample.number() + scenarios.number_of(name)
        self.run_cases(name, kind, scenario, fault_cases.runs(found, number))

    def run_cases(self, name, kind, scenario, runs):
        """Run a saga with each list of Cases. name: for the report"""
        self.assertTrue(runs, 'there is no such case')
        self.begin(kind, scenario)
        table, wrong = [], []
        for run in runs:
            found = self.attempt(run, alone=saga_faults.ALONE or run is runs[-1])
            table += [(case, found) for case in run]
            if not _is_right(run, found):
                wrong.append((' and '.join(map(str, run)), found))
                self.start_over()
                wrong += [] if saga_faults.ALONE else self.explain(run)
        self.report(name, table)
        self.assertEqual([], wrong, self.replay())

    def explain(self, run):
        """[(case, what was wrong), ...] of Cases after which something was wrong, each alone."""
        wrong = []
        for case in run:
            found = self.attempt([case], alone=True)
            if not _is_right([case], found):
                wrong.append((f'{case}, alone', found))
                self.start_over()
        return wrong

    def start_over(self):
        """Replace the cloud for the next cases, since a failed case may have damaged it."""
        self.start()
        self.begin(self.kind, self.scenario)

    def replay(self):
        """Return what runs the same again, and one case alone."""
        only = f"{saga_faults.VARIABLE}='STEP: FAULT' stestr --test-path tests/functional run"
        return f'{sample.replay()}\n{only} {self.id()}'

    def attempt(self, run, *, alone):
        """Return what run_case does, or the error that it or its repetition raises.

        alone: whether to ask again after it, not by the next Cases
        """
        try:
            found = self.run_case(run)
            if alone and self.prepared:
                self.scenario.ask(self.stage, self.server)
                self.cloud.wait_status(self.server, self.scenario.done)
                self.prepared = False
            return found
        except saga_faults.WRONG as error:
            # The cases after it are run all the same.
            return f'{type(error).__name__}: {error}'

    def run_case(self, run):
        """Run a saga with Cases. Return 'done', 'undone', or what was wrong afterwards.

        What was undone is asked for again by the next saga, for which nothing is prepared.
        """
        scenario, server = self.scenario, self.server
        if not self.prepared:
            scenario.prepare(self.stage, server)
            self.stage.wait_idle(server)
        met = [saga_faults.Fault(self.kind, each.step, each.mode, each.last) for each in run]
        self.faults.fault = saga_faults.Together(self.kind, met)
        scenario.ask(self.stage, server)
        outcome = self.faults.ended(server).state
        self.faults.fault = None
        missing = [fault.step for fault in met if not fault.met]
        if missing:
            return f'no fault was met at {missing}'
        self.cloud.wait_status(server, scenario.done if outcome == 'done' else scenario.undone)
        changed = [each for each in map(self.wake, met) if each]
        wrong = changed or self.cloud.findings()
        self.prepared = outcome == 'undone'
        return f'{outcome}, and {wrong}' if wrong else outcome

    def wake(self, fault):
        """Wake who slept, if any; return what that changed."""
        if fault.mode is not Mode.SLEEPS:
            return None
        before = self.stage.picture(self.server)
        self.faults.wake(fault)
        after = self.stage.picture(self.server)
        return None if after == before else f'{before} became {after}'

    def report(self, name, table):
        """Print the table step x fault."""
        modes = list(dict.fromkeys(case.mode for case, _found in table))
        found = {(case.step, case.mode): outcome for case, outcome in table}
        print(f'\n{name:34}' + ''.join(f'{mode:>19}' for mode in modes))
        for step in dict.fromkeys(case.step for case, _found in sorted(table)):
            outcomes = (found.get((step, mode), '-') for mode in modes)
            print(f'  {step:32}' + ''.join(f'{outcome[:18]:>19}' for outcome in outcomes))


def _is_right(run, found):
    return all(case.expected == found for case in run)


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


WANTED = sample.turn(list(scenarios.SCENARIOS), 6)
globals().update((case.__name__, case) for case in map(_class_of, WANTED))
