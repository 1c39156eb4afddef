"""A cloud that continues with a snapshot of another: from where it was, and by itself."""

import contextlib
import json
import os
import pathlib
import sqlite3
import sys

import fixtures

from nova_lite.lab.launcher import client_connections
from nova_lite.lab.launcher import clocks
from nova_lite.lab.launcher import cloud_snapshots
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import running
from nova_lite.lab.launcher import sqlite_copies
from nova_lite.lab.launcher import state_dir
from nova_lite.lab.launcher import stored_times
from nova_lite.lab.testing import clouds as testing_clouds
from nova_lite.lab.testing import fixture
from tests.fixtures import cloud as cloud_fixture
from tests.fixtures import commands
from tests.fixtures import live_moving
from tests.fixtures import warm_programs
from tests.functional import base
from tests.functional import own_cloud
from tests.sim.cases import loading
from tools import sample

load_tests = loading.load_tests
LIMIT_S = 300
# A copy that takes 14 s.
SLOW = """
extends: instant
hosts:
  - match: '*'
    live_migration: {bandwidth_mb_s: 150, dirty_rate_mb_s: 1}
"""


# A copy and a spawn that take seconds.
BUSY = SLOW + '    delays: {spawn: 6}\n'


class ProgressTest(own_cloud.OwnCloudTest):
    settings = {'cells': 1, 'hosts': 3}

    def test_a_live_migration(self):
        server = self.cloud.boot(flavor='m1.small')
        self.moving.behave(SLOW)
        self.moving.go(server)
        self.moving.watched(server, 'running')
        before = self.cloud.wait_for(lambda: self.progress(server, least=40), 'progress')
        path = os.path.join(self.cloud.state_dir, 'moving.snapshot')
        manifest = self.cloud.cloud.snapshot(path)
        self.moving.ended(server)

        self.cloud.continue_from(path)
        self.moving = live_moving.LiveMoving(self.cloud)
        after = self.progress(server)
        self.assertGreaterEqual(after, before)
        self.assertLess(after, 90)
        self.assertEqual(server.compute_host, self.moving.running(server)[0])
        self.moving.ended(server)
        self.assertNotEqual(server.compute_host, self.cloud.wait(server).compute_host)
        self.assertEqual(self.settings['hosts'], manifest.settings['hosts'])

    def progress(self, server, least=0):
        """Percent of the memory that was copied, None below `least` or before the first look."""
        found = self.cloud.api('GET', f'/servers/{server.id}/migrations', version='2.80').json()
        (row,) = found['migrations']
        total = row['memory_total_bytes']
        percent = 100 * row['memory_processed_bytes'] / total if total else 0
        return percent if percent >= least else None


class BackTest(own_cloud.OwnCloudTest):
    """A cloud with two cells, work in progress, faults, a volume and an image comes back."""

    settings = {'cells': 2, 'hosts': 3}

    def setUp(self):
        super().setUp()
        admin = self.cloud.admin
        self.volume = admin.block_storage.create_volume(size=1)
        admin.block_storage.wait_for_status(self.volume, 'available')
        self.kept = self.cloud.boot('kept', networks=[{'uuid': self.cloud.network_id()}])
        admin.compute.create_volume_attachment(self.kept, volume_id=self.volume.id)
        self.image = admin.compute.create_server_image(self.kept, 'picture', wait=True)
        self.moved = self.cloud.boot('moved', flavor='m1.small')
        self.cloud.behave(BUSY)
        live = {'os-migrateLive': {'host': None, 'block_migration': 'auto'}}
        path = f'/servers/{self.moved.id}/action'
        self.cloud.api('POST', path, version='2.30', json=live).raise_for_status()
        self.building = self.cloud.boot('building', wait=False)
        self.cloud.wait(self.building, 'BUILD', task='spawning')
        self.cloud.wait_for(lambda: 'running' in self.migrations(), 'copies memory')
        self.cloud.cloud.faults.add({'verb': 'hard_reboot'})
        used = {node for nodes in self.cloud.guests().values() for node in nodes}
        hosts = {
            host for cell in ('cell1', 'cell2') for host in self.cloud.cloud.places.hosts(cell)
        }
        self.off = sorted(hosts - used - {self.destination()})[0]
        self.cloud.cloud.faults.switch_host(self.off, on=False)
        self.path = self.cloud.cloud.snapshots.path('work')
        self.cloud.cloud.snapshot(self.path)

    def migrations(self):
        answer = self.cloud.api(
            'GET', '/os-migrations?migration_type=live-migration', version='2.23'
        )
        return [each['status'] for each in answer.json()['migrations']]

    def destination(self):
        answer = self.cloud.api('GET', '/os-migrations', version='2.23')
        return answer.json()['migrations'][0]['dest_compute']

    def test_every_row(self):
        """Of each database and of the guests, but for times that a restore moves."""
        found = self.cloud.cloud.snapshots
        with found.unpacked(cloud_snapshots.read(self.path)) as draft:
            expected = {name: rows(os.path.join(draft, name)) for name in found.files()}
        self.cloud.admin.compute.delete_server(self.kept)
        self.cloud.wait_gone(self.kept)
        self.cloud.stop()
        self.assertNotEqual(expected['cell1.sqlite'], rows(found.files()['cell1.sqlite']))
        with found.restoring('work') as restore:
            restore()
        for name, path in found.files().items():
            self.assertEqual(expected[name], rows(path), name)
        self.cloud.restart()
        self.ends()

    def test_each_way(self):
        """A reset, and a cloud that continues with the file. What was in progress ends."""
        for back in (lambda: self.cloud.cloud.reset('work'), self.continued):
            back()
            self.cloud.connections.clear()
            self.ends()

    def continued(self):
        self.cloud.continue_from(self.path)

    def ends(self):
        """The servers have ended what was in progress, and nothing is found."""
        self.assertEqual([], self.cloud.cloud.faults.show()['failures'])
        self.assertEqual([self.off], self.cloud.cloud.faults.show()['hosts_off'])
        for server in (self.kept, self.moved, self.building):
            self.cloud.wait(server)
        self.cloud.wait_for(lambda: self.migrations() == ['completed'], 'has moved')
        attached = self.cloud.admin.block_storage.get_volume(self.volume.id).attachments
        self.assertEqual([self.kept.id], [each['server_id'] for each in attached])
        self.assertEqual('active', self.cloud.admin.image.get_image(self.image.id).status)
        self.cloud.cloud.faults.switch_host(self.off, on=True)
        self.assertEqual([], self.cloud.findings())


def rows(path):
    """Return the rows of a database as SQL, without the times that a restore moves."""
    with (
        sqlite_copies.opened(path) as connection,
        contextlib.closing(sqlite3.connect(':memory:', isolation_level=None)) as copied,
    ):
        connection.backup(copied)
        tables = {name for (name,) in copied.execute('SELECT name FROM sqlite_master')}
        for table, columns in {**stored_times.CELL, **stored_times.API, 'clock': ['wall']}.items():
            for column in columns if table in tables else ():
                copied.execute(f"UPDATE {table} SET {column} = ''")
        return sorted(copied.iterdump())


@sample.in_turns(4)
class ForkTest(base.CloudTest):
    """The commands, with two processes."""

    plain = True

    @classmethod
    def make_cloud(cls):
        directory = fixtures.TempDir()
        directory.setUp()
        cls.addClassCleanup(directory.cleanUp)
        profile = directory.join('profile.yaml')
        with open(profile, 'w') as file:
            file.write('extends: instant\n')
        return cloud_fixture.Cloud(cells=1, hosts=2, profile=profile)

    def setUp(self):
        super().setUp()
        self.directory = self.useFixture(fixtures.TempDir())

    def command(self, *args, code=0):
        found, out, err = commands.run(*args)
        self.assertEqual(code, found, err)
        return err if code else out

    def test_a_fork(self):
        server = self.cloud.boot('both')
        running.write(self.cloud.state_dir, running.of(self.cloud.cloud.places))
        self.addCleanup(running.forget, self.cloud.state_dir)
        # The new cloud goes by the time of the snapshot, not by the clock of the commands.
        clock = os.path.join(self.cloud.state_dir, state_dir.CLOCK)
        layout.write(clock, '{"ahead_s": 9000}')
        self.addCleanup(os.unlink, clock)
        second = self.directory.join('second')
        self.addCleanup(commands.run, 'stop', '--state-dir', second)
        fork = 'fork', '--state-dir', self.cloud.state_dir, second
        args = [*fork, '--json', '--set', 'api.max_limit=7']
        for option, text in (
            (['--cells', '2'], 'cells=1, not 2'),
            (['--auth', 'noauth', '--listen', '0.0.0.0'], 'noauth'),
            (['--bus', 'rabbit://b/{cell}'], '--bus'),
        ):
            self.assertIn(text, self.command(*fork, *option, code=2))
        self.assertFalse(os.path.exists(second))
        code, printed, errors = commands.forked(args, timeout_s=LIMIT_S)
        self.assertEqual((0, ''), (code, errors), printed)

        shown = json.loads(printed)
        self.assertEqual(
            (second, running.read(second).compute_url), (shown['state_dir'], shown['compute_url'])
        )
        self.assertEqual((1, 2), (shown['snapshot']['cells'], shown['snapshot']['hosts']))
        self.assertLess(abs(clocks.ahead_s(second)), LIMIT_S)
        other = client_connections.connect(os.path.join(second, 'clouds.yaml'))
        self.assertNotEqual(self.cloud.cloud.url, running.read(second).compute_url)
        self.assertEqual('ACTIVE', other.compute.get_server(server.id).status)
        other.compute.delete_server(server)
        other.compute.wait_for_delete(server)
        self.assertEqual('ACTIVE', self.cloud.admin.compute.get_server(server.id).status)
        self.cloud.boot('first')
        with open(os.path.join(second, 'etc', 'profile.yaml')) as file:
            self.assertEqual('extends: instant\n', file.read())
        with open(os.path.join(second, 'etc', 'control.conf')) as file:
            self.assertIn('\nmax_limit = 7\n', file.read())
        self.assert_lacks(second, self.cloud.state_dir, self.cloud.cloud.url)
        self.command('verify', '--state-dir', second)
        self.assertIn('is in use by process', commands.forked(args, timeout_s=LIMIT_S)[2])

    def assert_lacks(self, directory, *texts):
        """No row in a database of the cloud in a directory has one of the texts."""
        paths = list(pathlib.Path(directory).rglob('*.sqlite'))
        self.assertNotEqual([], paths)
        for path in paths:
            with sqlite_copies.opened(path) as connection:
                dump = '\n'.join(connection.iterdump())
            for text in texts:
                self.assertNotIn(text, dump, path)

    def test_the_commands(self):
        path = self.directory.join('a.snapshot')
        save = 'snapshot', 'save', '--state-dir', self.cloud.state_dir
        found = json.loads(self.command(*save, '--json', path))
        self.assertEqual((path, os.path.getsize(path)), (found['file'], found['bytes']))
        self.assertIn(f'Wrote {path} (', self.command(*save, path))
        shown = json.loads(self.command('snapshot', 'show', '--json', path))
        self.assertEqual((1, 2, None), (shown['cells'], shown['hosts'], shown['profile']))

        nowhere = self.directory.join('no', 'a.snapshot')
        self.assertIn('No such file', self.command(*save, nowhere, code=2))
        with open(path, 'r+b') as file:
            file.truncate(1000)
        for args in (('snapshot', 'show', path), ('up', '--from', path)):
            self.assertIn('or not whole', self.command(*args, code=2))

    def test_clouds_of_tests(self):
        """One process, which is reset: with the second use the first is undone."""
        source = os.path.dirname(sys.executable)
        warm = self.useFixture(warm_programs.WarmPrograms(source, ['nova-lite']))
        self.patch(testing_clouds, 'COMMAND', (warm.directory / 'nova-lite',))
        server = self.cloud.boot('both')
        path = self.directory.join('a.snapshot')
        self.cloud.cloud.snapshot(path)
        for _use in range(2):
            found = self.useFixture(fixture.NovaCloud(snapshot=path)).cloud
            (listed,) = found.requests.list('compute', '/servers', all_tenants=True)
            self.assertEqual(server.id, listed['id'])
            found.requests.delete('compute', f'/servers/{server.id}')
            found.requests.create('compute', '/os-keypairs', {'keypair': {'name': 'one'}})
        self.command('verify', '--state-dir', found.state_dir)
        testing_clouds.of_process().stop(found)
