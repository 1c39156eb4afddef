"""All drills of `nova-lite scenario` and their exams, each on a cloud that others have left."""

import json
import subprocess

import fixtures

from nova_lite.lab.scenarios import clients
from nova_lite.lab.scenarios import drill as drills
from nova_lite.lab.scenarios import processes
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

    def begin(self, name):
        """Start the exam of a drill by its command. Return the process that has told the task."""
        words = ('scenario', 'run', name, '--exam', '--state-dir', self.state_dir)
        process = subprocess.Popen(
            [*processes.COMMAND, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        self.assertIn('task', json.loads(process.stdout.readline()))
        return process

    def end(self, process):
        """Give up an exam. Return the last document that it prints, and its exit code."""
        out, _errors = process.communicate('{"done": false}\n')
        return json.loads(out), process.returncode

    def test_killed_and_taken_again(self):
        for name in ('quota-race', 'host-dies-in-a-drain', 'volume-service-flaps'):
            killed = self.begin(name)
            busy = self.scenario('run', 'neutron-slow', code=2)
            self.assertIn('A drill runs in the cloud', busy)
            killed.kill()
            killed.wait()
            found, code = self.end(self.begin(name))
            self.assertEqual(1, code)
            said = [event['detail'] for event in found['timeline'] if not event['ok']]
            self.assertEqual(['given up'], said)
            self.assertIn(name, found['timeline'][0]['text'])
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
