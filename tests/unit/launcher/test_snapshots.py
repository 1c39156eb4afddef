"""Snapshots and the clouds that continue with them."""

import dataclasses
import os
import sqlite3
import stat

import fixtures
import testtools

from nova_lite import runtime
from nova_lite.launcher import clocks
from nova_lite.launcher import copies
from nova_lite.launcher import foreground
from nova_lite.launcher import layout
from nova_lite.launcher import saved_states
from nova_lite.launcher import snapshot_file
from nova_lite.launcher import snapshots
from tests.fixtures import clock
from tests.unit.launcher import test_saved_states

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
            with copies.opened(path, 'rwc') as connection:
                for statement in test_saved_states.TABLES:
                    connection.execute(statement)
                connection.execute('INSERT INTO told VALUES (?)', ('first',))
        self.path = self.directory.join('a.snapshot')
        self.manifest = snapshots.save(
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
        settings = snapshots.settings_of(
            snapshots.read(self.path), self.directory.join(name), given
        )
        places = layout.Layout(layout.Settings(**settings))
        self.addCleanup(places.release)
        places.prepare()
        snapshots.extract(self.path, places)
        return places

    def test_a_cloud_that_continues(self):
        self.time.advance(HOUR_S)
        places = self.continued()
        states = saved_states.SavedStates(places)
        for path in states.files().values():
            with copies.opened(path, 'rwc') as connection:
                for statement in test_saved_states.TABLES:
                    connection.execute(statement)
        states.finish()
        for path in states.files().values():
            with copies.opened(path) as connection:
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
        with copies.opened(self.places.path('db', 'api.sqlite')) as connection:
            connection.executemany(
                'INSERT INTO cell_mappings VALUES (?, ?, ?)',
                [('cell0', 'x', 'x'), ('cell1', 'x', 'x')],
            )
        snapshots.save(self.places, saved_states.SavedStates(self.places), self.path)
        places = self.continued()
        saved = os.path.join(places.root, 'saved', 'fresh', 'api.sqlite')
        with copies.opened(saved) as connection:
            found = connection.execute('SELECT * FROM cell_mappings').fetchall()
        self.assertEqual(
            [
                ('cell0', 'none:///', places.database_url('cell0')),
                ('cell1', places.bus_url('cell1'), places.database_url('cell1')),
            ],
            found,
        )

    def test_what_is_chosen(self):
        found = snapshots.settings_of(self.manifest, '/x', {'speed': 2.0, 'port': 1})
        self.assertEqual(2.0, found['speed'])
        self.assertEqual('/x/etc/profile.yaml', found['profile'])
        error = self.assertRaises(
            snapshots.OtherSize, snapshots.settings_of, self.manifest, '/x', {'hosts': 2}
        )
        self.assertIn('hosts=1, not 2. Omit --hosts.', str(error))

    def test_options_that_are_chosen(self):
        """Of --set and --debug, which keep the others of the first cloud."""
        taken = {'api': {'x': '1', 'y': '2'}, 'DEFAULT': {'z': '3'}}
        settings = {**self.manifest.settings, 'options': taken}
        manifest = dataclasses.replace(self.manifest, settings=settings)
        chosen = {'api': {'y': '4'}, 'compute': {'v': '5'}}
        found = snapshots.settings_of(manifest, '/x', {'options': chosen})['options']
        self.assertEqual(
            {'api': {'x': '1', 'y': '4'}, 'DEFAULT': {'z': '3'}, 'compute': {'v': '5'}}, found
        )

    def test_a_directory_with_a_cloud(self):
        before = os.listdir(self.places.root)
        self.assertRaises(snapshots.NotEmpty, snapshots.extract, self.path, self.places)
        self.assertEqual(before, os.listdir(self.places.root))

    def test_a_directory_with_a_cloud_on_a_database_server(self):
        for path in saved_states.SavedStates(self.places).files().values():
            if not path.endswith('simcloud.sqlite'):
                os.unlink(path)
        self.assertRaises(snapshots.NotEmpty, snapshots.extract, self.path, self.places)

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
            error = self.assertRaises(
                ValueError, foreground.run, settings, fresh=True, snapshot=path
            )
            self.assertIn(text, str(error))
            self.assertEqual(before, os.listdir(self.places.root))

    def test_a_damaged_one_does_not_delete_a_former_cloud(self):
        # The directory of a ZIP archive is at its end, and is whole.
        with open(self.path, 'r+b') as file:
            file.seek(os.path.getsize(self.path) // 3)
            file.write(b'damaged')
        self.refused_before_a_former_cloud_is_deleted(snapshot_file.Damaged)

    def test_a_profile_that_is_unknown_does_not_delete_a_former_cloud(self):
        with open(self.profile, 'w') as file:
            file.write('extends: instant\nof_another_release: 1\n')
        os.unlink(self.path)
        snapshots.save(self.places, saved_states.SavedStates(self.places), self.path)
        error = self.refused_before_a_former_cloud_is_deleted(snapshots.UnknownProfile)
        self.assertIn('of_another_release', str(error))

    def refused_before_a_former_cloud_is_deleted(self, refusal):
        self.useFixture(fixtures.EnvironmentVariable('no_proxy'))
        self.useFixture(fixtures.EnvironmentVariable('NO_PROXY'))
        self.places.release()
        given = snapshots.settings_of(snapshots.read(self.path), self.places.root, {})
        before = os.listdir(self.places.path('db', ''))
        error = self.assertRaises(
            refusal, foreground.run, layout.Settings(**given), fresh=True, snapshot=self.path
        )
        self.assertIn(self.path, str(error))
        self.assertEqual(before, os.listdir(self.places.path('db', '')))
        return error

    def test_a_snapshot_of_another_release(self):
        schemas = {**self.manifest.schemas, 'cell': 'abc'}
        other = snapshot_file.Manifest(
            release='0.9', schemas=schemas, taken_at=1.0, settings=self.manifest.settings, files={}
        )
        snapshot_file.write(self.path, other, {})
        error = self.assertRaises(snapshots.OtherSchemas, snapshots.read, self.path)
        self.assertIn('nova-lite 0.9 with another version of cell: abc', str(error))

    def test_a_damaged_one_starts_no_cloud(self):
        """A later start without it finds no whole state, either."""
        files = {name: self.places.path(name) for name in snapshots.KEPT}
        snapshot_file.write(self.path, self.manifest, files)
        places = self.layout('second')
        places.prepare()
        error = self.assertRaises(snapshot_file.Damaged, snapshots.extract, self.path, places)
        self.assertIn('it lacks api.sqlite', str(error))
        error = self.assertRaises(saved_states.NotRepeated, saved_states.SavedStates(places).finish)
        self.assertIn('no saved state fresh', str(error))

    def test_a_profile_that_is_gone(self):
        os.unlink(self.profile)
        states = saved_states.SavedStates(self.places)
        error = self.assertRaises(
            snapshots.NotWritten, snapshots.save, self.places, states, self.path
        )
        self.assertEqual(1, str(error).count('my.yaml'))
        self.assertEqual(self.manifest, snapshots.read(self.path))


class CopiesTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.directory = self.useFixture(fixtures.TempDir())
        self.paths = [self.directory.join(name) for name in ('a', 'b')]
        for path in self.paths:
            with copies.opened(path, 'rwc') as connection:
                connection.execute('PRAGMA journal_mode = WAL')
                connection.execute('CREATE TABLE told (value)')

    def files(self):
        return {path: f'{path}-copy' for path in self.paths}

    def test_nobody_writes_meanwhile(self):
        def write():
            with copies.opened(self.paths[0], busy_s=0) as connection:
                connection.execute('INSERT INTO told VALUES (1)')

        copies.copy_all(
            self.files(), noted=lambda: self.assertRaises(sqlite3.OperationalError, write)
        )
        write()

    def test_it_waits_for_who_writes(self):
        self.useFixture(fixtures.MonkeyPatch('nova_lite.launcher.copies.QUIET_S', 0.01))
        self.useFixture(fixtures.MonkeyPatch('nova_lite.launcher.copies.HELD_UP_S', 0.0))
        with copies.opened(self.paths[1]) as writer:
            writer.execute('BEGIN IMMEDIATE')
            self.assertRaises(copies.NotQuiet, copies.copy_all, self.files())
        copies.copy_all(self.files())
        self.assertTrue(all(os.path.exists(path) for path in self.files().values()))
