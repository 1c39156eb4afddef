"""Daemons that are forked behave as those that a supervisor starts."""

import os

import testtools

from tests.fixtures import forking
from tests.unit.cmd import test_supervisor


class ForkedTests(test_supervisor.SupervisorTests):
    launch = staticmethod(forking.launch)

    def test_how_it_ended(self):
        child = self.add('toy.one')
        self.assertIsNone(child.process.poll())
        child.process.kill()
        self.assertEqual(-9, child.process.wait(60))
        self.assertFalse(os.path.exists(f'/proc/{child.process.pid}'))


class ParentTests(testtools.TestCase):
    def test_it_ends_with_who_asks(self):
        found = forking.Parent()
        found.close()
        self.assertEqual(0, found.wait())
