"""The unmodified command line client attaches and detaches, shelves and rescues.

It runs as a process, so these tests are not played in the simulation.
"""

import os

from nova_lite.virt.sim import passwords
from tests.fixtures import attaching
from tests.fixtures import cli as cli_fixture
from tests.functional import base
from tools import sample

OLD = ('--os-compute-api-version', '2.47')


@sample.in_turns(2)
class ServerClientTest(base.CloudTest):
    settings = {'cells': 1, 'hosts': 2}

    def setUp(self):
        super().setUp()
        self.cli = self.useFixture(cli_fixture.Cli(self.cloud))
        self.hands = attaching.Attaching(self.cloud)
        self.server = self.cloud.boot('mine')

    def test_volumes(self):
        self.cli.openstack('volume', 'create', '--size', '1', 'data')
        added = self.cli.show('server', 'add', 'volume', '--tag', 'blue', 'mine', 'data')
        self.assertEqual('/dev/vdb', added['Device'])
        self.hands.wait_idle(self.server)
        (listed,) = self.cli.show('server', 'volume', 'list', 'mine')
        self.assertEqual(('/dev/vdb', 'blue'), (listed['Device'], listed['Tag']))
        self.assertFalse(listed['Delete On Termination?'])
        self.cli.openstack('server', 'volume', 'update', '--delete-on-termination', 'mine', 'data')
        (listed,) = self.cli.show('server', 'volume', 'list', 'mine')
        self.assertTrue(listed['Delete On Termination?'])
        self.assertEqual('in-use', self.cli.show('volume', 'show', 'data')['status'])
        self.cli.openstack('server', 'remove', 'volume', 'mine', 'data')
        self.hands.wait_idle(self.server)
        self.assertEqual([], self.cli.show('server', 'volume', 'list', 'mine'))
        self.assertEqual('available', self.cli.show('volume', 'show', 'data')['status'])
        self.cli.openstack('server', 'remove', 'volume', 'mine', 'data', status=1)

    def test_ports(self):
        self.cli.openstack('server', 'add', 'network', 'mine', 'private')
        (made,) = self.cli.show('port', 'list', '--server', 'mine')
        self.cli.openstack('port', 'create', '--network', 'private', 'given')
        self.cli.openstack('server', 'add', 'port', '--tag', 'blue', 'mine', 'given')
        listed = self.cli.show('port', 'list', '--server', 'mine')
        self.assertEqual({'', 'given'}, {each['Name'] for each in listed})
        self.cli.openstack('server', 'remove', 'port', 'mine', 'given')
        self.cli.openstack('server', 'remove', 'port', 'mine', made['ID'])
        self.hands.wait_idle(self.server)
        (left,) = self.cli.show('port', 'list', '--name', 'given')
        self.assertEqual('DOWN', left['Status'])
        self.assertEqual([], self.cli.show('port', 'list', '--server', 'mine'))

    def test_security_groups(self):
        self.cli.openstack('server', 'add', 'network', 'mine', 'private')
        self.cli.openstack('security', 'group', 'create', 'web')
        self.cli.openstack('server', 'add', 'security', 'group', 'mine', 'web')
        (port,) = self.cli.show('port', 'list', '--server', 'mine')
        found = self.cli.show('port', 'show', port['ID'])['security_group_ids']
        self.assertEqual(2, len(found))
        shown = self.cli.show('server', 'show', 'mine')['security_groups']
        self.assertEqual(['default', 'web'], [group['name'] for group in shown])
        table = self.cli.nova('list-secgroup', 'mine')
        self.assertIn('| web ', table)
        self.cli.openstack('server', 'remove', 'security', 'group', 'mine', 'web')
        self.assertEqual(1, len(self.cli.show('port', 'show', port['ID'])['security_group_ids']))
        self.cli.openstack('server', 'remove', 'security', 'group', 'mine', 'web', status=1)
        self.cli.openstack('security', 'group', 'delete', 'web')

    def test_diagnostics(self):
        shown = self.cli.show('server', 'show', '--diagnostics', 'mine')
        self.assertEqual('running', shown['state'])
        self.assertEqual((1, 1, 0), (shown['num_cpus'], shown['num_disks'], shown['num_nics']))
        self.assertIn('vda_read', self.cli.nova(*OLD, 'diagnostics', 'mine'))

    def test_password(self):
        self.cli.openstack('server', 'set', '--password', 'open sesame', 'mine')
        self.cloud.wait(self.server)
        kept = self.hands.guest(self.server).spec.password
        self.assertTrue(passwords.matches(kept, 'open sesame'))
        self.assertEqual('', self.cli.nova('get-password', 'mine').strip())
        self.cli.nova('clear-password', 'mine')

    def test_shelve(self):
        self.cli.openstack('server', 'shelve', 'mine')
        self.cloud.wait(self.server, 'SHELVED_OFFLOADED')
        self.hands.wait_idle(self.server)
        self.cli.openstack('server', 'unshelve', 'mine')
        self.cloud.wait(self.server, 'ACTIVE')
        self.hands.wait_idle(self.server)

    def test_rebuild(self):
        self.cli.openstack('image', 'create', '--disk-format', 'raw', 'other', '--file', os.devnull)
        words = ('--name', 'yours', '--property', 'a=b', '--password', 'secret')
        shown = self.cli.show('server', 'rebuild', *words, '--image', 'other', 'mine')
        self.assertEqual(('yours', 'secret'), (shown['name'], shown['adminPass']))
        self.cloud.wait(self.server)
        found = self.cli.show('server', 'show', 'yours')
        self.assertIn('other', str(found['image']))
        self.assertEqual({'a': 'b'}, found['properties'])
        self.cli.openstack('server', 'rebuild', '--wait', 'yours')

    def test_topology(self):
        sizes = ('--vcpus', '2', '--ram', '64', '--disk', '1')
        self.cli.openstack('flavor', 'create', *sizes, '--property', 'hw:numa_nodes=1', 'numa')
        words = ('--flavor', 'numa', '--image', 'cirros', '--nic', 'none', '--wait')
        self.cli.openstack('server', 'create', *words, 'wide')
        version = ('--os-compute-api-version', '2.78')
        shown = self.cli.show(*version, 'server', 'show', '--topology', 'wide')['topology']
        node = {'vcpu_set': [0, 1], 'siblings': [], 'memory_mb': 64}
        nodes = [{**node, 'host_node': 0, 'cpu_pinning': {}}]
        self.assertEqual({'nodes': nodes, 'pagesize_kb': None}, shown)

    def test_crash_dump(self):
        self.cli.openstack('server', 'dump', 'create', 'mine')
        self.hands.wait_idle(self.server)
        self.cli.nova('trigger-crash-dump', self.server.id)
        self.hands.wait_idle(self.server)
        listed = self.cli.show('server', 'event', 'list', 'mine')
        actions = [each['Action'] for each in listed]
        self.assertEqual(['trigger_crash_dump', 'trigger_crash_dump', 'create'], actions)

    def test_rescue(self):
        self.cli.openstack('server', 'rescue', '--image', 'debian', '--password', 'secret', 'mine')
        self.cloud.wait(self.server, 'RESCUE')
        self.cli.openstack('server', 'unrescue', 'mine')
        self.cloud.wait(self.server, 'ACTIVE')
