"""Tests whose server is not installed."""

import unittest

import fixtures
import testtools

from tests.fixtures import servers


class Absent(servers.Server):
    programs = ('sh', 'no-such-server-program')

    def prepare(self):
        """Never reached."""

    def command(self):
        return []

    def answers(self):
        return False


class TestRequire(testtools.TestCase):
    def _environment(self, value):
        self.useFixture(fixtures.EnvironmentVariable('CI', value))

    def test_skips_and_names_what_is_missing(self):
        self._environment(None)
        error = self.assertRaises(unittest.SkipTest, servers.require, Absent)
        self.assertIn('no-such-server-program', str(error))
        self.assertNotIn('sh,', str(error))

    def test_fails_in_continuous_integration(self):
        self._environment('true')
        self.assertRaises(servers.Missing, servers.require, Absent)

    def test_fixture_skips_the_test_that_uses_it(self):
        self._environment(None)
        self.assertRaises(unittest.SkipTest, self.useFixture, Absent())

    def test_found(self):
        self.assertTrue(servers.find_program('sh').endswith('/sh'))
