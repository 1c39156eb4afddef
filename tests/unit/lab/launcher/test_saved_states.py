"""Saved states as files: they are whole, whatever the process is killed in."""

import contextlib
import json
import os
import sqlite3

import fixtures
import testtools

from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import saved_states
from nova_lite.lab.launcher import sqlite_copies
from nova_lite.lab.launcher import stored_times

TIMES = {**stored_times.CELL, **stored_times.API}
OTHERS = {'instances': ('system_metadata',), 'sagas': ('data', 'owner', 'lease_until')}
TABLES = (
    *(
        f'CREATE TABLE IF NOT EXISTS {table} ({", ".join((*columns, *OTHERS.get(table, ())))})'
        for table, columns in TIMES.items()
    ),
    'CREATE TABLE IF NOT EXISTS told (value)',
    'CREATE TABLE IF NOT EXISTS clock (boot_id, ahead, wall)',
    'CREATE TABLE IF NOT EXISTS cell_mappings (name, transport_url, database_connection)',
)


class SavedStatesTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        # Also where the path has what an URL or a pattern would read.
        directory = self.useFixture(fixtures.TempDir()).join('[a]?#%20 b')
        self.places = layout.Layout(layout.Settings(state_dir=directory, cells=1, hosts=1))
        self.states = saved_states.SavedStates(self.places)
        self.files = [self.places.path('db', f'{name}.sqlite') for name in self.names()]
        self.files.append(self.places.guests_path('cell1'))
        self.tell('first')
        self.states.save('kept')

    def names(self):
        return layout.API, layout.CELL0, 'cell1', layout.PLACEMENT, layout.SIMCLOUD

    def tell(self, value):
        """Give all databases of the cloud a value."""
        for path in self.files:
            with contextlib.closing(sqlite3.connect(path)) as connection, connection:
                for statement in TABLES:
                    connection.execute(statement)
                connection.execute('DELETE FROM told')
                connection.execute('INSERT INTO told VALUES (?)', (value,))

    def told(self):
        """The values that the databases have."""
        found = set()
        for path in self.files:
            with contextlib.closing(sqlite3.connect(path)) as connection:
                found |= {value for (value,) in connection.execute('SELECT value FROM told')}
        return found

    def saved(self, *names):
        return os.path.join(self.places.root, 'saved', *names)

    def test_a_restore(self):
        self.tell('second')
        self.states.save('other')
        self.states.restore('kept')
        self.assertEqual({'first'}, self.told())
        self.assertEqual(['kept', 'other'], self.states.names())

    def test_a_state_that_lacks_a_file(self):
        for name in ('cell1.sqlite', saved_states.FACTS):
            os.unlink(self.saved('kept', name))
            error = self.assertRaises(saved_states.NotWhole, self.states.check, 'kept')
            self.assertIn(f'lacks {name}, so', str(error))
            self.states.save('kept')

    def test_killed_while_a_state_is_replaced(self):
        """Before the draft takes the place of the former state, and after it."""
        for entries in (('.kept.old', '.kept.new'), ('.kept.old', 'kept')):
            self.tell('first')
            self.states.save('kept')
            os.rename(self.saved('kept'), self.saved(entries[0]))
            self.tell('second')
            self.states.save('draft')
            os.rename(self.saved('draft'), self.saved(entries[1]))
            self.states.finish()
            self.assertEqual(['kept'], os.listdir(self.saved()))
            self.states.check('kept')
            self.states.restore('kept')
            self.assertEqual({'second' if 'kept' in entries else 'first'}, self.told())

    def test_a_restore_that_this_cloud_cannot_repeat(self):
        layout.write(self.places.path(saved_states.RESTORING), 'kept')
        self.tell('second')
        larger = layout.Layout(layout.Settings(state_dir=self.places.root, cells=2, hosts=1))
        states = saved_states.SavedStates(larger)
        error = self.assertRaises(saved_states.NotRepeated, states.finish)
        self.assertIn('other cells: 1, not 2', str(error))
        self.assertEqual({'second'}, self.told())
        self.states.finish()
        self.assertEqual({'first'}, self.told())
        self.assertFalse(os.path.exists(self.places.path(saved_states.RESTORING)))

    def test_an_interrupted_restore_of_a_damaged_state(self):
        """The error names the file that chooses another state."""
        self.states.save('damaged')
        sqlite_copies.execute(self.saved('damaged', 'api.sqlite'), 'DROP TABLE sagas')
        self.assertRaises(saved_states.NotRestored, self.states.restore, 'damaged')
        error = self.assertRaises(saved_states.NotRepeated, self.states.finish)
        marker = self.places.path(saved_states.RESTORING)
        self.assertIn(f'Write the name of another state to {marker}, or', str(error))
        with open(marker, 'w') as file:
            file.write('kept\n')
        self.states.finish()
        self.assertEqual({'first'}, self.told())
        self.assertFalse(os.path.exists(marker))

    def test_a_state_of_a_release_with_other_tables(self):
        """Without the tables that services have now, or before their versions were recorded."""
        path = self.saved('kept', saved_states.FACTS)
        with open(path) as file:
            facts = json.load(file)
        versions = facts['cloud']['schemas']
        for former in ([versions['api'], versions['cell']], {**versions, 'simcloud': 'other'}):
            facts['cloud']['schemas'] = former
            layout.write(path, json.dumps(facts))
            error = self.assertRaises(saved_states.OtherCloud, self.states.check, 'kept')
            self.assertIn('other schemas', str(error))
            self.assertIn('up --fresh', str(error))

    def test_a_save_that_fails(self):
        os.unlink(self.files[-1])
        error = self.assertRaises(saved_states.NotSaved, self.states.save, 'kept')
        text = 'The state kept could not be saved: unable to open database file. Correct that'
        self.assertIn(text, str(error))
        self.states.check('kept')
        self.assertFalse(os.path.exists(self.files[-1]))
