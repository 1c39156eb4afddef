"""`nova-lite up --detach`, `status`, `env` and `stop`, as a job of continuous integration."""

import fcntl
import json
import os
import re
import signal
import socket
import subprocess

import fixtures
import testtools

from nova_lite.lab.launcher import client_connections
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import lock
from nova_lite.lab.launcher import running
from tests.fixtures import commands
from tests.fixtures import ports
from tools import sample

LIMIT_S = 300
FORMER = ('OS_TOKEN', 'OS_TENANT_ID', 'OS_DOMAIN_NAME', 'OS_TRUST_ID')
# (command, faults that `status` shows afterwards, what is logged)
FAULTS = (
    (
        'fault add --verb spawn --host cell1-* --first 2',
        ['spawn fails on cell1-* (first 2)'],
        "Fault 1 was added: {'verb': 'spawn', 'first': 2, 'match': {'host': 'cell1-*'}}",
    ),
    (
        'host off cell1-host1',
        ['spawn fails on cell1-* (first 2)', 'host cell1-host1 is powered off'],
        'Host cell1-host1 was powered off',
    ),
    (
        'fault clear 1',
        ['host cell1-host1 is powered off'],
        'Fault 1 was cleared',
    ),
    (
        'cell down cell1',
        ['host cell1-host1 is powered off', 'database of cell1 is down', 'bus of cell1 is cut'],
        'The database of cell1 was taken down',
    ),
    (
        'cell up cell1',
        ['host cell1-host1 is powered off'],
        'The database of cell1 was taken up',
    ),
    ('host on cell1-host1', [], 'Host cell1-host1 was powered on'),
    ('bus cut', ['bus of cell1 is cut', 'bus of top is cut'], 'The bus of top was cut'),
    (
        'bus freeze top',
        ['bus of cell1 is cut', 'bus of top is frozen'],
        'The bus of top was frozen',
    ),
    ('bus heal', [], 'The bus of top was healed'),
    ('fault clear', [], 'All injected failures were cleared'),
)
PRINT = 'eval "$1"; printf "%s\\n" "$OS_AUTH_URL" "$OS_CLOUD"; env | grep former'


@sample.in_turns(4)
class DetachTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.state_dir = self.useFixture(fixtures.TempDir()).join('state')
        self.addCleanup(self.run_command, 'stop')

    def run_command(self, name, *args):
        """(exit code, standard output, standard error) of a subcommand for the cloud."""
        return commands.run(name, '--state-dir', self.state_dir, *args)

    def up(self, *args):
        """The same of an `up` that leaves the terminal, as a process."""
        options = ['--detach', '--state-dir', self.state_dir, '--profile', 'instant', *args]
        return commands.forked(['up', *options], timeout_s=LIMIT_S)

    def status(self, expected):
        code, printed, _errors = self.run_command('status', '--json')
        self.assertEqual(expected, code, printed)
        return json.loads(printed)

    def test_a_job(self):
        self.assertEqual('not running', self.status(1)['state'])
        code, printed, errors = self.up('--port', '0', '--cells', '1', '--hosts', '1')
        self.assertEqual((0, ''), (code, errors), printed)
        found = self.status(0)
        self.assertEqual(
            ('running', ['cell1'], 1, []),
            tuple(found[name] for name in ('state', 'cells', 'hosts', 'unhealthy')),
        )
        self.assertIn(f'Ready: {found["compute_url"]}\n', printed)
        self.assertIn(f'export OS_CLIENT_CONFIG_FILE={found["clouds_yaml"]}\n', printed)
        self.assertIn(f'Live page for a browser: {found["page_url"]}\n', printed)
        for name in ('env', 'stop'):
            self.assertIn(f'nova-lite {name} --state-dir {self.state_dir}', printed)
        self.assertEqual(found['pid'], lock.holder(self.state_dir))

        url = found['compute_url'].replace('/compute/v2.1', '/identity/v3')
        _code, shell, _errors = self.run_command('env', '--openrc', '--cloud', 'nova-lite-demo')
        shown = subprocess.run(
            ['sh', '-u', '-c', PRINT, 'sh', shell],
            env={**os.environ, **dict.fromkeys(FORMER, 'former')},
            capture_output=True,
            text=True,
        )
        self.assertEqual(f'{url}\nnova-lite-demo\n', shown.stdout, shown.stderr)

        self.boot(found['clouds_yaml'])
        code, _printed, errors = self.up('--port', '0')
        self.assertEqual(2, code)
        self.assertIn(f'is in use by process {found["pid"]}', errors)
        self.assertEqual('running', self.status(0)['state'])

        self.assertEqual((0, 'Stopped\n', ''), self.run_command('stop'))
        self.assertEqual('not running', self.status(1)['state'])
        code, printed, _errors = self.run_command('stop')
        self.assertEqual((0, f'No cloud runs in {self.state_dir}\n'), (code, printed))

    def test_faults(self):
        """`status` shows those that are injected now, and each change of them is logged."""
        self.up('--port', '0', '--cells', '1', '--hosts', '1')
        self.assertEqual([], self.status(0)['faults'])
        log = os.path.join(self.state_dir, 'log', 'nova-lite.log')
        for line, expected, logged in FAULTS:
            before = os.path.getsize(log)
            code, _printed, errors = commands.run(*line.split(), '--state-dir', self.state_dir)
            self.assertEqual((0, ''), (code, errors), line)
            _code, printed, _errors = self.run_command('status', '--json')
            self.assertEqual(expected, json.loads(printed)['faults'], line)
            with open(log) as file:
                file.seek(before)
                self.assertRegex(file.read(), rf'WARNING \S+ .*{re.escape(logged)}', line)
        commands.run('host', 'off', 'cell1-host1', '--state-dir', self.state_dir)
        _code, printed, _errors = self.run_command('status')
        self.assertRegex(printed, r'faults +. host cell1-host1 is powered off')

    def boot(self, path):
        """A member names nothing but a flavor and the first image in the list."""
        compute = client_connections.connect(
            path, 'nova-lite-demo', compute_api_version='2.1'
        ).compute
        (flavor,) = (each for each in compute.flavors() if each.name == 'm1.tiny')
        image = next(iter(compute.get('/images', microversion='2.1').json()['images']))
        server = compute.create_server(name='first', flavor_id=flavor.id, image_id=image['id'])
        server = compute.wait_for_server(server, interval=0.1, wait=LIMIT_S)
        self.assertEqual(['private'], list(server.addresses))

    def test_another_has_just_taken_the_directory(self):
        """It has the lock, and has not recorded its id yet."""
        os.makedirs(self.state_dir)
        output = os.path.join(self.state_dir, layout.OUTPUT)
        with open(output, 'w') as file:
            file.write('printed by the other\n')
        with open(os.path.join(self.state_dir, lock.LOCK), 'w') as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            code, printed, errors = self.up('--port', '0')
        self.assertEqual((2, ''), (code, printed))
        self.assertIn('nova-lite up: The state directory', errors)
        self.assertIn('is in use by process', errors)
        with open(output) as file:
            self.assertEqual('printed by the other\n', file.read())

    def test_killed(self):
        self.up('--port', '0', '--cells', '1', '--hosts', '1')
        pid = self.status(0)['pid']
        os.kill(pid, signal.SIGKILL)
        self.assertEqual((0, f'No cloud runs in {self.state_dir}\n'), self.stopped(pid))
        self.assertEqual('not running', self.status(1)['state'])

    def test_it_ends_with_another_process(self):
        with subprocess.Popen(['cat'], stdin=subprocess.PIPE) as job:
            self.up('--port', '0', '--cells', '1', '--hosts', '1', '--until-exit', str(job.pid))
            pid = self.status(0)['pid']
        running.wait_gone(self.state_dir, pid, LIMIT_S)
        code, _printed, errors = self.run_command('up', '--until-exit', str(job.pid))
        self.assertEqual(2, code)
        self.assertIn(f"no process has the id '{job.pid}'", errors)

    def stopped(self, pid):
        """Return what `stop` returns and prints once a killed process is gone."""
        running.wait_gone(self.state_dir, pid, LIMIT_S)
        return self.run_command('stop')[:2]

    def test_a_port_in_use(self):
        number = self.useFixture(ports.Port()).number
        with socket.create_server(('127.0.0.1', number)):
            code, printed, errors = self.up('--port', str(number), '--fresh')
        self.assertEqual((2, ''), (code, printed))
        self.assertIn(f'Port {number} of 127.0.0.1', errors)
        self.assertIn('up.out', errors)
        self.assertIsNone(lock.holder(self.state_dir))

    def test_env_of_no_cloud(self):
        code, _printed, errors = self.run_command('env')
        self.assertEqual(2, code)
        self.assertIn(f'no cloud in {self.state_dir}', errors)
