"""Drills in a cloud of processes: commands strike its hosts, daemons, buses and services."""

import json
import os

import requests
import testtools

from nova_lite.lab.launcher import database_servers
from nova_lite.lab.launcher import running
from tests.fixtures import commands
from tests.fixtures import mariadb
from tests.fixtures import process_cloud
from tests.fixtures import rabbit
from tests.fixtures import servers
from tools import sample

LOST_S = 120
OPTIONS = {'DEFAULT': {'service_down_time': 8}}
# Work in progress goes on after each drill; the cloud has no clock that could be advanced.
SETTLE_S = 120


@sample.in_turns(3, first=2)
class DrillsTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        servers.require(rabbit.Rabbit, mariadb.MariaDB)
        self.cloud = self.useFixture(
            process_cloud.ProcessCloud(
                mariadb.MariaDB(),
                cells=2,
                hosts=2,
                options=OPTIONS,
                drills=True,
                process_per_host=True,
            )
        )
        # `nova-lite up` does so once the cloud is ready.
        running.write(self.cloud.state_dir, running.of(self.cloud.cloud.places))

    def run_command(self, line, code=0):
        found, out, errors = commands.run(*line.split(), '--state-dir', self.cloud.state_dir)
        self.assertEqual(code, found, f'{line}: {out}{errors}')
        return errors if code else out

    def faults(self):
        """Return the texts of all faults."""
        return self.run_command('fault list')

    def states(self):
        """Return {host: state} of the compute services, 'unknown' in a lost cell."""
        found = self.cloud.api('GET', '/os-services?binary=nova-compute').json()['services']
        return {each['host']: each['state'] for each in found}

    def wait_for_state(self, host, state):
        self.cloud.wait_for(
            lambda: self.states().get(host) == state, f'{host} to be {state}', LOST_S
        )

    def test_drills(self):
        self.check_refusals()
        self.check_scenario()
        self.check_host()
        self.check_failures()
        self.check_services()
        self.check_bus()
        self.check_cell()
        self.check_daemons()
        self.check_lost_process()
        self.assertEqual([], self.cloud.findings(SETTLE_S))
        self.check_the_end()

    def check_refusals(self):
        """The commands that need one process are refused with a way out."""
        for line in ('reset', 'clock freeze', 'reset --list'):
            self.assertIn('`nova-lite up` without --bus', self.run_command(line, 2))
        for line, cause, way_out in (
            ('host off cell1-host9', 'cell1-host9', 'cell1-host1, cell1-host2'),
            ('cell down cell3', 'cell3', 'cell1, cell2'),
            ('bus cut cell3', 'cell3', 'top, cell1, cell2'),
            ('daemon kill compute.cell3', 'compute.cell3', 'compute.cell1-host1'),
            ('fault add --verb spawn --host nosuch', 'nosuch', 'cell1-host1'),
        ):
            errors = self.run_command(line, 2)
            self.assertIn(cause, errors)
            self.assertIn(way_out, errors)

    def check_host(self):
        """A host is lost alone, and its servers can be evacuated."""
        server = self.cloud.boot('lost', availability_zone='nova:cell1-host1')
        self.run_command('host off cell1-host1')
        self.wait_for_state('cell1-host1', 'down')
        self.wait_for_state('cell1-host2', 'up')
        self.run_command('evacuate-host cell1-host1 --force-down --yes')
        self.assertEqual('cell1-host2', self.cloud.admin.get_server(server.id).compute_host)
        self.run_command('host on cell1-host1')
        self.bring_back('cell1-host1')

    def bring_back(self, host):
        """Wait until `undrain` ends the forced down of a host."""

        def is_back():
            code, *_texts = commands.run('undrain', host, '--state-dir', self.cloud.state_dir)
            return code == 0 and self.states()[host] == 'up'

        self.cloud.wait_for(is_back, f'{host} to come back', LOST_S)

    def check_failures(self):
        self.run_command('fault add --verb spawn --host cell1-* --first 1')
        self.assertIn('spawn fails on cell1-* (first 1)', self.faults())
        server = self.cloud.boot('failing', availability_zone='nova:cell1-host2', status='ERROR')
        self.cloud.admin.compute.delete_server(server)
        # The second time it does not fail.
        self.cloud.boot('working', availability_zone='nova:cell1-host2')
        self.run_command('fault clear')
        self.assertNotIn('spawn', self.faults())

    def check_services(self):
        url = f'{self.cloud.cloud.urls["placement"]}/placement/'
        self.run_command('fault add --service placement --status 418 --first 1')
        self.assertEqual([418, 200], [requests.get(url, timeout=60).status_code for _ in '12'])
        self.run_command('fault clear')

    def check_bus(self):
        """Boots wait while the bus of the cell is away, and go on."""
        for action in ('cut', 'freeze'):
            self.run_command(f'bus {action} cell2')
            self.wait_for_state('cell2-host1', 'down')
            self.wait_for_state('cell1-host2', 'up')
            self.run_command('bus heal')
            self.assertNotIn('bus of', self.faults())
            self.wait_for_state('cell2-host1', 'up')
            self.cloud.boot(f'after-{action}', availability_zone='nova:cell2-host1')

    def check_cell(self):
        self.run_command('cell down cell2')
        self.assertIn('database of cell2 is down', self.faults())
        self.cloud.wait_for(lambda: 'after-cut' not in self.names(), 'the cell to be lost', LOST_S)
        self.assertIn('working', self.names())
        self.run_command('cell up cell2')
        self.wait_for_state('cell2-host1', 'up')

    def names(self):
        """Return the names of the servers in the cells that answer."""
        return [each['name'] for each in self.cloud.servers()]

    def check_scenario(self):
        """A drill runs as in one process, also with the debugger; none changes the clock."""
        out = self.run_command('scenario run conductor-killed-in-cross-cell-resize')
        self.assertIn('passed', out)
        errors = self.run_command('scenario run clock-step', 2)
        self.assertIn('which read the clocks of their machines', errors)

    def daemons(self):
        found = json.loads(self.run_command('daemon list --json'))['daemons']
        return {each['name']: each for each in found}

    def check_daemons(self):
        self.run_command('daemon stop compute.cell2-host1')
        self.assertEqual('stopped', self.daemons()['compute.cell2-host1']['state'])
        self.assertIn('daemon start', self.run_command('daemon kill compute.cell2-host1', 2))
        self.wait_for_state('cell2-host1', 'down')
        self.wait_for_state('cell2-host2', 'up')
        self.run_command('daemon start compute.cell2-host1')
        self.wait_for_state('cell2-host1', 'up')
        before = self.daemons()['super-conductor.top']
        self.run_command('daemon kill super-conductor.top')
        self.cloud.wait_for(
            lambda: self.daemons()['super-conductor.top']['starts'] > before['starts'],
            'the super-conductor to start again',
            LOST_S,
        )
        self.cloud.boot('after-all')

    def check_lost_process(self):
        """Servers move between the processes of hosts, and leave a host whose process is lost."""
        server = self.cloud.boot('moving', availability_zone='nova:cell2-host1')
        self.cloud.admin.compute.live_migrate_server(server, host=None, block_migration='auto')
        self.wait_for_host(server, 'cell2-host2')
        self.run_command('daemon stop compute.cell2-host2')
        self.wait_for_state('cell2-host2', 'down')
        self.wait_for_state('cell2-host1', 'up')
        # The guest runs on without the process of its host.
        self.run_command('host off cell2-host2')
        self.run_command('evacuate-host cell2-host2 --force-down --yes')
        self.wait_for_host(server, 'cell2-host1')
        self.run_command('host on cell2-host2')
        self.run_command('daemon start compute.cell2-host2')
        self.bring_back('cell2-host2')

    def wait_for_host(self, server, host):
        def is_there():
            found = self.cloud.admin.get_server(server.id)
            return (host, 'ACTIVE') == (found.compute_host, found.status)

        self.cloud.wait_for(is_there, f'the server to be on {host}', LOST_S)

    def check_the_end(self):
        """Faults end with the cloud; commands for a stopped cloud reach its databases."""
        self.run_command('bus cut cell1')
        self.cloud.stop()
        code, out, errors = commands.run('verify', '--state-dir', self.cloud.state_dir)
        self.assertEqual(0, code, out + errors)
        path = self.cloud.cloud.places.failures_path('cell1')
        with open(path) as file:
            self.assertEqual('[]', file.read())
        self.assertFalse(os.path.exists(os.path.join(self.cloud.state_dir, 'run', 'control.json')))
        self.assertEqual(5, len(self.databases()))
        out = self.run_command('stop --delete')
        self.assertEqual(5, out.count('database nova_lite_'), out)
        self.assertEqual([], self.databases())
        self.assertFalse(os.path.exists(self.cloud.state_dir))

    def databases(self):
        """Return the names of the databases of the cloud."""
        prefix = self.cloud.cloud.places.database_name('')
        with database_servers.connected(self.cloud.database.root_url) as connection:
            return [each for each in database_servers.names(connection) if each.startswith(prefix)]
