"""Samples change with the commit and can be taken again."""

import subprocess
import unittest

import fixtures
import testtools

from tests.fixtures import saga_faults
from tools import sample


class SampleTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.directory = self.useFixture(fixtures.TempDir()).path
        # A checkout above the temporary directory would answer for it.
        self.useFixture(fixtures.EnvironmentVariable('GIT_CEILING_DIRECTORIES', self.directory))
        self.addCleanup(sample.number.cache_clear)

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
            self.useFixture(fixtures.EnvironmentVariable(sample.VARIABLE, str(number)))
            sample.number.cache_clear()
            self.assertEqual(f'{sample.VARIABLE}={number}', sample.replay())
            taken += saga_faults.sample(cases)
        self.assertEqual(cases, sorted(taken))

    def test_one_is_taken_where_there_are_few(self):
        for number in range(5):
            self.useFixture(fixtures.EnvironmentVariable(sample.VARIABLE, str(number)))
            sample.number.cache_clear()
            self.assertEqual(1, len(saga_faults.sample('abc', 0, 48)))


class TurnsTest(testtools.TestCase):
    def names(self, **variables):
        """Return the names of the tests that run."""
        for name in (sample.VARIABLE, sample.TURNS):
            self.useFixture(fixtures.EnvironmentVariable(name, variables.get(name)))
        self.addCleanup(sample.number.cache_clear)
        sample.number.cache_clear()

        class Base(testtools.TestCase):
            def test_a(self): ...

            def test_b(self): ...

        @sample.in_turns(3)
        class Case(Base):
            def test_c(self): ...

            def test_d(self): ...

        return unittest.defaultTestLoader.getTestCaseNames(Case)

    def test_commits_run_all_tests(self):
        found = [
            self.names(**{sample.VARIABLE: str(number), sample.TURNS: '1'}) for number in range(3)
        ]
        self.assertEqual([['test_a', 'test_d'], ['test_b'], ['test_c']], found)

    def test_classes_of_one_test_take_turns(self):
        self.useFixture(fixtures.EnvironmentVariable(sample.VARIABLE, '1'))
        self.useFixture(fixtures.EnvironmentVariable(sample.TURNS, '1'))
        self.addCleanup(sample.number.cache_clear)
        sample.number.cache_clear()
        self.assertEqual(('', 'a'), (sample.turn('a', 2), sample.turn('a', 2, first=1)))

    def test_other_commands_run_all_tests_at_once(self):
        self.assertEqual(['test_a', 'test_b', 'test_c', 'test_d'], self.names())
