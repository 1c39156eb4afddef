"""Damaged files of a stopped cloud: commands name the file, the cause and a way out.

Each file is absent, empty, truncated, of a newer release, or cannot be read (a directory is in its
place: the tests may run as root). A start that would make a file anew that belongs to others is
refused, and changes no database and no password.
"""

import contextlib
import hashlib
import os
import pathlib
import shutil
import sqlite3

import fixtures
import testtools

from nova_lite.lab.launcher import running
from tests.fixtures import commands
from tools import sample

RUN_S, STOP_S = 300, 60
CLOUD = """
cells: [{hosts: 1}]
profile: instant
users: [{name: rosa, projects: {demo: [member]}}]
clock: {ahead: 1d}
"""
ABSENT, EMPTY, TRUNCATED, NEWER, UNREADABLE = range(5)
ALL = (ABSENT, EMPTY, TRUNCATED, UNREADABLE)
CAUSES = {
    ABSENT: ('it is missing',),
    EMPTY: ('it is empty',),
    TRUNCATED: ('it is not JSON', ' bytes'),
    NEWER: ('which this release does not know',),
    UNREADABLE: ('Is a directory',),
}
WAYS_OUT = ('--fresh', 'Use the release')
# {file: the damages with which a start is refused}
START = {
    'secrets.json': ALL,
    'shape.json': ALL,
    'described.json': (EMPTY, TRUNCATED, UNREADABLE),
    'users.json': (EMPTY, TRUNCATED, UNREADABLE),
    'clock.json': (EMPTY, TRUNCATED, UNREADABLE),
    'metadata-secret': (EMPTY, UNREADABLE),
    'db/api.sqlite': (*ALL, NEWER),
    'db/cell0.sqlite': (*ALL, NEWER),
    'db/cell1.sqlite': (*ALL, NEWER),
    'db/placement.sqlite': ALL,
    'db/simcloud.sqlite': ALL,
    'guests/cell1/guests.sqlite': ALL,
}
AGAIN = '`nova-lite up --state-dir '
# Rows of (command, file, damages, cause or None, way out). The next start writes these files again.
READERS = (
    ('env', 'clouds.yaml', (ABSENT,), 'does not exist', AGAIN),
    ('env', 'clouds.yaml', (EMPTY,), 'it has no clouds', AGAIN),
    ('env', 'clouds.yaml', (TRUNCATED,), 'it ', AGAIN),
    ('env', 'clouds.yaml', (UNREADABLE,), 'Is a directory', AGAIN),
    ('saga list', 'etc/control.conf', (ABSENT,), 'does not exist', AGAIN),
    ('saga list', 'etc/control.conf', (EMPTY,), 'it has no [api_database]connection', AGAIN),
    ('saga list', 'etc/control.conf', (UNREADABLE,), 'Is a directory', AGAIN),
    ('saga list', 'clock.json', (EMPTY, TRUNCATED, UNREADABLE), 'clock.json', '--fresh'),
)
# They work whatever has happened to the clock.
TIMELESS = ('stop', 'env', 'logs -n 1')


@sample.in_turns(4)
class DamagedFilesTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        top = self.useFixture(fixtures.TempDir())
        self.useFixture(fixtures.EnvironmentVariable('XDG_STATE_HOME', top.join('state')))
        self.whole, self.copy = pathlib.Path(top.join('whole')), pathlib.Path(top.join('copy'))
        path = pathlib.Path(top.join('cloud.yaml'))
        path.write_text(CLOUD)
        self.start(0, self.whole, '-f', str(path))
        running.stop(str(self.whole), STOP_S)

    def start(self, expected, directory, *words):
        """Start a cloud; return what is printed about an error."""
        self.addCleanup(running.stop, str(directory), STOP_S)
        argv = ('up', '--detach', '--port', '0', '--state-dir', str(directory), *words)
        code, out, errors = commands.forked(argv, timeout_s=RUN_S)
        self.assertEqual(expected, code, f'{directory}: {out}{errors}')
        return errors

    def damage(self, name, how):
        """Make a copy of the cloud whose file is damaged."""
        shutil.rmtree(self.copy, ignore_errors=True)
        shutil.copytree(self.whole, self.copy)
        path = self.copy / name
        if how == EMPTY:
            path.write_bytes(b'')
        elif how == TRUNCATED:
            content = path.read_bytes()
            path.write_bytes(content[: len(content) // 2])
        elif how == NEWER:
            with contextlib.closing(sqlite3.connect(path)) as connection, connection:
                connection.execute("UPDATE alembic_version SET version_num = 'ffff99999999'")
        else:
            path.unlink()
            if how == UNREADABLE:
                path.mkdir()
        return path

    def kept(self):
        """Return {path: digest} of the files that a refused start may not change."""
        found = [*self.copy.glob('db/*.sqlite'), *self.copy.glob('guests/*/*.sqlite')]
        found += [self.copy / name for name in ('secrets.json', 'users.json', 'metadata-secret')]
        found = [path for path in found if path.is_file()]
        return {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in found}

    def test_starts(self):
        for name, damages in START.items():
            for how in damages:
                path = self.damage(name, how)
                before = self.kept()
                errors = self.start(2, self.copy)
                told = f'{name}, {CAUSES[how]}: {errors}'
                self.assertIn(str(path), errors, told)
                self.assertTrue(any(cause in errors for cause in CAUSES[how]), told)
                self.assertTrue(any(text in errors for text in WAYS_OUT), told)
                self.assertNotIn('Traceback', errors)
                self.assertEqual(before, self.kept(), told)

    def test_readers(self):
        for line, name, damages, cause, way_out in READERS:
            for how in damages:
                path = self.damage(name, how)
                code, out, errors = commands.run(*line.split(), '--state-dir', str(self.copy))
                told = f'{line}: {name}: {errors}'
                self.assertEqual((2, ''), (code, out), told)
                for text in (cause, way_out):
                    self.assertIn(text, errors, told)
                if way_out:
                    self.assertIn(str(path), errors, told)
        for how in (EMPTY, TRUNCATED, UNREADABLE):
            self.damage('clock.json', how)
            for line in TIMELESS:
                code, _out, errors = commands.run(*line.split(), '--state-dir', str(self.copy))
                self.assertEqual(0, code, f'{line}: {errors}')

    def test_files_that_a_start_writes_again(self):
        """One start with all of them damaged."""
        self.damage('clouds.yaml', TRUNCATED)
        for name in ('etc/control.conf', 'etc/compute-cell1.conf', 'run/health.json'):
            (self.copy / name).write_bytes(b'{')
        os.unlink(self.copy / 'saved' / 'fresh.snapshot')
        self.start(0, self.copy)
        code, _out, errors = commands.run('verify', '--state-dir', str(self.copy))
        self.assertEqual(0, code, errors)
