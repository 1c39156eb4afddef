"""Servers of others that `nova-lite up` uses, from options and files."""

import argparse

import fixtures
import testtools

from nova_lite.cmd import up
from nova_lite.lab.launcher import options

BUS, DATABASE = 'rabbit://u:secret@broker:5672/{cell}', 'mysql+pymysql://u:secret@db:3306'


class ServersTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.directory = self.useFixture(fixtures.TempDir())

    def read(self, *words):
        parser = argparse.ArgumentParser()
        up.add_arguments(parser)
        settings, _snapshot = options.read(parser.parse_args(words))
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
