"""The next start of a cloud keeps its cells, hosts and databases, or is refused."""

import argparse
import os

import fixtures
import testtools

from nova_lite import exception
from nova_lite.cmd import up
from nova_lite.lab.launcher import kept_files
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import options
from nova_lite.lab.launcher import shape

SERVER, OTHER = 'mysql+pymysql://u:secret@db:3306', 'postgresql+psycopg://u:secret@db'


class ShapeTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.directory = self.useFixture(fixtures.TempDir()).path

    def read(self, *words):
        parser = argparse.ArgumentParser()
        up.add_arguments(parser)
        settings, _snapshot = options.read(
            parser.parse_args([*words, '--state-dir', self.directory])
        )
        return settings

    def start(self, *words):
        shape.write(layout.Layout(self.read(*words)))

    def refused(self, *words):
        error = str(self.assertRaises(shape.OtherShape, self.read, *words))
        for text in (os.path.join(self.directory, shape.FILE), '--fresh', '--state-dir'):
            self.assertIn(text, error)
        self.assertNotIn('secret', error)
        return error

    def test_cells_and_hosts(self):
        self.assertEqual((2, 3), counts(self.read()))
        self.start('--cells', '3', '--hosts', '10')
        self.assertEqual((3, 10), counts(self.read()))
        self.assertEqual((4, 11), counts(self.read('--cells', '4', '--hosts', '11')))
        self.assertIn('cells=3', self.refused('--cells', '2'))
        self.assertIn('Omit --hosts', self.refused('--cells', '4', '--hosts', '9'))
        self.assertEqual((1, 3), counts(self.read('--cells', '1', '--fresh')))

    def test_hosts_of_each_cell(self):
        self.start('--hosts', '3,5')
        self.assertEqual((2, (3, 5)), counts(self.read()))
        self.assertEqual((2, (4, 5)), counts(self.read('--hosts', '4,5')))
        self.assertEqual((3, (3, 5, 1)), counts(self.read('--cells', '3', '--hosts', '3,5,1')))
        self.assertEqual((2, 5), counts(self.read('--hosts', '5')))
        self.assertIn('hosts=3,5', self.refused('--hosts', '3'))
        self.assertIn('not 5,3', self.refused('--hosts', '5,3'))
        self.assertIn('cells=2', self.refused('--cells', '1'))
        for words in (('--cells', '3'), ('--hosts', '3,5,1')):
            error = self.assertRaises(ValueError, self.read, *words)
            self.assertIn('give one for each cell', str(error))

    def test_databases(self):
        self.start()
        self.assertIn('Omit --db', self.refused('--db', SERVER))
        self.start('--db', SERVER, '--fresh')
        self.assertIn('Use --db or --db-file with mysql://db:3306', self.refused())
        self.refused('--db', OTHER)
        self.assertEqual(SERVER, self.read('--db', SERVER).database)

    def test_a_spoiled_file(self):
        for text in ('', '{', '[]', '{"databases": "x"}', '{"databases": "x", "cells": "2"}'):
            with open(os.path.join(self.directory, shape.FILE), 'w') as file:
                file.write(text)
            error = self.assertRaises(kept_files.Spoiled, self.read)
            self.assertIsInstance(error, exception.NovaLiteError)
            self.assertIn('--fresh', str(error))


def counts(settings):
    return settings.cells, settings.hosts
