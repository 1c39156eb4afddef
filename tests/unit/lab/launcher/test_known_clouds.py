"""Clouds that are found without a state directory, and what may be deleted."""

import json
import operator
import os

import fixtures
import testtools

from nova_lite.lab.launcher import known_clouds
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import state_dir
from tests.fixtures import commands

SHOWN = ('name', 'port', 'current')


class KnownCloudsTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.base = self.useFixture(fixtures.TempDir()).path
        self.useFixture(fixtures.EnvironmentVariable('XDG_STATE_HOME', self.base))
        self.useFixture(fixtures.EnvironmentVariable(state_dir.VARIABLE, None))

    def make(self, directory, *, connection='sqlite:///x'):
        """Make what `up` leaves in a state directory; return its Layout, which holds the lock."""
        places = layout.Layout(layout.Settings(state_dir=directory))
        self.addCleanup(places.release)
        places.prepare()
        places.write_config('control', {'api_database': {'connection': connection}})
        return places

    def listed(self):
        code, printed, errors = commands.run('list', '--json')
        self.assertEqual((0, ''), (code, errors))
        return json.loads(printed)

    def stop(self, directory, *, code=0):
        """Return what `stop --delete` prints."""
        found, printed, errors = commands.run('stop', '--state-dir', directory, '--delete')
        self.assertEqual(code, found, printed + errors)
        return printed + errors

    def test_list(self):
        self.assertEqual([], self.listed())
        for name in ('b', 'a'):
            self.make(state_dir.named(name)).release()
        os.mkdir(state_dir.named('no-cloud'))
        self.make(state_dir.default())
        self.assertEqual(
            [('(default)', 'starting or stopping'), ('a', 'not running'), ('b', 'not running')],
            [(each['name'], each['state']) for each in self.listed()],
        )
        _code, printed, _errors = commands.run('list')
        self.assertIn(state_dir.named('a'), printed)

    def test_clouds_without_a_name(self):
        """The clouds that `up` recorded, the current one among them, are listed until they go."""
        directory = os.path.join(self.base, 'elsewhere')
        places = self.make(directory)
        conf = {'api': {'port': 12345}, 'api_database': {'connection': 'sqlite:///x'}}
        places.write_config('control', conf)
        for path in (directory, state_dir.unnamed(), state_dir.named('a'), self.base):
            known_clouds.record(path)
        found = {each['state_dir']: each for each in self.listed()}
        self.assertEqual([directory], [*found])
        self.assertEqual(('', 12345, False), operator.itemgetter(*SHOWN)(found[directory]))
        self.useFixture(fixtures.EnvironmentVariable(state_dir.VARIABLE, directory))
        self.assertEqual(('', 12345, True), operator.itemgetter(*SHOWN)(self.listed()[0]))
        self.useFixture(fixtures.EnvironmentVariable(state_dir.VARIABLE, None))
        places.release()
        self.stop(directory)
        self.assertEqual([], self.listed())

    def test_delete(self):
        directory = state_dir.named('a')
        self.make(directory).release()
        self.assertEqual(
            f'No cloud runs in {directory}\nDeleted {directory}\n',
            self.stop(directory),
        )
        self.assertFalse(os.path.exists(directory))
        self.assertEqual(f'No cloud runs in {directory}\n', self.stop(directory))

    def test_what_is_no_cloud(self):
        path = os.path.join(self.base, 'file')
        with open(path, 'w') as file:
            file.write('kept')
        self.assertIn('secrets.json does not exist', self.stop(self.base, code=2))
        self.assertTrue(os.path.exists(path))

    def test_a_directory_with_other_files_of_these_names(self):
        for name in ('secrets.json', 'lock'):
            with open(os.path.join(self.base, name), 'w') as file:
                file.write('kept')
        self.assertIn('metadata-secret does not exist', self.stop(self.base, code=2))
        self.assertTrue(os.path.exists(os.path.join(self.base, 'secrets.json')))

    def test_the_working_directory(self):
        directory = state_dir.named('a')
        self.make(directory).release()
        inner = os.path.join(directory, 'etc')
        self.addCleanup(os.chdir, os.getcwd())
        for current in (directory, inner):
            os.chdir(current)
            self.assertIn('Change to another one', self.stop(directory, code=2))
        self.assertTrue(os.path.exists(inner))

    def test_databases_on_a_server(self):
        directory = state_dir.named('a')
        self.make(directory, connection='mysql+pymysql://u:p@h/x').release()
        self.assertIn('on a server', self.stop(directory, code=2))
        self.assertTrue(os.path.exists(directory))
        # The lock was released.
        self.assertEqual('not running', self.listed()[0]['state'])
