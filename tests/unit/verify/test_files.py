"""Readings of the logs of a cloud and of the files of its guests."""

import json
import os

import fixtures
import testtools

from nova_lite import states
from nova_lite.verify import files
from nova_lite.virt import model
from nova_lite.virt.sim import census
from nova_lite.virt.sim import store

LINE = '{} INFO {} [None req-1] 127.0.0.1 "GET /x" status: {} len: 0 microversion: 2.1\n'


class ServerErrorsTest(testtools.TestCase):
    def found(self, *lines):
        directory = self.useFixture(fixtures.TempDir()).path
        os.mkdir(os.path.join(directory, 'log'))
        with open(os.path.join(directory, 'log', 'api.top.log'), 'w') as log:
            log.writelines(LINE.format(*line) for line in lines)
        return files.server_errors(files.of_state_directory(directory))

    def test_of_the_compute_api(self):
        (line,) = self.found(
            (1, 'nova_lite.api.request_log', 500),
            (2, 'nova_lite.api.request_log', 503),
        )
        self.assertTrue(line.startswith('1 '))

    def test_of_placement(self):
        self.assertEqual([], self.found((1, 'placement.requestlog', 500)))


class GuestsTest(testtools.TestCase):
    """Files of guests are read one after the other."""

    def setUp(self):
        super().setUp()
        self.directory = self.useFixture(fixtures.TempDir()).path
        self.stores = {}
        for name in ('a', 'b'):
            path = os.path.join(self.directory, 'guests', name, 'guests.sqlite')
            self.stores[name] = store.Store(path)
            self.addCleanup(self.stores[name].close)

    def put(self, name, role=model.Role.RESIDENT):
        """Put guest g on the node of that name."""
        spec = model.GuestSpec(uuid='g', name='g', flavor='f', vcpus=1, memory_mb=1, disk_gb=0)
        with self.stores[name].write() as tx:
            store.insert_guest(
                tx,
                name,
                json.dumps(spec.to_dict()),
                uuid='g',
                role=role,
                power_state=states.PowerState.RUNNING,
            )

    def running(self):
        return [
            row.node
            for row in files.guests(files.of_state_directory(self.directory))
            if row.running
        ]

    def test_in_two_files(self):
        self.put('a')
        self.put('b')
        self.assertEqual(['a', 'b'], self.running())

    def test_config_drives_without_guests(self):
        self.put('a')
        for name in ('a', 'b'):
            with self.stores[name].write() as tx:
                store.put_drive(tx, name, 'g', '{}')
        self.assertEqual(
            [('g', 'b')], files.ownerless_drives(files.of_state_directory(self.directory))
        )

    def test_one_that_moves_while_they_are_read(self):
        self.put('a')

        def move(path):
            """It arrives in the second file after the first was read."""
            found = read(path)
            if path.endswith(os.path.join('a', 'guests.sqlite')):
                self.put('a', model.Role.DEPARTED)
                self.put('b')
            return found

        read = census.guests
        self.useFixture(fixtures.MonkeyPatch('nova_lite.virt.sim.census.guests', move))
        self.assertEqual(['b'], self.running())

    def test_jobs_that_have_not_ended(self):
        self.put('a')
        values = "('a', 'g', 'power_off', '', 'k', 'running', 0, NULL, '{}', '{}')"
        with self.stores['a'].write() as tx:
            tx.execute(
                'INSERT INTO jobs (node, guest, verb, subject, key, state, begins, due, args,'
                f' result) VALUES {values}'
            )
        (row,) = files.guests(files.of_state_directory(self.directory))
        self.assertEqual((1, 'g'), (row.jobs, row.spec.uuid))
