"""Daemons that are forked behave as those that a supervisor starts."""

import os
import subprocess
import sys
import tempfile

import testtools

from nova_lite import runtime
from tests.fixtures import forking
from tests.unit.lab.launcher import test_supervisor

SHARING = """
import sys
from tests.fixtures import forking
code, _out, _errors = forking.run(['json.tool', '--help'], timeout_s=300)
print(type(forking.parent()).__name__, code)
sys.exit(3)
"""


class ForkedTests(test_supervisor.SupervisorTests):
    launch = staticmethod(forking.launch)

    def test_how_it_ended(self):
        child = self.add('toy.one')
        self.assertIsNone(child.process.poll())
        child.process.kill()
        self.assertEqual(-9, child.process.wait(60))
        self.assertFalse(os.path.exists(f'/proc/{child.process.pid}'))


class CommandTests(testtools.TestCase):
    def test_output_and_exit_code(self):
        with tempfile.TemporaryFile('w+') as given:
            given.write('[1]')
            given.seek(0)
            found = forking.run(
                ['json.tool', '--compact'], modules=('json.tool',), timeout_s=60, stdin=given
            )
        self.assertEqual((0, '[1]\n', ''), found)
        code, out, errors = forking.run(['json.tool'], modules=('json.tool',), timeout_s=60)
        self.assertEqual((1, ''), (code, out))
        self.assertIn('Expecting value', errors)

    def test_what_takes_too_long(self):
        ours, theirs = os.pipe()
        self.addCleanup(os.close, ours)
        self.addCleanup(os.close, theirs)
        # It waits for its input.
        options = {'modules': ('json.tool',), 'stdin': ours, 'timeout_s': 0.1}
        self.assertRaises(subprocess.TimeoutExpired, forking.run, ['json.tool'], **options)


class ParentTests(testtools.TestCase):
    def test_it_ends_with_who_asks(self):
        found = forking.Own()
        self.assertEqual(0, found.end())

    def test_its_children_end_with_it(self):
        found = forking.Own(modules=('json.tool',))
        ours, theirs = os.pipe()
        self.addCleanup(os.close, ours)
        self.addCleanup(os.close, theirs)
        with open(os.devnull, 'w') as nothing:
            files = (ours, nothing.fileno(), nothing.fileno())
            request = {'env': dict(os.environ), 'directory': os.getcwd()}
            # It waits for its input.
            child = found.fork(files, argv=['json.tool'], **request)
        end = os.pidfd_open(child.pid)
        self.addCleanup(os.close, end)
        self.assertEqual(0, found.end())
        self.assertTrue(runtime.wait_readable(end, 60))

    def test_processes_share_it(self):
        done = subprocess.run(
            [sys.executable, '-m', 'tests.fixtures.forking', sys.executable, '-c', SHARING],
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual((3, 'Parent 0\n', ''), (done.returncode, done.stdout, done.stderr))
