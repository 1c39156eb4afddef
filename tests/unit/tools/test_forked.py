"""Workers are forks of a process that has imported the tests once, and report as others do."""

import pathlib

import fixtures
import testtools

from tests.fixtures import imported
from tools import forked

ROOT = pathlib.Path(__file__).parents[3]
TESTS = '''
import atexit
import os
import select
import sys
import unittest

def note(what):
    with open('notes', 'a') as notes:
        notes.write(f'{what} {os.getpid()}\\n')

note('imported')
atexit.register(note, 'ended')

class ATest(unittest.TestCase):
    def test_good(self):
        note('tested')
        print('a warning', file=sys.stderr)
        self.assertEqual('', sys.stdin.read())

class BTest(unittest.TestCase):
    def test_bad(self):
        note('tested')
        self.fail('as it should')

class CTest(unittest.TestCase):
    def test_killed(self):
        os._exit(3)

class ETest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        os._exit(3)

    def test_never(self):
        pass

class GTest(unittest.TestCase):
    def test_starts_a_program(self):
        from tests.fixtures import forking
        with open('cases/program.py', 'w') as program:
            program.write(PROGRAM)
        found = forking.run(['cases.program', 'an option'], timeout_s=60)
        self.assertEqual((4, 'an option\\n', ''), found)

PROGRAM = """
import atexit, sys
from cases import test_it
assert __name__ == '__main__'
print(*sys.argv[1:])
test_it.note('started')
atexit.register(test_it.note, 'left')
sys.exit(4)
"""

class FTest(unittest.TestCase):
    def test_thrice(self):
        note('tested')
        with open('notes') as notes:
            self.assertGreater(3, notes.read().count('tested'))

class DTest(unittest.TestCase):
    def test_last(self):
        stestr = os.getppid()
        os.kill(stestr, 9)
        while os.getppid() == stestr:
            pass
        # A thread of it may be the last to let go of what the worker prints.
        reader = select.poll()
        reader.register(1, 0)
        reader.poll()
'''


class ForkedTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.directory = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        (self.directory / 'cases').mkdir()
        (self.directory / 'cases/__init__.py').touch()

    def ran(self, text, *options):
        """Run the tests of a file in two workers; what stestr prints, and its exit status."""
        (self.directory / 'cases/test_it.py').write_text(text)
        command = ['tools.forked', '--test-path', 'cases', '--group-regex', r'([^.]+\.)+']
        status, printed = imported.output(
            *[*command, 'run', '--concurrency', '2', *options],
            directory=self.directory,
            env={
                'PATH': '',
                'PYTHONPATH': f'{ROOT}:{self.directory}',
                'TMPDIR': str(self.directory),
            },
        )
        return printed, status

    def notes(self, what):
        """The processes that noted it."""
        lines = (self.directory / 'notes').read_text().splitlines()
        return {process for noted, process in map(str.split, lines) if noted == what}

    def test_workers(self):
        printed, status = self.ran(TESTS, 'ATest|BTest')
        self.assertEqual(1, status)
        self.assertRegex(printed, r'test_good .*\.\.\. ok')
        self.assertRegex(printed, r'test_bad .*\.\.\. FAILED')
        self.assertIn('AssertionError: as it should', printed)
        self.assertIn('a warning\n', printed)
        self.assertEqual(1, len(self.notes('imported')))
        self.assertEqual(2, len(self.notes('tested')))
        self.assertFalse(self.notes('imported') & self.notes('tested'))
        self.assertEqual(self.notes('imported') | self.notes('tested'), self.notes('ended'))

    def test_workers_wait_for_a_third_of_their_time(self):
        for processors, number in ((1, 2), (2, 3), (8, 12)):
            self.useFixture(fixtures.MonkeyPatch('os.cpu_count', lambda found=processors: found))
            self.assertEqual(number, forked.workers())

    def test_a_worker_that_is_killed_has_failed(self):
        printed, status = self.ran(TESTS, 'CTest')
        self.assertEqual(1, status)
        self.assertRegex(printed, r'test_killed .*\.\.\. inprogress')

    def test_a_worker_that_ends_between_tests_has_failed(self):
        printed, status = self.ran(TESTS, 'ATest|ETest')
        self.assertEqual(1, status)
        self.assertIn('A worker ended with exit status 3\n', printed)

    def test_a_program_is_a_fork_that_has_imported_the_tests(self):
        printed, status = self.ran(TESTS, 'GTest')
        self.assertEqual(0, status, printed)
        self.assertEqual(1, len(self.notes('imported')))
        self.assertEqual(1, len(self.notes('started')))
        self.assertEqual(self.notes('started'), self.notes('left'))
        self.assertFalse(self.notes('started') & self.notes('ended'))

    def test_runs_until_a_failure(self):
        printed, status = self.ran(TESTS, 'FTest', '--until-failure')
        self.assertEqual(1, status)
        self.assertEqual(3, len(self.notes('tested')), printed)

    def test_a_worker_leaves_what_a_killed_stestr_has(self):
        printed, status = self.ran(TESTS, 'DTest')
        self.assertEqual(-9, status)
        self.assertIn('BrokenPipeError', printed)
        self.assertTrue(any('DTest' in path.read_text() for path in self.directory.glob('tmp*')))

    def test_an_import_that_fails_is_told(self):
        printed, status = self.ran('import nothing_of_this_name')
        self.assertEqual(100, status)
        self.assertIn("No module named 'nothing_of_this_name'", printed)
