"""Records of log files: merged, filtered, and followed while they grow."""

import itertools
import os

import fixtures
import testtools

from nova_lite.lab.launcher import log_files
from nova_lite.lab.launcher import which_cloud
from tests.fixtures import commands

NO_REQUEST = 'req-00000000-7f8e-4a55-9f0d-3b1c1f6a2d10'
REQUEST = 'req-3f0c7c5e-7f8e-4a55-9f0d-3b1c1f6a2d10'
UUID = '5f0c7c5e-7f8e-4a55-9f0d-3b1c1f6a2d10'


def line(second, logger, text, *, context='-'):
    return f'2026-01-02 03:04:{second:02}.678 99 INFO {logger} [{context}] {text}\n'


def traceback(second, logger):
    start = f'2026-01-02 03:04:{second:02}.678 99 ERROR {logger} '
    return f'{start}Traceback (most recent call last):\n{start}ValueError: x\n'


class LogFilesTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.directory = self.useFixture(fixtures.TempDir()).path
        os.mkdir(os.path.join(self.directory, 'log'))

    def write(self, name, *lines):
        with open(os.path.join(self.directory, 'log', f'{name}.log'), 'a') as file:
            file.write(''.join(lines))

    def shown(self, *options, code=0):
        """Return the lines that the command prints."""
        found, out, errors = commands.run('logs', '--state-dir', self.directory, *options)
        self.assertEqual(code, found, out + errors)
        return (out if code == 0 else errors).splitlines()

    def test_one_process(self):
        """Its file has the records of all daemons; each belongs to that of its module."""
        self.write(
            'nova-lite',
            line(1, 'nova_lite.api.app', 'asked', context=REQUEST),
            line(2, 'nova_lite.scheduler.manager', f'chose for {UUID}', context=REQUEST),
            traceback(2, 'nova_lite.scheduler.manager'),
            'a line of no logger\n',
            line(3, 'nova_lite.moves.resize', 'stepped'),
        )
        self.assertEqual(6, len(self.shown()))
        self.assertEqual(1, len(self.shown('-n', '1')))
        for options in (['--daemon', 'scheduler'], ['--server', UUID]):
            found = self.shown(*options)
            self.assertEqual(4, len(found))
            self.assertEqual('a line of no logger', found[-1])
        self.assertEqual(5, len(self.shown('--request', REQUEST)))
        self.assertEqual(1, len(self.shown('--request', REQUEST, '--daemon', 'api')))
        self.assertEqual([], self.shown('--request', NO_REQUEST))
        (error,) = self.shown('--daemon', 'scheduler.x', code=2)
        self.assertIn('There is no daemon scheduler.x. Use one of: api, compute', error)

    def test_a_process_for_each_daemon(self):
        self.write('api', line(1, 'a', 'first'), line(4, 'a', 'last'))
        self.write('conductor.cell1', line(2, 'c', 'second'))
        self.write('conductor.cell2', line(3, 'c', 'third'))
        texts = [found.rpartition(' ')[2] for found in self.shown()]
        self.assertEqual(['first', 'second', 'third', 'last'], texts)
        self.assertTrue(self.shown()[1].startswith('conductor.cell1 '))
        self.assertEqual(2, len(self.shown('--daemon', 'conductor')))
        self.assertEqual(1, len(self.shown('--daemon', 'conductor.cell2')))
        (error,) = self.shown('--daemon', 'scheduler', code=2)
        self.assertIn('Use one of: api, conductor.cell1, conductor.cell2', error)

    def test_json(self):
        self.write('api', '{"asctime": "2026-01-02 03:04:05", "name": "a", "message": "x"}\n')
        (found,) = self.shown('--json')
        self.assertIn('"at": "2026-01-02 03:04:05"', found)

    def test_no_logs(self):
        os.rmdir(os.path.join(self.directory, 'log'))
        (error,) = self.shown(code=2)
        self.assertIn('There is no cloud in', error)

    def test_followed(self):
        """Whole lines as they are appended, to new files too; further lines follow their record."""
        self.write('api', line(1, 'a', 'before', context=REQUEST))
        cloud = which_cloud.Cloud(self.directory, which_cloud.OPTION)
        wanted = log_files.Wanted(request=REQUEST)
        written = iter(
            (
                lambda: self.write('api', line(2, 'a', 'one', context=REQUEST), 'half'),
                lambda: self.write('api', ' a line\n', line(3, 'a', 'two')),
                lambda: self.write('api', 'of two\n'),
                lambda: self.write('scheduler', line(4, 's', 'three', context=REQUEST)),
            )
        )
        follower = log_files.Follower(lambda: log_files.paths(cloud, wanted))
        self.useFixture(fixtures.MonkeyPatch('nova_lite.runtime.sleep', lambda _s: next(written)()))
        found = itertools.islice(follower.records(wanted), 3)
        texts = [record.lines[0].rpartition(' ')[2] for record in found]
        self.assertEqual(['one', 'line', 'three'], texts)
