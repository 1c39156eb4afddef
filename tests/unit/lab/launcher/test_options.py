"""Options of `nova-lite up`: those of a snapshot, and servers of others."""

import argparse
import shlex

import fixtures
import testtools

from nova_lite.cmd import up
from nova_lite.lab.launcher import cloud_snapshots
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import options
from nova_lite.lab.launcher import snapshot_file

BUS, DATABASE = 'rabbit://u:secret@broker:5672/{cell}', 'mysql+pymysql://u:secret@db:3306'


class WordsTest(testtools.TestCase):
    def settings(self, words):
        parser = argparse.ArgumentParser()
        up.add_arguments(parser)
        found, _snapshot = options.read(parser.parse_args(['--state-dir', '/x', *words]))
        return found

    def test_options_of_settings(self):
        """They make the same settings again."""
        for words in (
            [],
            ['--cells', '1', '--hosts', '7', '--auth', 'noauth', '--speed', '2.5'],
            ['--cells', '2', '--hosts', '7,1'],
            ['--profile', "/an odd/pro'file.yaml", '--set', 'api.max_limit=7', '--debug'],
            ['--failures', 'nova'],
            ['--listen', '127.0.0.2', '--port', '8775', '--lab', '--tuned-placement'],
        ):
            found = self.settings(words)
            text = f'{options.words(vars(found))} {options.own_words(found)}'
            again = self.settings(shlex.split(text))
            self.assertEqual(found, again, text)
        self.assertEqual('', options.words(vars(self.settings([]))))
        self.assertEqual('--cells 2', options.words(vars(self.settings([])), always=('cells',)))

    def test_failures(self):
        """The option is one of the super-conductor, and has its values."""
        found = self.settings(['--failures', 'nova'])
        self.assertEqual({'conductor': {'failures': 'nova'}}, found.options)
        for words in (['--failures', 'heat'], ['--set', 'conductor.failures=heat']):
            self.assertRaises((SystemExit, ValueError), self.settings, words)

    def test_the_profile_of_a_snapshot(self):
        values = {**vars(self.settings([])), 'profile': None}
        self.assertEqual('--profile etc/profile.yaml', options.words(values))


class SnapshotTest(testtools.TestCase):
    def test_an_option_that_does_not_fit(self):
        """The message names the snapshot, or the option of the command."""
        path = self.useFixture(fixtures.TempDir()).join('a.snapshot')
        taken = layout.Settings(state_dir='', options={'api': {'of_another_release': '1'}})
        manifest = snapshot_file.Manifest(
            release='9.0',
            schemas=cloud_snapshots.schemas(),
            taken_at=0.0,
            settings={name: getattr(taken, name) for name in snapshot_file.SETTINGS},
            files={},
        )
        snapshot_file.write(path, manifest, {})
        parser = argparse.ArgumentParser()
        up.add_arguments(parser)
        for words, text in (
            ([], f'--from: the snapshot {path} was made by nova-lite 9.0 with an option that'),
            (['--set', 'api.mine=1'], '--set api.mine: group api has no option mine'),
        ):
            args = parser.parse_args(['--from', path, *words])
            self.assertTrue(str(self.assertRaises(ValueError, options.read, args)).startswith(text))


class ServersTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.directory = self.useFixture(fixtures.TempDir())

    def read(self, *words):
        parser = argparse.ArgumentParser()
        up.add_arguments(parser)
        settings, _snapshot = options.read(
            parser.parse_args([*words, '--state-dir', self.directory.path])
        )
        return settings.bus, settings.database

    def file(self, text):
        path = self.directory.join('urls')
        with open(path, 'w') as file:
            file.write(text)
        return path

    def test_files(self):
        self.assertEqual(((), None), self.read())
        given = self.read('--bus', BUS, '--db', DATABASE)
        database = self.file(f'# mine\n\n {DATABASE}\n')
        self.assertEqual(given[1], self.read('--db-file', database)[1])
        bus = self.file(f'{BUS}\n')
        self.assertEqual(given[0], self.read('--bus-file', bus)[0])
        top = ('rabbit://top', 'rabbit://one', 'rabbit://two')
        self.assertEqual(top, self.read('--bus-file', self.file('\n'.join(top)))[0])

    def test_what_is_refused(self):
        for option, given in (('--bus-file', ['--bus', BUS]), ('--db-file', ['--db', DATABASE])):
            refused = self.assertRaises(ValueError, self.read, option, '/no/such')
            self.assertIn('/no/such', str(refused))
            for text in ('', '# none\n'):
                self.assertRaises(ValueError, self.read, option, self.file(text))
            self.assertRaises(ValueError, self.read, option, self.file(BUS), *given)
        self.assertRaises(ValueError, self.read, '--db-file', self.file('a\nb\n'))
