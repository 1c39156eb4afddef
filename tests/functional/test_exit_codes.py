"""The exit codes of each command of nova-lite, as reference/commands.rst lists them.

test_commands in tests/unit/cmd checks that each exits with 2 without a cloud or with wrong
arguments, and test_notifications that a closed pipe gives 141.
"""

import collections
import contextlib
import os
import pty
import re
import signal
import sqlite3

import fixtures
import testtools

from nova_lite.cmd import main
from nova_lite.lab.launcher import client_connections
from nova_lite.lab.scenarios import drill as drills
from tests.fixtures import commands
from tests.fixtures import forking
from tests.fixtures import units
from tests.functional import test_scenarios
from tools import sample

PAGE = units.ROOT / 'doc' / 'source' / 'reference' / 'commands.rst'
TRACE = units.ROOT / 'doc' / 'source' / 'howto' / 'study' / 'trace.csv'
HOST, OTHER = 'cell1-host1', 'cell1-host2'
# A live migration whose copy never ends by itself.
PROFILE = """
extends: instant
hosts: [{match: '*', live_migration: {converges: false, dirty_rate_mb_s: 50}}]
"""
FAILING = {
    'passes': lambda presenter: presenter.check(True, 'a check'),
    'fails': lambda presenter: presenter.check(False, 'a check'),
}
LIMIT_S = 300
# Commands for clouds with --bus; tests/functional_rabbit/test_drills runs them.
ELSEWHERE = {'daemon'}


@sample.in_turns(4)
class ExitCodesTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.directory = self.useFixture(fixtures.TempDir()).path
        self.state_dir = os.path.join(self.directory, 'state')
        self.fork = os.path.join(self.directory, 'fork')
        self.seen = collections.defaultdict(set)
        for path in (self.state_dir, self.fork):
            self.addCleanup(commands.run, 'stop', '--state-dir', path)

    def exits(self, code, line, *, where=None):
        """Run a command and check its exit code."""
        argv = line.split()
        if where is None:
            where = ['--state-dir', self.state_dir]
        found, out, errors = commands.run(*argv, *where)
        self.assertEqual(code, found, f'{line}: {out}{errors}')
        self.seen[argv[0]].add(code)

    def starts(self, line, code=0):
        """Run a command that starts a cloud, as a process, and check its exit code."""
        argv = line.split()
        argv = [commands.MODULE, *argv, '--state-dir', self.state_dir]
        found, out, errors = forking.run(argv, timeout_s=LIMIT_S)
        self.assertEqual(code, found, f'{line}: {out}{errors}')
        self.seen[argv[1]].add(code)

    def cloud(self):
        """Connect as the administrator."""
        return client_connections.connect(os.path.join(self.state_dir, 'clouds.yaml'))

    def boot(self, name, host):
        """Boot a server on a host as the administrator."""
        return self.cloud().create_server(
            name, image='cirros', flavor='m1.tiny', network='private', wait=True,
            availability_zone=f'nova:{host}', config_drive=True,
        )  # fmt: skip

    def act(self, server, **action):
        """Send an action of a server."""
        answer = self.cloud().compute.post(
            f'/servers/{server.id}/action', json=action, microversion='2.30'
        )
        self.assertIn(answer.status_code, (200, 202), answer.text)

    def test_every_command(self):
        profile = os.path.join(self.directory, 'profile.yaml')
        with open(profile, 'w') as file:
            file.write(PROFILE)
        self.exits(1, 'status')
        self.exits(0, 'list', where=[])
        self.exits(0, 'completion bash', where=[])
        self.starts(f'up --detach --port 0 --cells 1 --hosts 2 --profile {profile}')
        for line in (
            'status',
            'env',
            'clock show',
            'fault list',
            'bus freeze',
            'bus heal',
            'reset',
        ):
            self.exits(0, line)
        self.run_the_client()
        self.move()
        self.exits(0, 'reset')
        self.maintain()
        self.exits(0, 'reset')
        self.copy_and_stop()
        self.useFixture(fixtures.MonkeyPatch('nova_lite.lab.demo.scenes.SCENES', FAILING))
        self.exits(0, 'demo --scene passes', where=[])
        self.exits(1, 'demo --scene fails', where=[])
        self.replay()
        self.assert_as_documented()

    def run_the_client(self):
        """Run `openstack`, which takes the place of the process."""
        argv = [commands.MODULE, 'openstack', '--state-dir', self.state_dir, 'flavor', 'list']
        code, out, errors = forking.run(argv, timeout_s=LIMIT_S)
        self.assertEqual(0, code, out + errors)
        self.seen['openstack'].add(code)

    def move(self):
        """Stop a move before its copy, which does not end."""
        self.boot('web', HOST)
        self.exits(0, 'why web')
        self.boot('db', OTHER)
        self.exits(1, 'why --diff web db')
        self.exits(0, 'config-drive web')
        self.exits(0, 'repair-guide web')
        self.exits(0, 'saga break web --before copy')
        server = self.cloud().get_server('web')
        self.act(server, **{'os-migrateLive': {'host': None, 'block_migration': 'auto'}})
        self.exits(0, 'saga wait web')
        self.exits(1, 'saga step web --timeout 0.1')
        self.exits(1, 'saga wait web --timeout 0.1')

    def maintain(self):
        """Empty hosts, of which a server stays."""
        server = self.boot('web', HOST)
        self.act(server, lock=None)
        self.exits(1, f'drain-host {HOST} --yes --poll 0.1')
        self.exits(0, f'undrain {HOST}')
        self.act(server, unlock=None)
        self.act(server, pause=None)
        cloud = self.cloud()
        cloud.compute.wait_for_server(server, status='PAUSED', interval=0.1, wait=LIMIT_S)
        self.exits(0, f'host off {HOST}')
        self.exits(1, f'evacuate-host {HOST} --yes --force-down')
        self.exits(1, 'repair-guide web')
        self.exits(0, f'host on {HOST}')
        service = next(each for each in cloud.compute.services() if each.host == OTHER)
        self.exits(0, f'drain-host {OTHER} --yes')
        self.exits(0, f'undrain {OTHER}')
        cloud.compute.disable_service(service, disabled_reason='broken fan')
        self.exits(1, f'undrain {OTHER}')
        self.exits(0, f'evacuate-host {OTHER} --yes --force-down')
        # The other host is down, so it can take nothing.
        # All commands have 2, which no table lists.
        code, _out, errors = commands.run('twin', 'drain', OTHER, '--state-dir', self.state_dir)
        self.assertEqual(2, code, errors)
        self.assertIn(f'`nova-lite twin survives --host {OTHER} --state-dir ', errors)
        self.starts(f'twin survives --host {HOST}', 1)
        self.starts(f'twin survives --host {OTHER}')
        self.exits(0, f'import --output {self.directory}/twin.yaml')

    def copy_and_stop(self):
        """Measure, copy, and stop the cloud; then break what it left."""
        self.exits(0, 'bench boot --count 1')
        self.drill()
        self.exits(0, 'fault add --verb spawn')
        self.exits(1, 'bench boot --count 1')
        self.exits(0, 'fault clear')
        self.exits(0, 'cell down cell1')
        self.exits(0, 'cell up cell1')
        self.exits(0, f'snapshot save {self.directory}/file')
        self.starts(f'fork {self.fork}')
        self.exits(0, 'saga list')
        self.interrupt('events', 0)
        self.exits(0, 'logs -n 1')
        self.interrupt(f'drain-host {HOST}', main.INTERRUPTED)
        self.exits(0, 'verify')
        server = self.boot('web', HOST)
        self.exits(0, 'stop')
        self.exits(0, 'stop')
        self.exits(1, 'status')
        path = os.path.join(self.state_dir, 'db', 'placement.sqlite')
        with contextlib.closing(sqlite3.connect(path)) as database, database:
            database.execute('DELETE FROM allocations WHERE consumer_id = ?', [server.id])
        self.exits(1, 'verify')

    def drill(self):
        """Run a drill, and one whose signal is not seen."""
        for code, status in ((0, 'ACTIVE'), (1, 'ERROR')):
            found = drills.parse('a', test_scenarios.drill_text(status))
            name = 'nova_lite.lab.scenarios.drill.read'
            with fixtures.MonkeyPatch(name, lambda _name, found=found: found):
                self.exits(code, 'scenario run a')

    def replay(self):
        """Run a study of a trace, and one at whose end `verify` has a finding."""
        for code, findings in ((0, []), (1, ['I4 a finding'])):
            found = {'runs': [{'setting': 'a', 'verify': findings}]}
            study = 'nova_lite.lab.replay.study.Study.run'
            table = 'nova_lite.lab.replay.results.table'
            with (
                fixtures.MonkeyPatch(study, lambda _study, found=found: found),
                fixtures.MonkeyPatch(table, lambda _found: (('Setting',), [])),
            ):
                output = f'--output {self.directory}/study{code}'
                self.exits(code, f'replay {TRACE} --limit 1 {output}', where=[])

    def interrupt(self, line, code):
        """Press Ctrl-C once a command that waits, or asks on its terminal, has begun."""
        ours, theirs = os.pipe()
        terminal = pty.openpty()
        for file in terminal:
            self.addCleanup(os.close, file)
        argv = [commands.MODULE, *line.split(), '--state-dir', self.state_dir]
        with os.fdopen(ours) as output:
            with os.fdopen(theirs, 'w') as written:
                running = forking.command(argv, files=(terminal[1], written, written))
            self.addCleanup(running.kill)
            self.assertEqual(f'Cloud in {self.state_dir}, running\n', output.readline())
            self.assertNotEqual('', output.readline(), line)
            running.send_signal(signal.SIGINT)
            self.assertEqual(code, running.wait(LIMIT_S), output.read())
        self.seen[line.split()[0]].add(code)

    def assert_as_documented(self):
        """Check that each command exited with the codes that the page lists, and no others."""
        text = PAGE.read_text()
        rows = re.findall(r'^   \* - ``nova-lite (\S+)``\n     - .+\n     - (.+)', text, re.M)
        documented = {
            name: {0} if meaning.startswith('not used') else {0, 1} for name, meaning in rows
        }
        self.assertEqual(set(main.COMMANDS), set(documented))
        for name in documented.keys() - ELSEWHERE:
            codes = documented[name]
            self.assertEqual(codes, self.seen[name] - {main.INTERRUPTED}, name)
        listed = {int(code) for code in re.findall(r'^   \* - (\d+)$', text, re.M)}
        unseen = {main.NOT_DONE, main.UNREAD}
        self.assertEqual(listed, set().union(*self.seen.values()) | unseen)
