"""Snapshots and the clouds that continue with them."""

import dataclasses
import os
import pathlib
import resource
import sqlite3
import stat

import fixtures
import testtools

from nova_lite import runtime
from nova_lite.lab.launcher import clocks
from nova_lite.lab.launcher import cloud_snapshots
from nova_lite.lab.launcher import foreground
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import saved_states
from nova_lite.lab.launcher import snapshot_file
from nova_lite.lab.launcher import sqlite_copies
from tests.fixtures import clock
from tests.unit.lab.launcher import test_saved_states

HOUR_S = 3600.0


class SnapshotsTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.directory = self.useFixture(fixtures.TempDir())
        self.time = self.enterContext(runtime.install(clock.ManualRuntime()))
        self.profile = self.directory.join('my.yaml')
        with open(self.profile, 'w') as file:
            file.write('extends: instant\n')
        self.places = self.layout('first', profile=self.profile)
        self.places.prepare()
        for path in saved_states.SavedStates(self.places).files().values():
            with sqlite_copies.opened(path, 'rwc') as connection:
                for statement in test_saved_states.TABLES:
                    connection.execute(statement)
                connection.execute('INSERT INTO told VALUES (?)', ('first',))
        self.path = self.directory.join('a.snapshot')
        self.manifest = cloud_snapshots.save(
            self.places, saved_states.SavedStates(self.places), self.path
        )

    def layout(self, name, **settings):
        """The Layout of a cloud, which is let go at the end."""
        directory = self.directory.join(name)
        found = layout.Layout(
            layout.Settings(state_dir=directory, **{'cells': 1, 'hosts': 1, **settings})
        )
        self.addCleanup(found.release)
        return found

    def continued(self, name='second', **given):
        """The Layout of a cloud that continues with the snapshot, before its first start."""
        snapshot = cloud_snapshots.read(self.path)
        directory = self.directory.join(name)
        settings = cloud_snapshots.settings_of(snapshot.manifest, directory, given)
        places = layout.Layout(layout.Settings(**settings))
        self.addCleanup(places.release)
        places.hold()
        cloud_snapshots.extract(snapshot, places)
        return places

    def test_a_cloud_that_continues(self):
        self.time.advance(HOUR_S)
        places = self.continued()
        states = saved_states.SavedStates(places)
        for path in states.files().values():
            with sqlite_copies.opened(path, 'rwc') as connection:
                for statement in test_saved_states.TABLES:
                    connection.execute(statement)
        states.finish()
        for path in states.files().values():
            with sqlite_copies.opened(path) as connection:
                self.assertEqual([('first',)], connection.execute('SELECT * FROM told').fetchall())
        self.assertEqual([saved_states.FRESH], states.names())
        states.check(saved_states.FRESH)
        self.assertEqual(-HOUR_S, clocks.ahead_s(places.root))

        before = self.places.secrets
        places.prepare()
        self.assertEqual(before, places.secrets)
        self.assertEqual(self.places.metadata_secret, places.metadata_secret)
        with open(places.settings.profile) as file:
            self.assertEqual('extends: instant\n', file.read())
        self.assertTrue(places.settings.profile.startswith(places.root))

    def test_the_file(self):
        self.assertEqual(0o600, stat.S_IMODE(os.stat(self.path).st_mode))
        self.assertEqual([], os.listdir(self.places.path('saved', '')))

    def test_the_mappings(self):
        """They name the buses and databases of the cloud that continues."""
        with sqlite_copies.opened(self.places.path('db', 'api.sqlite')) as connection:
            connection.executemany(
                'INSERT INTO cell_mappings VALUES (?, ?, ?)',
                [('cell0', 'x', 'x'), ('cell1', 'x', 'x')],
            )
        cloud_snapshots.save(self.places, saved_states.SavedStates(self.places), self.path)
        places = self.continued()
        saved = os.path.join(places.root, 'saved', 'fresh', 'api.sqlite')
        with sqlite_copies.opened(saved) as connection:
            found = connection.execute('SELECT * FROM cell_mappings').fetchall()
        self.assertEqual(
            [
                ('cell0', 'none:///', places.database_url('cell0')),
                ('cell1', places.bus_url('cell1'), places.database_url('cell1')),
            ],
            found,
        )

    def test_what_is_chosen(self):
        found = cloud_snapshots.settings_of(self.manifest, '/x', {'speed': 2.0, 'port': 1})
        self.assertEqual(2.0, found['speed'])
        self.assertEqual('/x/etc/profile.yaml', found['profile'])
        error = self.assertRaises(
            cloud_snapshots.OtherSize,
            cloud_snapshots.settings_of,
            self.manifest,
            '/x',
            {'hosts': 2},
        )
        self.assertIn('hosts=1, not 2. Omit --hosts.', str(error))

    def test_options_that_are_chosen(self):
        """Of --set and --debug, which keep the others of the first cloud."""
        taken = {'api': {'x': '1', 'y': '2'}, 'DEFAULT': {'z': '3'}}
        settings = {**self.manifest.settings, 'options': taken}
        manifest = dataclasses.replace(self.manifest, settings=settings)
        chosen = {'api': {'y': '4'}, 'compute': {'v': '5'}}
        found = cloud_snapshots.settings_of(manifest, '/x', {'options': chosen})['options']
        self.assertEqual(
            {'api': {'x': '1', 'y': '4'}, 'DEFAULT': {'z': '3'}, 'compute': {'v': '5'}}, found
        )

    def test_a_directory_with_a_cloud(self):
        before = os.listdir(self.places.root)
        self.refused(cloud_snapshots.NotEmpty)
        self.assertEqual(before, os.listdir(self.places.root))

    def test_a_directory_with_a_cloud_on_a_database_server(self):
        for path in saved_states.SavedStates(self.places).files().values():
            if not path.endswith('simcloud.sqlite'):
                os.unlink(path)
        self.refused(cloud_snapshots.NotEmpty)

    def refused(self, refusal, **options):
        """The text of the error of `extract`."""
        found = cloud_snapshots.read(self.path)
        return str(
            self.assertRaises(refusal, cloud_snapshots.extract, found, self.places, **options)
        )

    def test_a_former_cloud_is_deleted(self):
        """Once all of the snapshot is there."""
        places = self.layout('second', profile='instant')
        places.prepare()
        former = pathlib.Path(places.path('db', 'former.sqlite'))
        former.touch()
        places.release()
        places.hold()
        cloud_snapshots.extract(cloud_snapshots.read(self.path), places, fresh=True)
        self.assertFalse(former.exists())
        self.assertEqual([], [name for name in os.listdir(places.root) if 'snapshot' in name])
        places.prepare()
        self.assertEqual(self.places.secrets, places.secrets)
        self.assertTrue(os.path.exists(places.path(saved_states.RESTORING)))

    def test_a_full_disk_does_not_delete_a_former_cloud(self):
        """A limit on the size of files stands for it."""
        before = os.listdir(self.places.root)
        former = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1024, former[1]))
        try:
            text = self.refused(snapshot_file.NotExtracted, fresh=True)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, former)
        self.assertIn('File too large', text)
        self.assertEqual(before, os.listdir(self.places.root))

    def test_what_is_refused_before_a_former_cloud_is_deleted(self):
        """A profile that does not exist, and files that would be deleted as well."""
        self.useFixture(fixtures.EnvironmentVariable('no_proxy'))
        self.useFixture(fixtures.EnvironmentVariable('NO_PROXY'))
        self.places.release()
        inside = self.places.path('a.snapshot')
        os.rename(self.path, inside)
        profile = self.places.path('my.yaml')
        os.rename(self.profile, profile)
        before = os.listdir(self.places.root)
        for chosen, path, text in (
            ('/no/such', inside, 'neither a file'),
            ('instant', inside, f'{inside} lies in'),
            (profile, None, f'{profile} lies in'),
        ):
            settings = layout.Settings(state_dir=self.places.root, profile=chosen)
            snapshot = None if path is None else cloud_snapshots.read(path)
            error = self.assertRaises(
                ValueError, foreground.run, settings, fresh=True, snapshot=snapshot
            )
            self.assertIn(text, str(error))
            self.assertEqual(before, os.listdir(self.places.root))

    def test_a_damaged_one_does_not_delete_a_former_cloud(self):
        # The directory of a ZIP archive is at its end, and is whole.
        with open(self.path, 'r+b') as file:
            file.seek(os.path.getsize(self.path) // 3)
            file.write(b'damaged')
        self.deletes_nothing(snapshot_file.Damaged)

    def test_a_profile_that_is_unknown_does_not_delete_a_former_cloud(self):
        with open(self.profile, 'w') as file:
            file.write('extends: instant\nof_another_release: 1\n')
        os.unlink(self.path)
        cloud_snapshots.save(self.places, saved_states.SavedStates(self.places), self.path)
        self.assertIn('of_another_release', self.deletes_nothing(cloud_snapshots.UnknownProfile))

    def test_contents_that_no_cloud_writes(self):
        api = saved_states.SavedStates(self.places).files()['api.sqlite']
        for statement in (
            'CREATE VIEW mine AS SELECT 1',
            'CREATE TRIGGER mine AFTER UPDATE ON told BEGIN SELECT 1; END',
        ):
            sqlite_copies.execute(api, statement)
            self.assertIn('mine', self.with_contents())
            sqlite_copies.execute(api, f'DROP {statement.split()[1]} mine')
        for text in ('[' * 100_000, '[]', '{"admin_password": 1}', 'x'):
            with open(self.places.path(layout.SECRETS), 'w') as file:
                file.write(text)
            self.assertIn(layout.SECRETS, self.with_contents())

    def with_contents(self):
        """The refusal of a snapshot of the cloud as it is now."""
        os.unlink(self.path)
        cloud_snapshots.save(self.places, saved_states.SavedStates(self.places), self.path)
        return self.deletes_nothing(snapshot_file.Damaged)

    def test_the_directory_of_another_cloud(self):
        for group in ('DEFAULT', 'default'):
            settings = {**self.manifest.settings, 'options': {group: {'state_path': '/x'}}}
            manifest = dataclasses.replace(self.manifest, settings=settings)
            self.assertRaises(ValueError, cloud_snapshots.settings_of, manifest, 'second', {})

    def deletes_nothing(self, refusal):
        before = os.listdir(self.places.root), os.listdir(self.places.path('db', ''))
        text = self.refused(refusal, fresh=True)
        self.assertIn(self.path, text)
        after = os.listdir(self.places.root), os.listdir(self.places.path('db', ''))
        self.assertEqual(before, after)
        return text

    def test_a_snapshot_of_another_release(self):
        schemas = {**self.manifest.schemas, 'cell': 'abc'}
        other = snapshot_file.Manifest(
            release='0.9', schemas=schemas, taken_at=1.0, settings=self.manifest.settings, files={}
        )
        snapshot_file.write(self.path, other, {})
        error = self.assertRaises(cloud_snapshots.OtherSchemas, cloud_snapshots.read, self.path)
        self.assertIn('nova-lite 0.9 with another version of cell: abc', str(error))

    def test_one_that_lacks_files(self):
        files = {name: self.places.path(name) for name in cloud_snapshots.KEPT}
        snapshot_file.write(self.path, self.manifest, files)
        self.assertIn('it lacks api.sqlite', self.refused(snapshot_file.Damaged, fresh=True))

    def test_a_profile_that_is_gone(self):
        os.unlink(self.profile)
        states = saved_states.SavedStates(self.places)
        error = self.assertRaises(
            cloud_snapshots.NotWritten, cloud_snapshots.save, self.places, states, self.path
        )
        self.assertEqual(1, str(error).count('my.yaml'))
        self.assertEqual(self.manifest, cloud_snapshots.read(self.path).manifest)


class CopiesTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.directory = self.useFixture(fixtures.TempDir())
        self.paths = [self.directory.join(name) for name in ('a', 'b')]
        for path in self.paths:
            with sqlite_copies.opened(path, 'rwc') as connection:
                connection.execute('PRAGMA journal_mode = WAL')
                connection.execute('CREATE TABLE told (value)')

    def files(self):
        return {path: f'{path}-copy' for path in self.paths}

    def test_nobody_writes_meanwhile(self):
        def write():
            with sqlite_copies.opened(self.paths[0], busy_s=0) as connection:
                connection.execute('INSERT INTO told VALUES (1)')

        sqlite_copies.copy_all(
            self.files(), noted=lambda: self.assertRaises(sqlite3.OperationalError, write)
        )
        write()

    def test_it_waits_for_who_writes(self):
        self.useFixture(fixtures.MonkeyPatch('nova_lite.lab.launcher.sqlite_copies.QUIET_S', 0.01))
        self.useFixture(fixtures.MonkeyPatch('nova_lite.lab.launcher.sqlite_copies.HELD_UP_S', 0.0))
        with sqlite_copies.opened(self.paths[1]) as writer:
            writer.execute('BEGIN IMMEDIATE')
            self.assertRaises(sqlite_copies.NotQuiet, sqlite_copies.copy_all, self.files())
        sqlite_copies.copy_all(self.files())
        self.assertTrue(all(os.path.exists(path) for path in self.files().values()))
