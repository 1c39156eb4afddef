"""Former owners of sagas that sleep past their lease, and wake when another has ended the saga.

It stands before a step and does it then: of that nothing may be seen, whichever cell,
host or neighbour service the step is about. Kinds and steps come from the code.
A sample is run, of each scenario others; `tox -e faults` runs them all.
"""

from tests.fixtures import fault_cases
from tests.fixtures import saga_faults
from tests.fixtures import scenarios
from tests.functional import test_saga_faults
from tests.sim.cases import loading
from tools import sample

load_tests = loading.load_tests
Mode = saga_faults.Mode
# How many scenarios one stands for, where not all are run.
SAMPLED = 4
CROSSING = [name for name in scenarios.SCENARIOS if name.startswith('cross-cell')]
WITHIN = [name for name in scenarios.SCENARIOS if name not in CROSSING]


class ZombiesCase(test_saga_faults.FaultsCase):
    """every: how many steps one stands for, where not all are run."""

    every = 3

    def run_all(self, names):
        found = []
        for number, name in enumerate(saga_faults.sample(names, every=SAMPLED)):
            found += self.run_sleeping(name, number)
        wrong = [row for row in found if row[2] != 'done']
        self.assertEqual([], wrong, sample.replay())

    def run_sleeping(self, name, number):
        """[(scenario, step, what was seen), ...] of the number-th scenario."""
        kind, scenario = scenarios.kind_of(name), scenarios.SCENARIOS[name]
        self.begin(kind, scenario)
        steps = list(enumerate(saga_faults.steps_of(kind, scenario.arguments)))
        found = [
            (name, step.id, self.sleep_at(index, step))
            for index, step in saga_faults.sample(steps, number, self.every)
        ]
        scenario.recover(self.stage)
        self.cloud.admin.compute.delete_server(self.server)
        self.cloud.wait_gone(self.server)
        return found

    def sleep_at(self, index, step):
        return self.run_case([fault_cases.Case(index, step.id, Mode.SLEEPS, 'done')])


class ZombiesTest(ZombiesCase):
    def test_within_a_cell(self):
        self.run_all(WITHIN)


class CrossingZombiesTest(ZombiesCase, test_saga_faults.CrossingCase):
    def test_crossing(self):
        self.run_all(CROSSING)
