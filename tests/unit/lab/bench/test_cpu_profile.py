"""nova-lite bench profile: parts, and py-spy, for which a program like it stands here."""

import os
import pathlib
import types

import fixtures
import testtools

from nova_lite import exception
from nova_lite.lab.bench import cpu_profile

SPY = """\
import signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
print({says!r}, flush=True)
if {code}:
    sys.exit({code})
signal.sigwait([signal.SIGINT])
with open(sys.argv[sys.argv.index('--output') + 1], 'w') as file:
    file.write('process 1:"x";run (nova_lite/rpc/server.py:7);execute (sqlalchemy/x.py:9) 3\\n')
"""


class PartsTest(testtools.TestCase):
    def check(self, part, *stack):
        self.assertEqual(part, cpu_profile.part_of(stack))

    def test_innermost_code_decides(self):
        self.check('HTTP', 'cheroot/server.py', 'nova_lite/api/app.py', 'json/encoder.py')
        self.check('statements', 'nova_lite/api/app.py', 'sqlalchemy/engine/base.py')
        self.check('RPC', 'threading.py', 'nova_lite/rpc/interface.py', 'threading.py')
        self.check(
            'RPC', 'nova_lite/rpc/interface.py', 'nova_lite/runtime/__init__.py', 'threading.py'
        )
        self.check('other', 'nova_lite/rpc/interface.py', 'nova_lite/compute/build.py')
        self.check('other', 'threading.py', 'nova_lite/runtime/__init__.py')

    def test_statements_of_causes(self):
        self.check('journal', 'nova_lite/saga/journal.py', 'sqlalchemy/engine/base.py')
        self.check('notifications', 'nova_lite/notify/send.py', 'oslo_messaging/notify.py')
        self.check('placement', 'placement/handler.py', 'sqlalchemy/engine/base.py')

    def test_client_of_placement(self):
        self.check('HTTP', 'nova_lite/clients/placement.py', 'requests/sessions.py')

    def test_lines(self):
        lines = [
            'process 7:"nova-lite (x)";run (threading.py:5);read (nova_lite/db/transactions.py:99) 4\n',
            'run (threading.py:5);<lambda> (nova_lite/db/rows.py) 2\n',
            'run (threading.py:5) 1\n',
            'no count\n',
        ]
        self.assertEqual({'statements': 6, 'other': 1}, cpu_profile.parts_of(lines))


class SamplerTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        directory = self.useFixture(fixtures.TempDir()).path
        self.program = pathlib.Path(directory, 'py-spy')
        self.useFixture(fixtures.EnvironmentVariable('PATH', directory))
        # One that is installed beside the interpreter is preferred.
        self.useFixture(fixtures.MonkeyPatch('sys.executable', str(self.program.with_name('x'))))

    def install(self, says, code=0):
        interpreter = os.readlink('/proc/self/exe')
        self.program.write_text(f'#!{interpreter}\n' + SPY.format(says=says, code=code))
        self.program.chmod(0o755)

    def prepared(self, *words):
        args = types.SimpleNamespace(scenario=words[0], profiled=dict(enumerate(words)).get(1))
        return args, cpu_profile.prepared(args)

    def test_samples(self):
        self.install('py-spy> Sampling process 100 times a second.')
        args, block = self.prepared('profile', 'boot')
        with block:
            self.assertEqual('boot', args.scenario)
            args.sampler.begin({'api': os.getpid(), 'conductor.cell1': os.getpid()})
            found = args.sampler.end()
        self.assertEqual({'api': {'statements': 3}, 'conductor.cell1': {'statements': 3}}, found)

    def test_a_scenario_that_fails_ends_it(self):
        self.install('py-spy> Sampling process 100 times a second.')

        def fail():
            args, block = self.prepared('profile', 'boot')
            with block:
                args.sampler.begin({'api': os.getpid()})
                self.program.with_name('seen').write_text(str(_children()))
                raise exception.Conflict(reason='no')

        self.assertRaises(exception.Conflict, fail)
        self.assertNotEqual('set()', self.program.with_name('seen').read_text())
        self.assertEqual(set(), _children())

    def test_a_process_that_cannot_be_read(self):
        self.install('Error: Permission Denied: Try running again with sudo', code=1)
        args, block = self.prepared('profile', 'boot')
        with block:
            error = self.assertRaises(
                exception.Unavailable, args.sampler.begin, {'api': os.getpid()}
            )
        self.assertIn('api', str(error))
        self.assertIn('Permission Denied', str(error))

    def test_a_process_of_another_language(self):
        self.install('Error: No python processes found in process 1', code=1)
        args, block = self.prepared('profile', 'boot')
        with block:
            args.sampler.begin({'mariadb': os.getpid()})
            self.assertEqual({}, args.sampler.end())

    def test_not_installed(self):
        _args, block = self.prepared('profile', 'boot')
        error = self.assertRaises(exception.Invalid, block.__enter__)
        self.assertIn('pip install py-spy', str(error))

    def test_scenarios(self):
        for words in (('profile',), ('boot', 'list')):
            _args, block = self.prepared(*words)
            self.assertRaises(exception.Invalid, block.__enter__)
        args, block = self.prepared('boot')
        with block:
            self.assertIsNone(args.sampler)


def _children():
    """Process ids of children of this process that run the program."""
    pid = os.getpid()
    found = pathlib.Path(f'/proc/{pid}/task/{pid}/children').read_text().split()
    return {int(pid) for pid in found if 'py-spy' in _command(pid)}


def _command(pid):
    return pathlib.Path(f'/proc/{pid}/cmdline').read_text()
