"""`nova-lite up` and `nova-lite verify` as a newcomer runs them: clouds as processes.

An interpreter takes two seconds of CPU, so the processes are forks of one that has imported the
package (test_contrib has an interpreter), and what is refused before anything starts is refused
in this process.

How long they may take on two quiet cores (15 s to be ready, 5 s to stop) is for a
benchmark to say; the bounds here only end a test that hangs.
"""

import contextlib
import os
import re
import signal
import socket
import sqlite3

import fixtures
import testtools

from nova_lite.lab.launcher import client_connections
from tests.fixtures import commands
from tests.fixtures import forking
from tests.fixtures import ports
from tests.fixtures import running_guests
from tools import sample

COMMAND = commands.MODULE
READY_S, STOP_S, RUN_S = 300, 120, 300
READY = re.compile(r'^Ready after [0-9.]+ s: (http\S+)$', re.MULTILINE)
ELSEWHERE = '127.0.0.2'
NOWHERE = '127.0.0.1:1'  # no process listens there: a port of the system, long unused


@sample.in_turns(2)
class UpTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.state_dir = self.useFixture(fixtures.TempDir()).join('state')
        self.port = self.useFixture(ports.Port()).number
        self.starts = 0

    def up(self, *args):
        """Start a cloud and wait for the URL that it prints; the process."""
        self.starts += 1
        options = ['--state-dir', self.state_dir, '--port', self.port, '--profile', 'instant']
        command = [COMMAND, 'up', *options, *args]
        process = self.useFixture(forking.Daemon(command, name=f'up-{self.starts}'))
        process.start()
        process.wait_for(lambda: READY.search(process.log_text()), READY_S, 'says it is ready')
        self.url = READY.search(process.log_text()).group(1)
        self.cloud = client_connections.connect(os.path.join(self.state_dir, 'clouds.yaml'))
        return process

    def interrupt(self, process):
        """Ctrl-C."""
        process.signal(signal.SIGINT)
        self.assertEqual(0, process.wait(STOP_S), process.log_text())

    def boot(self, name):
        compute = self.cloud.compute
        server = compute.create_server(
            name=name,
            image_id=self.cloud.image.find_image('cirros').id,
            flavor_id=compute.find_flavor('m1.tiny').id,
            networks='none',
        )
        return compute.wait_for_server(server, interval=0.1, wait=RUN_S)

    def guests(self):
        """{server: nodes where it runs}, from the files of the simulated hosts."""
        guests = os.path.join(self.state_dir, 'guests')
        return running_guests.nodes(
            os.path.join(guests, cell, 'guests.sqlite') for cell in os.listdir(guests)
        )

    def shown(self):
        """Return what the API tells of each server, but for its age."""
        return {
            server.id: (server.name, server.status, server.vm_state, server.compute_host)
            for server in self.cloud.compute.servers(all_projects=True)
        }

    def alter(self, database, statement, *values):
        """Change one row of a database of the stopped cloud behind its back."""
        path = os.path.join(self.state_dir, 'db', f'{database}.sqlite')
        with contextlib.closing(sqlite3.connect(path)) as connection, connection:
            self.assertEqual(1, connection.execute(statement, values).rowcount)

    def test_a_cloud_is_as_before_after_ctrl_c(self):
        process = self.up()
        self.assertEqual(f'http://127.0.0.1:{self.port}/compute/v2.1', self.url)
        servers = [self.boot(name) for name in ('one', 'two', 'three')]
        self.cloud.compute.stop_server(servers[2])
        self.cloud.compute.wait_for_server(servers[2], status='SHUTOFF', interval=0.1, wait=RUN_S)
        guests, shown = self.guests(), self.shown()
        self.assertEqual({server.id for server in servers[:2]}, set(guests))
        self.assertEqual([1, 1], [len(nodes) for nodes in guests.values()])

        self.interrupt(process)
        self.assertFalse(ports.listening(self.port))
        self.assertEqual(guests, self.guests())

        process = self.up()
        self.assertEqual(shown, self.shown())
        self.assertEqual(guests, self.guests())
        code, told, _progress = commands.run('verify', '--state-dir', self.state_dir)
        self.assertEqual((0, 'No invariant is violated.\n'), (code, told))
        self.boot('four')
        self.interrupt(process)

        process = self.up('--fresh')
        self.assertEqual(({}, {}), (self.shown(), self.guests()))
        self.interrupt(process)

    def test_a_cloud_at_all_addresses(self):
        """A client that knows one address, such as that of a container, uses no other."""
        process = self.up('--cells', '1', '--hosts', '1', '--listen', '0.0.0.0')
        self.assertEqual(f'http://127.0.0.1:{self.port}/compute/v2.1', self.url)
        elsewhere = f'http://{ELSEWHERE}:{self.port}'
        path = os.path.join(self.state_dir, 'clouds.yaml')
        self.cloud = client_connections.connect(path, auth={'auth_url': f'{elsewhere}/identity/v3'})
        self.boot('one')
        asked = ('compute', 'placement', 'image', 'network', 'block-storage', 'identity')
        found = [self.cloud.session.get_endpoint(service_type=kind) for kind in asked]
        self.assertEqual([], [url for url in found if not url.startswith(f'{elsewhere}/')])
        [server] = self.cloud.compute.get('/servers').json()['servers']
        self.assertIn(f'{elsewhere}/', server['links'][0]['href'])
        self.interrupt(process)

    def test_ctrl_c_while_it_starts(self):
        process = self.useFixture(
            forking.Daemon(
                [COMMAND, 'up', '--state-dir', self.state_dir, '--port', self.port], name='up'
            )
        )
        process.start()
        process.wait_for_log('databases', READY_S)
        self.interrupt(process)
        self.assertNotIn('Traceback', process.log_text())
        self.interrupt(self.up())

    def test_verify_names_what_is_planted_in_a_stopped_cloud(self):
        process = self.up('--cells', '1')
        server = self.boot('one')
        self.interrupt(process)
        verify = ('verify', '--state-dir', self.state_dir)
        code, told, progress = commands.run(*verify)
        self.assertEqual((0, 'No invariant is violated.\n'), (code, told), progress)

        self.alter('placement', 'DELETE FROM allocations WHERE resource_class_id = 0')
        code, told, _progress = forking.run([COMMAND, *verify], timeout_s=RUN_S)
        self.assertEqual(1, code)
        self.assertIn('I4 ', told)
        self.assertIn(server.id, told)

        self.alter('api', 'DELETE FROM instance_mappings WHERE instance_uuid = ?', server.id)
        code, told, _progress = commands.run(*verify, '--json')
        self.assertEqual(1, code)
        self.assertIn('"I5"', told)
        self.assertIn('no mapping', told)


class RefusalsTest(testtools.TestCase):
    """Settings that cannot work: reported before anything is started, with advice."""

    def setUp(self):
        super().setUp()
        self.directory = self.useFixture(fixtures.TempDir())
        self.state_dir = self.directory.join('state')
        self.port = self.useFixture(ports.Port()).number

    def refused(self, *args):
        """The message of an `up` that does not come up."""
        code, told, message = commands.run(
            'up', '--state-dir', self.state_dir, '--port', str(self.port), *args
        )
        self.assertEqual((2, ''), (code, told), message)
        self.assertEqual(1, message.count('\n'), message)
        self.assertTrue(message.startswith('nova-lite up: '), message)
        return message

    def test_a_port_in_use(self):
        with socket.create_server(('127.0.0.1', self.port)):
            message = self.refused()
        self.assertIn(f'Port {self.port} of 127.0.0.1', message)
        self.assertIn('Choose another with --port', message)

    def test_a_state_directory_in_use(self):
        holder = self.useFixture(
            forking.Daemon(
                [COMMAND, 'up', '--state-dir', self.state_dir, '--port', self.port], name='up'
            )
        )
        holder.start()
        holder.wait_for_log('databases', READY_S)
        message = self.refused()
        self.assertIn(f'{self.state_dir} is in use by process {holder.pid}', message)
        self.assertIn('--state-dir', message)

    def test_a_profile_that_is_not_there(self):
        message = self.refused('--profile', self.directory.join('nope.yaml'))
        self.assertIn('nope.yaml', message)
        self.assertIn('instant', message)

    def test_a_profile_that_is_no_yaml(self):
        path = self.directory.join('bad.yaml')
        with open(path, 'w') as profile:
            profile.write('hosts:\n  - match: [')
        message = self.refused('--profile', path)
        self.assertIn('bad.yaml: line ', message)

    def test_buses(self):
        for url, part in (
            ('foo', '{cell}'),
            ('foo://{cell}', 'does not support foo'),
            ('rabbit:///{cell}', 'names no host'),
            ('rabbit://nova:hidden@host:port/{cell}', 'not the URL of a broker'),
        ):
            message = self.refused('--bus', url)
            self.assertIn(part, message)
            self.assertNotIn('hidden', message)

    def test_databases(self):
        for url, part in (
            ('foo', 'not the URL of a database server'),
            ('oracle://nova:hidden@host', 'does not support oracle'),
            ('mysql+pymysql://nova:hidden@host/nova', 'must not name a database'),
        ):
            message = self.refused('--db', url)
            self.assertIn(part, message)
            self.assertNotIn('hidden', message)

    def test_numbers(self):
        for option, value in (('--cells', '0'), ('--hosts', '-1'), ('--port', '99999')):
            self.assertIn(option, self.refused(option, value))
        self.assertIn('--speed', self.refused('--speed', '0'))

    def test_a_broker_that_is_away_is_waited_for(self):
        process = self.useFixture(
            forking.Daemon(
                [COMMAND, 'up', '--state-dir', self.state_dir, '--port', self.port,
                 '--bus', f'rabbit://nova:hidden@{NOWHERE}/{{cell}}'],
                name='up',
            )
        )  # fmt: skip
        process.start()
        process.wait_for_log(f'waiting: The broker is not available: {NOWHERE}', READY_S)
        process.signal(signal.SIGINT)
        self.assertEqual(0, process.wait(STOP_S))
        self.assertNotIn('hidden', process.log_text())

    def test_a_database_server_that_is_away(self):
        code, _told, message = commands.run(
            'up', '--state-dir', self.state_dir, '--port', str(self.port),
            '--db', f'mysql+pymysql://nova:hidden@{NOWHERE}',
        )  # fmt: skip
        self.assertEqual(2, code)
        self.assertIn('database server is not available', message)
        self.assertNotIn('hidden', message)

    def test_commands_for_a_cloud_that_is_none(self):
        for command in (('verify',), ('bench', 'boot'), ('saga', 'list')):
            code, _told, message = commands.run(*command, '--state-dir', self.state_dir)
            self.assertEqual(2, code, message)
            self.assertIn(self.state_dir, message)

    def test_the_exit_code_of_a_process(self):
        verify = [COMMAND, 'verify', '--state-dir', self.state_dir]
        code, told, message = forking.run(verify, timeout_s=RUN_S)
        self.assertEqual((2, ''), (code, told))
        self.assertIn(self.state_dir, message)
        self.assertNotIn('Traceback', message)
