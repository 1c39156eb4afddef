"""Who ran a move between cells sleeps past its lease, and wakes when another has ended it.

It stands before a step and does it then: of that nothing may be seen, whichever cell or
neighbour service the step is about. Steps come from the code.
A sample is run; `tox -e faults` runs them all.
"""

from nova_lite.conductor import kinds
from tests.fixtures import saga_faults
from tests.fixtures import scenarios
from tests.functional import test_saga_faults

Mode = saga_faults.Mode


class ZombiesTest(test_saga_faults.CrossingCase):
    def test_crossing(self):
        found = []
        server = None
        for name in ('cross-cell-resize', 'cross-cell-revert', 'cross-cell-confirm'):
            scenario = scenarios.SCENARIOS[name]
            server = server or scenario.boot(self.stage)
            steps = saga_faults.steps_of(kinds.KINDS[name], scenario.arguments)
            found += [
                (name, step.name, self.sleep_at(name, server, step))
                for step in saga_faults.sample(steps)
            ]
        self.assertEqual([], [row for row in found if row[2] != 'done'])

    def sleep_at(self, name, server, step):
        scenario = scenarios.SCENARIOS[name]
        return self.run_case(name, scenario, server, step=step, mode=Mode.SLEEPS, last=None)
