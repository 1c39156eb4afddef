"""The record of a drill, which the next drill finds if the first is killed."""

import os

import fixtures
import testtools

from nova_lite.lab.scenarios import kept

UNDO = {'method': 'DELETE', 'path': '/volumes/1', 'body': None, 'options': {'service': 'volume'}}


class KeptTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.directory = self.useFixture(fixtures.TempDir()).path
        os.mkdir(os.path.join(self.directory, 'run'))
        self.path = kept.path_of(self.directory)

    def test_left_by_one_that_was_killed(self):
        self.assertIsNone(kept.left(self.directory))
        record = kept.Record(self.path, 'neutron-slow', ['cell1-host1'])
        record.write()
        record.add(UNDO)
        self.assertEqual(record, kept.left(self.directory))
        self.assertEqual([UNDO], kept.left(self.directory).undo)
        record.delete()
        self.assertIsNone(kept.left(self.directory))

    def test_what_cannot_be_read(self):
        for text in ('', '{', '[' * 100_000, '[]', '{"other": 1}', '"text"'):
            with open(self.path, 'w') as file:
                file.write(text)
            self.assertIsNone(kept.left(self.directory), text[:20])

    def test_one_at_a_time(self):
        with kept.locked(self.directory):
            with self.assertRaises(kept.Busy) as raised:
                with kept.locked(self.directory):
                    self.fail('a second drill begins')
        self.assertIn(self.directory, str(raised.exception))
        with kept.locked(self.directory):
            self.assertIsNone(kept.left(self.directory))
