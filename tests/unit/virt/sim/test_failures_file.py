"""Failures in a file that another process changes."""

import json
import os

import fixtures
import testtools

from nova_lite.virt.sim import failures_file
from nova_lite.virt.sim import profile


class FailuresFileTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.path = self.useFixture(fixtures.TempDir()).join('failures.json')
        self.followed = failures_file.FailuresFile(self.path)

    def write(self, *entries):
        found = [{'identity': f'n{number}', 'entry': each} for number, each in enumerate(entries)]
        with open(f'{self.path}.new', 'w') as file:
            json.dump(found, file)
        os.replace(f'{self.path}.new', self.path)

    def seen(self):
        return [(rule.identity, sorted(rule.verbs)) for rule in self.followed()]

    def test_changes(self):
        self.assertEqual([], self.seen())
        self.write({'verb': 'spawn'})
        self.assertEqual([('n0', ['spawn'])], self.seen())
        self.assertIs(self.followed(), self.followed())
        self.write({'verb': 'resume'}, {'verb': 'spawn', 'first': 2})
        self.assertEqual([('n0', ['resume']), ('n1', ['spawn'])], self.seen())
        self.write()
        self.assertEqual([], self.seen())

    def test_a_wrong_entry(self):
        self.write({'verb': 'nosuch'})
        self.assertRaises(profile.ProfileError, self.followed)
