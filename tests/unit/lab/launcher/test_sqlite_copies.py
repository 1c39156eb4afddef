"""Copies of files that a running cloud uses."""

import os
import sqlite3

import fixtures
import testtools

from nova_lite.lab.launcher import sqlite_copies


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
