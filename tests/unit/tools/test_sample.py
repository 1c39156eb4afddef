"""Samples change with the commit and can be taken again."""

import subprocess
import unittest

import fixtures
import testtools

from tests.fixtures import saga_faults
from tools import sample


def take(test, number, *, turns=None):
    """Set the number of the sample, and whether tests take turns, until a test ends."""
    values = {sample.VARIABLE: None if number is None else str(number), sample.TURNS: turns}
    for name, value in values.items():
        test.useFixture(fixtures.EnvironmentVariable(name, value))
    test.addCleanup(sample.number.cache_clear)
    sample.number.cache_clear()


class SampleTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.directory = self.useFixture(fixtures.TempDir()).path
        # A checkout above the temporary directory would answer for it.
        self.useFixture(fixtures.EnvironmentVariable('GIT_CEILING_DIRECTORIES', self.directory))

    def git(self, *args):
        identity = ['-c', 'user.name=n', '-c', 'user.email=e@example.org']
        subprocess.run(['git', '-C', self.directory, *identity, *args], check=True)

    def test_another_commit_takes_another_one(self):
        self.git('init', '-q')
        found = []
        for message in 'ab':
            self.git('commit', '-q', '--allow-empty', '-m', message)
            found.append(sample.of_commit(self.directory))
        self.assertEqual(2, len(set(found)))
        self.assertEqual(found[-1], sample.of_commit(self.directory))

    def test_an_export_without_a_commit(self):
        self.assertEqual(0, sample.of_commit(self.directory))

    def test_seven_samples_are_all_cases(self):
        cases, taken = list(range(40)), []
        for number in range(saga_faults.SAMPLED):
            take(self, number)
            self.assertEqual(f'{sample.VARIABLE}={number}', sample.replay())
            taken += saga_faults.sample(cases)
        self.assertEqual(cases, sorted(taken))

    def test_one_is_taken_where_there_are_few(self):
        for number in range(5):
            take(self, number)
            self.assertEqual(1, len(saga_faults.sample('abc', 0, 48)))


class TurnsTest(testtools.TestCase):
    def names(self):
        """Return the names of the tests that run."""

        class Base(testtools.TestCase):
            def test_a(self): ...

            def test_b(self): ...

        @sample.in_turns(3)
        class Case(Base):
            def test_c(self): ...

            def test_d(self): ...

        return unittest.defaultTestLoader.getTestCaseNames(Case)

    def test_commits_run_all_tests(self):
        found = []
        for number in range(3):
            take(self, number, turns='1')
            found.append(self.names())
        self.assertEqual([['test_a', 'test_d'], ['test_b'], ['test_c']], found)

    def test_classes_of_one_test_take_turns(self):
        take(self, 1, turns='1')
        self.assertEqual(('', 'a'), (sample.turn('a', 2), sample.turn('a', 2, first=1)))

    def test_other_commands_run_all_tests_at_once(self):
        take(self, None)
        self.assertEqual(['test_a', 'test_b', 'test_c', 'test_d'], self.names())


class ModulesTest(testtools.TestCase):
    """Modules a, b and c with two tests each, one of which has the name of a scenario."""

    def setUp(self):
        super().setUp()
        suites = []
        for module in 'abc':
            names = (f'tests.{module}.Case.{name}' for name in ('one', 'two(x.y)'))
            one, two = map(testtools.PlaceHolder, names)
            suites.append(unittest.TestSuite([unittest.TestSuite([one]), two]))
        suites.append(unittest.TestSuite([testtools.PlaceHolder(f'{sample.LOADER}._FailedTest.d')]))
        self.suite = unittest.TestSuite(suites)

    def test_three_commits_run_all_modules(self):
        found = []
        for number in (3 + (high << sample.MODULE_BITS) for high in range(3)):
            take(self, number, turns='1')
            names = [test.id() for test in sample.modules_in_turn(self.suite)]
            self.assertEqual(f'{sample.LOADER}._FailedTest.d', names.pop())
            found.append(names)
        self.assertEqual([2, 2, 2], list(map(len, found)))
        self.assertEqual(6, len(set().union(*found)))

    def test_other_commands_run_all(self):
        take(self, 3)
        self.assertIs(self.suite, sample.modules_in_turn(self.suite))
