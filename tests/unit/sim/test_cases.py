"""Tests that are played in the simulation: what their results say where they are asked for."""

import os
import pathlib
import subprocess
import sys
import unittest

import testtools

from nova_lite import runtime
from tests.sim.cases import interpreter
from tests.sim.cases import loading
from tests.unit.sim import played
from tools import sample

WAIT_S = 60


def played_test(name):
    """The result of a test of `played`, as a run of tests has it, and its one failure's text."""
    tests = unittest.TestSuite([played.PlayedTest(name)])
    result = testtools.TestResult()
    loading.load_tests(None, tests, None).run(result)
    if result.testsRun != 1 or result.errors:
        raise AssertionError(f'{result.testsRun} tests, errors: {result.errors}')
    return ''.join(text for _test, text in result.failures)


class CasesTestCase(testtools.TestCase):
    def wait_until(self, condition):
        deadline = runtime.monotonic() + WAIT_S
        while not condition():
            self.assertLess(runtime.monotonic(), deadline)
            runtime.sleep(0.01)

    def assert_fails(self, name, *texts):
        found = played_test(name)
        for text in texts:
            self.assertIn(text, found)

    def test_passes_in_no_time(self):
        self.assertEqual('', played_test('test_passes'))

    def test_what_it_printed(self):
        answer = interpreter.play(played.PlayedTest('test_passes').id())
        self.assertEqual('hours pass\n', answer['printed'])

    def test_a_failure_has_a_traceback_and_what_repeats_it(self):
        repeat = 'run tests.unit.sim.played.PlayedTest.test_fails'
        self.assert_fails('test_fails', 'Traceback', 'played.py', "'expected' != 'found'", repeat)

    def test_files_are_those_of_the_start(self):
        for _time in range(2):
            self.assertEqual('', played_test('test_has_files_of_its_own'))

    def test_a_process_that_ends_has_failed(self):
        self.assert_fails('test_ends_with_a_signal', 'no progress, ended with status')
        self.assert_fails('test_ends_its_process', 'no progress, ended with status')

    def test_who_waits_for_ever_has_failed(self):
        self.assert_fails('test_waits_for_ever', 'deadlock', 'in test_waits_for_ever')
        self.assert_fails('test_never_ends', 'not ended after 1', 'in test_never_ends')

    def test_what_would_block_has_failed(self):
        self.assert_fails('test_would_block', 'would block for real: create_connection')

    def test_a_skipped_test_has_failed(self):
        self.assert_fails('test_is_skipped', 'skipped in the simulation: no reason')

    def test_two_at_the_same_time(self):
        address = interpreter.running().address
        with runtime.executor(2) as pool:
            found = [
                pool.submit(
                    interpreter.Connection(address).play, f'0 {played.PlayedTest(name).id()}'
                )
                for name in ('test_meets_the_other', 'test_meets_one')
            ]
        self.assertEqual(['', ''], [each.result()['failure'] for each in found])

    def test_who_leaves_ends_his_test(self):
        started = interpreter.running()
        connection = interpreter.Connection(started.address)
        connection.send(f'0 {played.PlayedTest("test_waits_without_a_point").id()}')
        directory = pathlib.Path(started.address).parent
        self.wait_until(lambda: (directory / 'alone').exists())
        self.assertEqual(1, len(list(directory.glob('of-*'))))
        connection.close()
        self.wait_until(lambda: not list(directory.glob('of-*')))
        self.assertEqual('', played_test('test_passes'))

    def test_a_command_whose_processes_share_one(self):
        script = (
            'import os\n'
            'from tests.sim.cases import interpreter\n'
            'from tests.unit.sim import played\n'
            'answer = interpreter.play(played.PlayedTest("test_passes").id())\n'
            'print(os.environ[interpreter.SHARED], interpreter.running.cache_info().currsize)\n'
            'print(answer["printed"], end="")\n'
        )
        both = f'{sys.executable} -c "$0"; {sys.executable} -c "$0"; exit 3'
        done = subprocess.run(
            [sys.executable, '-m', interpreter.__name__, 'sh', '-c', both, script],
            cwd=sample.TOP,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.assertEqual(3, done.returncode)
        one, printed, other, again = done.stdout.splitlines()
        self.assertEqual(('hours pass', 'hours pass'), (printed, again))
        self.assertEqual(one, other)
        address, own = one.split()
        self.assertEqual('0', own)
        self.assertFalse(os.path.exists(os.path.dirname(address)))

    def test_an_interpreter_that_ended_is_replaced(self):
        played_test('test_passes')
        interpreter.running().process.kill()
        self.assert_fails('test_passes', 'exit status -9')
        self.assertEqual('', played_test('test_passes'))
