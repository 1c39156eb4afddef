"""Tests that are played in the simulation: what their results say where they are asked for."""

import unittest

import testtools

from tests.sim.cases import interpreter
from tests.sim.cases import loading
from tests.unit.sim import played


def played_test(name):
    """The result of a test of `played`, as a run of tests has it, and its one failure's text."""
    tests = unittest.TestSuite([played.PlayedTest(name)])
    result = testtools.TestResult()
    loading.load_tests(None, tests, None).run(result)
    if result.testsRun != 1 or result.errors:
        raise AssertionError(f'{result.testsRun} tests, errors: {result.errors}')
    return ''.join(text for _test, text in result.failures)


class CasesTestCase(testtools.TestCase):
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

    def test_an_interpreter_that_ended_is_replaced(self):
        played_test('test_passes')
        interpreter.running().process.kill()
        self.assert_fails('test_passes', 'exit status -9')
        self.assertEqual('', played_test('test_passes'))
