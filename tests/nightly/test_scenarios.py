"""All drills of `nova-lite scenario` and their exams, each on a cloud that others have left."""

import json

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


class KilledTest(test_scenarios.ScenarioTestCase):
    """An exam whose process is killed is undone by the next one in the cloud."""

    def end(self, process):
        """Give up an exam. Return the last document that it prints, and its exit code."""
        out, _errors = process.communicate('{"done": false}\n')
        return json.loads(out), process.returncode

    def test_killed_and_taken_again(self):
        for name in ('quota-race', 'host-dies-in-a-drain', 'volume-service-flaps'):
            killed = self.begin(name)
            busy = self.scenario('run', 'neutron-slow', code=2)
            self.assertIn('runs in the cloud in', busy)
            killed.kill()
            killed.wait()
            found, code = self.end(self.begin(name))
            self.assertEqual(1, code)
            said = [event['detail'] for event in found['timeline'] if not event['ok']]
            self.assertEqual(['given up'], said)
            self.assertIn(name, found['timeline'][0]['text'])
            self.assert_restored()

    def test_reset_after_a_kill(self):
        """A restored state has no record of a drill, or that of the drill that ran then."""
        killed = self.begin('quota-race')
        self.control.post('save', state='within')
        killed.kill()
        killed.wait()
        self.control.post('reset')
        self.assertIn('nothing to undo', self.scenario('undo'))
        self.assert_restored()
        self.control.post('reset', state='within')
        self.assertIn('Scenario quota-race is undone', self.scenario('undo'))
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
