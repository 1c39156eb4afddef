"""Snapshots of a cloud in its own state directory, whatever the process is killed in."""

import contextlib
import dataclasses
import os
import resource
import shutil
import sqlite3
import stat

import fixtures
import testtools

from nova_lite import runtime
from nova_lite.lab.launcher import cloud_snapshots
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import snapshot_file
from nova_lite.lab.launcher import sqlite_copies
from nova_lite.lab.launcher import state_files
from nova_lite.lab.launcher import stored_times
from tests.fixtures import clock

TIMES = {**stored_times.CELL, **stored_times.API}
OTHERS = {'instances': ('system_metadata',), 'sagas': ('data', 'owner', 'lease_until')}
TABLES = (
    *(
        f'CREATE TABLE IF NOT EXISTS {table} ({", ".join((*columns, *OTHERS.get(table, ())))})'
        for table, columns in TIMES.items()
    ),
    'CREATE TABLE IF NOT EXISTS told (value)',
    'CREATE TABLE IF NOT EXISTS clock (boot_id, ahead, instant, wall)',
    'CREATE TABLE IF NOT EXISTS cell_mappings (name, transport_url, database_connection)',
)
HOUR_S = 3600.0


class CloudCase(testtools.TestCase):
    """The files of a cloud with one cell, whose databases each hold a value."""

    def setUp(self):
        super().setUp()
        self.directory = self.useFixture(fixtures.TempDir())
        self.time = self.enterContext(runtime.install(clock.ManualRuntime()))
        self.profile = self.directory.join('my.yaml')
        with open(self.profile, 'w') as file:
            file.write('extends: instant\n')
        # Also where the path has what an URL or a pattern would read.
        self.places = self.layout('[a]?#%20 b', profile=self.profile)
        self.places.prepare()
        self.snapshots = cloud_snapshots.Snapshots(self.places)
        self.tell('first')

    def layout(self, name, **settings):
        """The Layout of a cloud, which is let go at the end."""
        directory = self.directory.join(name)
        found = layout.Layout(
            layout.Settings(state_dir=directory, **{'cells': 1, 'hosts': 1, **settings})
        )
        self.addCleanup(found.release)
        return found

    def tell(self, value, places=None):
        """Give all databases of a cloud a value."""
        for path in cloud_snapshots.Snapshots(places or self.places).files().values():
            with sqlite_copies.opened(path, 'rwc') as connection:
                for statement in TABLES:
                    connection.execute(statement)
                connection.execute('DELETE FROM told')
                connection.execute('INSERT INTO told VALUES (?)', (value,))

    def told(self, places=None):
        """The values that the databases of a cloud have."""
        return {value for (value,) in self.rows('SELECT value FROM told', places)}

    def rows(self, statement, places=None, names=None):
        found = []
        files = cloud_snapshots.Snapshots(places or self.places).files()
        for name in names or files:
            with sqlite_copies.opened(files[name]) as connection:
                found += connection.execute(statement).fetchall()
        return found


class SnapshotsTest(CloudCase):
    def setUp(self):
        super().setUp()
        self.save('kept')

    def save(self, name):
        return self.snapshots.take(self.snapshots.path(name))

    def restore(self, name):
        with self.snapshots.restoring(name) as restore:
            restore()

    def entries(self):
        return sorted(os.listdir(self.places.path('saved', '')))

    def rewrite(self, name, *, files=None, **changes):
        """Write a saved state again, with other values in its manifest or other files."""
        path = self.snapshots.path(name)
        snapshot = cloud_snapshots.read(path)
        names = snapshot.manifest.files
        with self.snapshots.unpacked(snapshot) as draft:
            paths = {each: os.path.join(draft, each) for each in names} | (files or {})
            kept = {each: found for each, found in paths.items() if found is not None}
            snapshot_file.write(path, dataclasses.replace(snapshot.manifest, **changes), kept)

    def test_a_restore(self):
        self.tell('second')
        self.save('other')
        self.restore('kept')
        self.assertEqual({'first'}, self.told())
        self.assertEqual(['kept', 'other'], self.snapshots.names())
        self.restore('other')
        self.assertEqual({'second'}, self.told())
        self.assertEqual(['kept.snapshot', 'other.snapshot'], self.entries())
        self.assertFalse(os.path.exists(self.places.path(cloud_snapshots.RESTORING)))
        self.assertFalse(os.path.exists(self.places.path(cloud_snapshots.DRAFT)))

    def test_the_file(self):
        """Only its owner can read it."""
        path = self.snapshots.path('kept')
        self.assertEqual(0o600, stat.S_IMODE(os.stat(path).st_mode))

    def test_what_is_restored(self):
        """All rows, but for the places of the cloud, its leases and the time that has passed."""
        with sqlite_copies.opened(self.snapshots.files()['api.sqlite']) as connection:
            connection.execute(
                "INSERT INTO cell_mappings VALUES ('cell1', 'x', 'y'), ('z', '', '')"
            )
            connection.execute("INSERT INTO sagas (owner, lease_until) VALUES ('a', 'b')")
        with sqlite_copies.opened(self.snapshots.files()['guests-cell1.sqlite']) as connection:
            connection.execute("INSERT INTO clock VALUES ('this', 1, 2, 3)")
        self.save('full')
        self.tell('second')
        self.time.advance(HOUR_S)
        self.restore('full')
        urls = self.places.cell_urls('cell1')
        self.assertEqual(
            [
                ('cell1', urls['transport_url'], urls['database_connection']),
                ('z', '', ''),
            ],
            self.rows('SELECT * FROM cell_mappings', names=['api.sqlite']),
        )
        self.assertEqual(
            [(None, None)], self.rows('SELECT owner, lease_until FROM sagas', names=['api.sqlite'])
        )
        self.assertEqual(
            [('', 1, 2, 3 + HOUR_S)],
            self.rows('SELECT * FROM clock', names=['guests-cell1.sqlite']),
        )

    def test_the_record_of_a_drill(self):
        """It belongs to the state, with the changes of the drill."""
        path = self.places.path(state_files.DRILL)
        layout.write(path, '{"scenario": "a"}')
        self.save('within')
        self.restore('kept')
        self.assertFalse(os.path.exists(path))
        self.restore('within')
        with open(path) as file:
            self.assertEqual('{"scenario": "a"}', file.read())
        self.assertEqual(0o600, stat.S_IMODE(os.stat(path).st_mode))
        # The next snapshot has the record of that time.
        layout.write(path, '{"scenario": "b"}')
        self.save('within')
        os.unlink(path)
        self.restore('within')
        with open(path) as file:
            self.assertEqual('{"scenario": "b"}', file.read())

    def test_what_a_restore_leaves(self):
        """The files that its operator may change, such as policies."""
        policy = self.places.path('etc', 'policy.yaml')
        with open(policy, 'a') as file:
            file.write('# mine\n')
        self.restore('kept')
        with open(policy) as file:
            self.assertIn('# mine', file.read())

    def test_a_state_of_another_cloud(self):
        """With the file of a cloud with the same settings, such as one that continues with it."""
        other = self.layout('other', profile='instant')
        other.prepare()
        self.tell('other', other)
        shutil.copy(self.snapshots.path('kept'), cloud_snapshots.Snapshots(other).path('kept'))
        error = self.assertRaises(
            cloud_snapshots.OtherCloud, cloud_snapshots.Snapshots(other).find, 'kept'
        )
        self.assertIn('other passwords. Restore another', str(error))
        self.assertIn('kept.snapshot with `nova-lite up --from`', str(error))
        shutil.copy(self.places.path(layout.SECRETS), other.path(layout.SECRETS))
        with cloud_snapshots.Snapshots(other).restoring('kept') as restore:
            restore()
        self.assertEqual({'first'}, self.told(other))

    def test_a_state_of_another_size(self):
        settings = {
            **cloud_snapshots.read(self.snapshots.path('kept')).manifest.settings,
            'hosts': 9,
        }
        self.rewrite('kept', settings=settings)
        error = self.assertRaises(cloud_snapshots.OtherCloud, self.snapshots.find, 'kept')
        self.assertIn('other hosts: 9, not 1.', str(error))

    def test_a_state_of_a_release_with_other_tables(self):
        schemas = {**cloud_snapshots.schemas(), 'simcloud': 'other'}
        self.rewrite('kept', schemas=schemas, release='0.9')
        error = self.assertRaises(cloud_snapshots.OtherSchemas, self.snapshots.find, 'kept')
        self.assertIn('nova-lite 0.9 with another version of simcloud: other', str(error))

    def test_nothing_changes_for_one_that_cannot_be_restored(self):
        """A file is missing, has no tables, or is not written on a full disk."""
        empty = self.directory.join('empty.sqlite')
        with contextlib.closing(sqlite3.connect(empty)) as connection:
            connection.execute('VACUUM')
        self.tell('second')
        for files, text in (
            ({'cell1.sqlite': None}, 'it lacks cell1.sqlite'),
            ({'api.sqlite': empty}, 'no such table'),
            ({'api.sqlite': self.profile}, 'not a database'),
        ):
            self.save('damaged')
            self.rewrite('damaged', files=files)
            self.assertIn(text, self.refused('damaged', snapshot_file.Damaged))
        former = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1024, former[1]))
        try:
            self.assertIn('File too large', self.refused('kept', snapshot_file.NotUnpacked))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, former)

    def refused(self, name, refusal):
        error = self.assertRaises(refusal, self.restore, name)
        self.assertEqual({'second'}, self.told())
        self.assertFalse(os.path.exists(self.places.path(cloud_snapshots.RESTORING)))
        self.assertFalse(os.path.exists(self.places.path(cloud_snapshots.DRAFT)))
        return str(error)

    def test_killed_while_a_state_is_written(self):
        for path in (
            self.places.path(cloud_snapshots.DRAFT, 'api.sqlite'),
            self.places.path('saved', f'kept.snapshot.x{snapshot_file.UNFINISHED}'),
        ):
            with open(path, 'w'):
                pass
        self.snapshots.finish()
        self.assertEqual(['kept.snapshot'], self.entries())
        self.assertFalse(os.path.exists(self.places.path(cloud_snapshots.DRAFT)))

    def test_a_restore_that_this_cloud_cannot_repeat(self):
        self.snapshots.mark('kept')
        self.tell('second')
        larger = layout.Layout(layout.Settings(state_dir=self.places.root, cells=2, hosts=1))
        error = self.assertRaises(
            cloud_snapshots.NotRepeated, cloud_snapshots.Snapshots(larger).finish
        )
        self.assertIn('other cells: 1, not 2', str(error))
        self.assertEqual({'second'}, self.told())
        self.snapshots.finish()
        self.assertEqual({'first'}, self.told())
        self.assertFalse(os.path.exists(self.places.path(cloud_snapshots.RESTORING)))

    def test_an_interrupted_restore_of_a_damaged_state(self):
        """The error names the file that chooses another state."""
        with sqlite_copies.opened(self.snapshots.files()['cell1.sqlite']) as connection:
            connection.execute('DROP TABLE migrations')
        self.save('damaged')
        self.assertRaises(cloud_snapshots.NotRestored, self.restore, 'damaged')
        error = self.assertRaises(cloud_snapshots.NotRepeated, self.snapshots.finish)
        marker = self.places.path(cloud_snapshots.RESTORING)
        self.assertIn(f'Write the name of another state to {marker}, or', str(error))
        with open(marker, 'w') as file:
            file.write('kept\n')
        self.snapshots.finish()
        self.assertEqual({'first'}, self.told())
        self.assertFalse(os.path.exists(marker))

    def test_a_save_that_fails(self):
        path = self.snapshots.files()['guests-cell1.sqlite']
        os.unlink(path)
        error = self.assertRaises(cloud_snapshots.NotWritten, self.save, 'kept')
        self.assertIn('could not be written: unable to open database file. Correct', str(error))
        self.assertFalse(os.path.exists(path))
        self.snapshots.find('kept')

    def test_a_profile_that_is_gone(self):
        os.unlink(self.profile)
        error = self.assertRaises(cloud_snapshots.NotWritten, self.save, 'kept')
        self.assertEqual(1, str(error).count('my.yaml'))
        self.snapshots.find('kept')
