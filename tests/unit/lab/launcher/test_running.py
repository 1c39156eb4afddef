"""The process that runs a cloud: what it leaves behind, and what others read of it."""

import dataclasses
import json
import os

import fixtures
import testtools

from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import lock
from nova_lite.lab.launcher import running
from tests.fixtures import commands


class RunningTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.directory = self.useFixture(fixtures.TempDir()).path
        settings = layout.Settings(state_dir=self.directory, cells=1, hosts=1)
        self.places = layout.Layout(settings)
        self.addCleanup(self.places.release)

    def status(self):
        """Return what `nova-lite status` shows of the cloud."""
        _code, printed, errors = commands.run_named(
            'status', '--json', '--state-dir', self.directory
        )
        self.assertIn(f'Cloud in {self.directory}, ', errors)
        return json.loads(printed)

    def test_a_killed_process_of_the_same_id(self):
        os.makedirs(self.places.path('run'), exist_ok=True)
        running.write(self.directory, self.ready())
        self.places.hold()
        self.assertEqual(os.getpid(), lock.holder(self.directory))
        self.assertIsNone(running.read(self.directory))
        self.assertEqual('starting or stopping', self.status()['state'])

    def test_files_that_go_while_they_are_read(self):
        self.places.hold()
        os.makedirs(self.places.path('run'), exist_ok=True)
        running.write(self.directory, self.ready())
        self.assertEqual(self.ready(), running.read(self.directory))
        self.assertEqual('starting or stopping', self.status()['state'])

    def test_a_file_of_another_shape(self):
        """It may be truncated, of another release, or written by somebody."""
        self.places.hold()
        whole = dataclasses.asdict(self.ready())
        path = self.places.path(lock.READY)
        for found in ([], 1, {}, {'pid': None}, {'pid': os.getpid()}, {**whole, 'cells': 1}):
            with open(path, 'w') as file:
                json.dump(found, file)
            self.assertIsNone(running.read(self.directory), found)
            self.assertEqual('starting or stopping', self.status()['state'])
        running.write(self.directory, self.ready())
        self.assertEqual(self.ready(), running.read(self.directory))

    def test_a_file_without_a_process(self):
        with open(self.places.path(lock.READY), 'w') as file:
            json.dump({'pid': None}, file)
        self.assertIsNone(running.read(self.directory))
        self.assertEqual('not running', self.status()['state'])

    def ready(self):
        """The Running of this process."""
        return running.Running(
            pid=os.getpid(),
            started_at=1.0,
            compute_url='http://127.0.0.1:1/compute/v2.1',
            metadata_url='http://127.0.0.1:1/metadata',
            clouds_yaml=self.places.path('clouds.yaml'),
            cells=('cell1',),
            hosts=1,
        )
