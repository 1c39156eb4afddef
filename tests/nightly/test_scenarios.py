"""All drills of `nova-lite scenario` and their exams, each on a cloud that others have left."""

import fixtures

from nova_lite.lab.scenarios import clients
from nova_lite.lab.scenarios import drill as drills
from nova_lite.lab.scenarios import running
from tests.functional import test_scenarios

# Seconds in which a task that nobody works at is not done.
HURRY_S = 3.0


class AllScenariosTest(test_scenarios.ScenarioTestCase):
    pass


class ExamsTest(test_scenarios.ScenarioTestCase):
    """Exams are passed by their solutions, and not without them."""

    def examine(self, name):
        """Examine one who does nothing, and then one who knows the solution."""
        drill, cloud = drills.read(name), clients.Cloud(self.state_dir)
        hurry = fixtures.MonkeyPatch('nova_lite.lab.scenarios.step_actions.WITHIN_S', HURRY_S)
        run = running.Run(drill, cloud, lambda _line: None)
        try:
            # The steps before the exam have the usual time.
            found = run.play(lambda *_told: hurry.setUp() is None)
        finally:
            hurry.cleanUp()
        self.assertFalse(found.is_as_expected, name)
        self.assert_restored()
        run = running.Run(drill, cloud, lambda _line: None)
        found = run.play(lambda _symptom, _task, stage: run.solve(stage))
        self.assertTrue(found.is_as_expected, (name, found.as_json()))
        self.assert_restored()


def _test_of(name):
    def test(self):
        self.check(name)

    return test


def _exam_of(name):
    def test(self):
        self.examine(name)

    return test


for _name in drills.names():
    _test = f'test_{_name.replace("-", "_")}'
    setattr(AllScenariosTest, _test, _test_of(_name))
    setattr(ExamsTest, _test, _exam_of(_name))
