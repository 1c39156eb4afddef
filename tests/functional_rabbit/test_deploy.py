"""The deployment guide, command by command, with private servers in place of the system's.

Left out are the commands that change the machine: packages, and files below /etc.
tests/unit/test_units.py and the installation of the package stand for them.

The commands of `nova-lite` for a cloud are used with the deployment, too, or say why they are not.
"""

import os
import pathlib
import re
import shlex
import subprocess

import fixtures
import testtools

from tests.fixtures import commands
from tests.fixtures import mariadb
from tests.fixtures import ports
from tests.fixtures import rabbit
from tests.fixtures import servers
from tests.fixtures import systemd
from tests.fixtures import units
from tests.fixtures import warm_programs
from tools import sample

GUIDE = units.ROOT / 'doc' / 'source' / 'admin' / 'deploy'
PORTS = {'api': '8774', 'metadata': '8775', 'placement': '8778', 'simcloud': '8779'}
VHOSTS = ('top', 'cell1', 'cell2')
SCRIPTS = ('configure.sh', 'bus.sh', 'databases.sh', 'schemas.sh', 'start.sh', 'use.sh')
# The first command of each kind is RabbitMQ's own, which takes half a second of CPU.
RABBITMQCTL = """
if mkdir "$0.$1" 2> /dev/null; then
    exec env {environment} {ctl} "$@"
fi
case "$1 $2" in
add_vhost*)
    call="rabbit_vhost:add(<<\\"$2\\">>, <<\\"guide\\">>)" ;;
'set_permissions --vhost')
    call="rabbit_auth_backend_internal:set_permissions(<<\\"$4\\">>, <<\\"$3\\">>,
        <<\\"$5\\">>, <<\\"$6\\">>, <<\\"$7\\">>, <<\\"guide\\">>)" ;;
*)
    exit 1 ;;
esac
test "$(echo "$call." | {evaluator})" = '{{ok, ok}}'
"""
# A script ends by itself: this ends one that hangs, on a busy machine too.
LIMIT_S = 900


@sample.in_turns(3, first=1)
class DeployTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        servers.require(rabbit.Rabbit, mariadb.MariaDB)
        self.database = self.useFixture(mariadb.MariaDB())
        self.broker = servers.shared(rabbit.Rabbit)
        self.broker.renew()
        self.addCleanup(self.broker.forget, 'nova', *VHOSTS)
        self.root = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.configuration = self.root / 'etc'
        self.state = self.root / 'state'
        for path in (self.configuration, self.state, self.root / 'bin'):
            path.mkdir()
        self.units = self.useFixture(units.Units(self.configuration))
        names = ('openstack', 'nova-lite-manage', 'nova-lite-status')
        warm = warm_programs.WarmPrograms(self.units.programs, names)
        self.warm = self.useFixture(warm)
        self.systemd = self.useFixture(systemd.Systemd(self.units, self.addDetail))
        self.texts = self._texts()
        self.guide = self._copy_of_the_guide()
        self._stand_ins()

    # ---- the machine of the guide ----

    def _texts(self):
        """{what the guide says: what it is here}."""
        found = {
            '/etc/nova-lite': str(self.configuration),
            '/var/lib/nova-lite': str(self.state),
            '/opt/nova-lite/bin': str(self.warm.directory),
            '127.0.0.1:5672': f'127.0.0.1:{self.broker.port}',
            '127.0.0.1:3306': f'127.0.0.1:{self.database.port}',
        }
        for number in PORTS.values():
            found[number] = str(self.useFixture(ports.Port()).number)
        return found

    def _localized(self, text):
        pattern = '|'.join(re.escape(key) for key in sorted(self.texts, key=len, reverse=True))
        return re.sub(pattern, lambda match: self.texts[match[0]], text)

    def _copy_of_the_guide(self):
        copy = self.root / 'doc' / 'source' / 'admin' / 'deploy'
        copy.mkdir(parents=True)
        for path in GUIDE.iterdir():
            (copy / path.name).write_text(self._localized(path.read_text()))
        return copy

    def _stand_ins(self):
        """Commands of the same names that talk to the private servers."""
        broker = {**self.broker.environment(), 'HOME': self.broker.directory}
        exported = ' '.join(f'{key}={shlex.quote(value)}' for key, value in broker.items())
        client = servers.find_program('mariadb')
        ctl = servers.find_program('rabbitmqctl')
        evaluator = shlex.join(self.broker.evaluator())
        texts = {
            'rabbitmqctl': RABBITMQCTL.format(environment=exported, ctl=ctl, evaluator=evaluator),
            'mariadb': f'exec {client} --no-defaults -h 127.0.0.1 -P {self.database.port} -uroot',
            'systemctl': f'exec {self.systemd.program} "$@"',
            # The group nova-lite is made by systemd-sysusers.
            'chgrp': 'test "$1" = nova-lite',
        }
        for name, text in texts.items():
            path = self.root / 'bin' / name
            path.write_text(f'#!/bin/sh\n{text}\n')
            path.chmod(0o755)

    def _run(self, script):
        path = os.pathsep.join([str(self.root / 'bin'), os.environ['PATH']])
        done = subprocess.run(
            ['sh', '-eu', str(self.guide / script)],
            cwd=self.root,
            env={**os.environ, 'PATH': path},
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
        )
        self.addDetail(script, testtools.content.text_content(done.stdout + done.stderr))
        self.assertEqual(0, done.returncode, f'{script}: {done.stdout}{done.stderr}')
        return done.stdout

    # ---- what it promises ----

    def test_ends_in_a_cloud_that_resizes_between_cells(self):
        printed = {script: self._run(script) for script in SCRIPTS}
        self.assertIn('| cell1-host1', printed['use.sh'])
        self._secrets_stay_where_they_belong()
        shown = self._openstack('server', 'show', 'first', '-f', 'value')
        self.assertIn('ACTIVE', shown)
        self.assertRegex(shown, r'cell2-host[12]')
        self._commands_of_a_cloud()
        self._reload_keeps_all()
        self.assertEqual(dict.fromkeys(self.systemd.daemons, 0), dict(self.systemd.stop_all()))

    def _commands_of_a_cloud(self):
        """By --config-dir, or by the variables with which the operator works."""
        path = str(self.configuration / 'clouds.yaml')
        by_option, by_clients = ['--config-dir', str(self.configuration)], []
        self.assertIn('No invariant', self._command(0, 'verify', '--settle', '60', *by_option)[0])
        self.useFixture(fixtures.EnvironmentVariable('OS_CLIENT_CONFIG_FILE', path))
        for where in (by_option, by_clients):
            printed, errors = self._command(0, 'status', *where)
            self.assertIn(f'Deployment of {self.configuration}, running', errors)
            self.assertIn('cell1, cell2', printed)
            self.assertIn('cross-cell', self._command(0, 'saga', 'list', *where)[0])
            self.assertIn('cell2-host', self._command(0, 'why', 'first', *where)[0])
            self.assertIn(path, self._command(0, 'env', *where)[0])
            for line, reason in (
                ('fault list', '[compute]profile'),
                ('host off cell1-host1', 'systemctl stop nova-lite-compute@CELL'),
                ('saga go first', '`nova-lite saga list`'),
                ('stop', 'systemctl stop nova-lite.target'),
                ('up', 'systemctl start nova-lite.target'),
                ('logs --daemon api', 'journalctl -u nova-lite-api'),
                ('events --server first', '[oslo_messaging_notifications]driver'),
            ):
                self.assertIn(reason, self._command(2, *line.split(), *where)[1])

    def _command(self, expected, *argv):
        """Return (output, errors) of a command of nova-lite, which names its cloud."""
        code, out, errors = commands.run_named(*argv)
        self.assertEqual(expected, code, f'{argv}: {out}{errors}')
        return out, errors

    def _openstack(self, *args):
        env = {'OS_CLIENT_CONFIG_FILE': str(self.configuration / 'clouds.yaml')}
        return subprocess.run(
            [str(self.warm.directory / 'openstack'), '--os-cloud=nova-lite', *args],
            env={**os.environ, **env},
            check=True,
            capture_output=True,
            text=True,
        ).stdout

    def _secrets_stay_where_they_belong(self):
        secrets = [
            (self.configuration / 'secrets' / name).read_text().strip()
            for name in ('bus', 'database', 'service', 'admin', 'demo', 'metadata')
        ]
        said = ''.join(daemon.log_text() for daemon in self.systemd.daemons.values())
        for unit, daemon in self.systemd.daemons.items():
            said += pathlib.Path(f'/proc/{daemon.pid}/cmdline').read_text()
            said += pathlib.Path(f'/proc/{daemon.pid}/environ').read_text()
            self.assertTrue(daemon.running, unit)
        self.assertEqual([], [secret for secret in secrets if secret in said])

    def _reload_keeps_all(self):
        for unit in self.systemd.daemons:
            self.systemd.reload(unit)
        for unit, notified in self.systemd.notified.items():
            if self.units.setting(unit, 'WatchdogSec'):
                notified.wait_for('RELOADING=1')
                notified.wait_for('READY=1')
        self.assertIn('first', self._openstack('server', 'list', '-f', 'value'))
