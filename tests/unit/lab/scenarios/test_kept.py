"""The record of a drill, which the next drill finds if the first is killed."""

import json
import os

import fixtures
import testtools

from nova_lite.lab.scenarios import kept
from nova_lite.lab.scenarios import processes

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
        """The command says so: changes may remain that nothing undoes."""
        record = {'scenario': 'a', 'hosts': [], 'undo': []}
        post = {**UNDO, 'method': 'POST'}
        wrong = ({'other': 1}, {**record, 'more': 1}, {**record, 'undo': [post]}, [], 'text')
        texts = ('', '{', '[' * 100_000, *map(json.dumps, wrong))
        for text in texts:
            with open(self.path, 'w') as file:
                file.write(text)
            error = self.assertRaises(kept.Unreadable, kept.left, self.directory)
            self.assertIn(self.path, str(error))
        os.unlink(self.path)
        os.mkdir(self.path)
        self.assertRaises(kept.Unreadable, kept.left, self.directory)

    def test_what_cannot_be_written(self):
        os.mkdir(f'{self.path}.new')
        record = kept.Record(self.path, 'neutron-slow', [])
        self.assertRaises(kept.NotWritten, record.write)
        self.assertRaises(kept.NotWritten, record.add, UNDO)

    def test_one_at_a_time(self):
        with kept.locked(self.directory):
            with self.assertRaises(kept.Busy) as raised:
                with kept.locked(self.directory):
                    self.fail('a second drill begins')
        self.assertIn(self.directory, str(raised.exception))
        with kept.locked(self.directory):
            self.assertIsNone(kept.left(self.directory))

    def test_commands_keep_the_lock(self):
        """No drill begins beside the commands of a drill that was killed."""
        command = ('sh', '-c', 'exec sleep 600')
        self.useFixture(fixtures.MonkeyPatch('nova_lite.lab.scenarios.processes.COMMAND', command))
        with kept.locked(self.directory) as lock:
            running = processes.Processes(self.directory, lock)
            running.start('drain', ['drain-host', 'cell1-host1'])
        self.assertRaises(kept.Busy, kept.locked(self.directory).__enter__)
        self.assertEqual([], running.end())
        with kept.locked(self.directory):
            self.assertIsNone(kept.left(self.directory))
