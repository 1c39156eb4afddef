"""The unmodified command line clients, as processes, against one cloud.

All tests share a cloud, and what can be asked at the same time is.
"""

import functools
import re

import testtools

from nova_lite import runtime
from nova_lite.simcloud import seed
from tests.fixtures import cli as cli_fixture
from tests.fixtures import cloud as cloud_fixture
from tools import sample

AT_ONCE = 3
ACTIVE = {'Status': 'ACTIVE', 'Power State': 1, 'Task State': None}


@sample.in_turns(3)
class ClientTest(testtools.TestCase):
    """The cloud has three hosts a cell; each test deletes what it made."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cloud = cloud_fixture.Cloud(cells=2, hosts=3)
        cls.cloud.setUp()
        cls.addClassCleanup(cls.cloud.cleanUp)

    def setUp(self):
        super().setUp()
        self.useFixture(cloud_fixture.warnings())
        self.cli = self.useFixture(cli_fixture.Cli(self.cloud))

    def tearDown(self):
        self.assertEqual([], self.cloud.findings())
        super().tearDown()

    def together(self, call, *commands):
        """Run several commands at the same time; what each gave."""
        with runtime.executor(AT_ONCE) as pool:
            started = [pool.submit(call, *words.split()) for words in commands]
            return [each.result() for each in started]

    def show(self, *commands):
        """The decoded output of each command."""
        return self.together(self.cli.show, *commands)

    def run_all(self, *commands):
        """Return what each command prints."""
        return self.together(self.cli.openstack, *commands)

    # ---- servers ----

    def test_life_of_servers(self):
        self.cli.openstack('keypair', 'create', 'mine')
        base = 'server create --flavor m1.tiny --image cirros --wait'
        one, two, trio = self.show(
            f'{base} --network private --key-name mine one',
            f'{base} --nic none two',
            f'{base} --nic none --min 3 --max 3 trio',
        )
        self.check_created(one, two, trio)
        self.check_lists(one)
        self.check_actions(one)
        self.run_all('server delete --wait one two', 'server delete --wait trio-1 trio-2 trio-3')
        self.assertEqual([], self.cli.show('server', 'list'))
        self.cli.openstack('keypair', 'delete', 'mine')

    def check_created(self, one, two, trio):
        self.assertEqual({'ACTIVE'}, {each['status'] for each in (one, two, trio)})
        self.assertEqual('mine', one['key_name'])
        self.assertEqual(['private'], list(one['addresses']))
        self.assertEqual({}, two['addresses'])
        self.assertEqual('trio-1', trio['name'])
        self.assertEqual('m1.tiny', one['flavor']['original_name'])
        self.assertNotEqual('', two['adminPass'])

    def check_lists(self, one):
        listed, shown, cirros = self.show(
            'server list --long', 'server show one', 'server list --image cirros --name ^tw'
        )
        self.assertEqual(
            ['one', 'trio-1', 'trio-2', 'trio-3', 'two'], sorted(each['Name'] for each in listed)
        )
        for each in listed:
            self.assertEqual({**each, **ACTIVE, 'Flavor': 'm1.tiny'}, each)
        # Each of the three requests may choose a host while the others do.
        self.assertGreaterEqual(len({each['Host'] for each in listed}), 3)
        self.assertEqual({'cell1', 'cell2'}, {each['Host'][:5] for each in listed})
        self.assertEqual(one['id'], shown['id'])
        self.assertEqual(one['addresses'], shown['addresses'])
        self.assertFalse(shown['locked'])
        self.assertEqual(['two'], [each['Name'] for each in cirros])

    def check_actions(self, one):
        # This client has no --wait for stop and start.
        self.run_all('server stop one', 'server reboot --wait two')
        self.wait_for_status(one, 'SHUTOFF')
        self.cli.openstack('server', 'start', 'one')
        self.wait_for_status(one, 'ACTIVE')
        answer = self.cli.openstack('server', 'reboot', '--hard', '--wait', 'one')
        self.assertIn('Complete', answer)
        self.wait_for_status(one, 'ACTIVE')
        listed = self.cli.show('server', 'event', 'list', 'one')
        self.assertEqual(['reboot', 'start', 'stop', 'create'], [each['Action'] for each in listed])
        request = listed[2]['Request ID']
        shown = self.cli.show('server', 'event', 'show', 'one', request)
        self.assertEqual(('stop', request), (shown['action'], shown['request_id']))
        (event,) = shown['events']
        self.assertEqual('compute_stop_instance', event['event'])
        self.assertEqual('Success', event['result'])

    def wait_for_status(self, server, status):
        self.cloud.wait_for(
            lambda: self.cloud.admin.compute.get_server(server['id']).status == status,
            f'{server["name"]} to be {status}',
        )

    def test_no_such_server(self):
        self.cli.openstack('server', 'show', 'nobody', status=1)

    # ---- the nova client ----

    def test_boot_and_list(self):
        options = '--flavor m1.tiny --image cirros'
        printed, _ = self.together(
            self.cli.nova,
            f'boot {options} --nic net-name=private --poll first',
            f'boot {options} --nic none --poll second',
        )
        self.assertIn('Finished', printed)
        rows = self.rows(self.cli.nova('list'))
        self.assertEqual(['first', 'second'], sorted(row['Name'] for row in rows))
        self.assertEqual({'ACTIVE'}, {row['Status'] for row in rows})
        networks = {row['Name']: row['Networks'] for row in rows}
        self.assertTrue(re.fullmatch(r'private=10\.0\.0\.\d+', networks['first']), networks)
        self.cli.nova('delete', 'first', 'second')
        for row in rows:
            self.cloud.wait_for(
                functools.partial(self.is_gone, row['ID']), f'{row["Name"]} to be gone'
            )

    def is_gone(self, uuid):
        return self.cloud.admin.compute.find_server(uuid) is None

    def rows(self, printed):
        """The rows of a table as the nova client draws it."""
        cells = [
            [cell.strip() for cell in line.strip('|').split('|')]
            for line in printed.splitlines()
            if line.startswith('|')
        ]
        return [dict(zip(cells[0], row, strict=True)) for row in cells[1:]]

    # ---- what surrounds servers: what there is to choose from, what an operator sets ----

    def test_what_there_is(self):
        flavors, images, networks, zones = self.show(
            'flavor list', 'image list', 'network list', 'availability zone list --compute'
        )
        self.assertIn(('m1.tiny', 512), [(each['Name'], each['RAM']) for each in flavors])
        self.assertEqual(sorted(seed.IMAGES), sorted(each['Name'] for each in images))
        self.assertEqual({'active'}, {each['Status'] for each in images})
        self.assertIn('private', [each['Name'] for each in networks])
        self.assertIn(('nova', 'available'), [tuple(zone.values()) for zone in zones])

    def test_hosts(self):
        hypervisors, shown, services = self.show(
            'hypervisor list', 'hypervisor show cell2-host3', 'compute service list'
        )
        hosts = [f'cell{cell}-host{host}' for cell in (1, 2) for host in (1, 2, 3)]
        self.assertEqual(hosts, sorted(each['Hypervisor Hostname'] for each in hypervisors))
        self.assertEqual({'up'}, {each['State'] for each in hypervisors})
        self.assertEqual('cell2-host3', shown['service_host'])
        found = {(each['Binary'], each['Host']) for each in services}
        self.assertEqual(
            {*(('nova-compute', host) for host in hosts)},
            {each for each in found if each[0] == 'nova-compute'},
        )
        self.assertEqual({'up'}, {each['State'] for each in services})

    def test_disabling_a_service(self):
        host = 'cell1-host1'
        change = ('compute', 'service', 'set')
        self.cli.openstack(*change, '--disable', '--disable-reason', 'broken', host, 'nova-compute')
        (service,) = self.cli.show('compute', 'service', 'list', '--host', host, '--long')
        self.assertEqual(('disabled', 'broken'), (service['Status'], service['Disabled Reason']))
        self.cli.openstack(*change, '--enable', host, 'nova-compute')
        (service,) = self.cli.show('compute', 'service', 'list', '--host', host)
        self.assertEqual('enabled', service['Status'])
        # The older command for the same.
        for option, status in (('--disable', 'disabled'), ('--enable', 'enabled')):
            self.cli.openstack('host', 'set', option, host)
            (service,) = self.cli.show('compute', 'service', 'list', '--host', host)
            self.assertEqual(status, service['Status'])

    def test_deleting_a_service(self):
        """The service of a daemon that runs is created again."""
        listing = ('compute', 'service', 'list', '--service', 'nova-scheduler')
        (service,) = self.cli.show(*listing)
        self.cli.openstack('compute', 'service', 'delete', service['ID'])

        def came_back():
            return list(self.cloud.admin.compute.services(binary='nova-scheduler'))

        self.cloud.wait_for(came_back, 'the scheduler to report itself')
        (again,) = self.cli.show(*listing)
        self.assertNotEqual(service['ID'], again['ID'])

    def test_aggregates(self):
        made = self.cli.show('aggregate', 'create', '--zone', 'east', 'rack')
        self.assertEqual(('rack', 'east'), (made['name'], made['availability_zone']))
        self.cli.openstack('aggregate', 'set', '--property', 'ssd=true', 'rack')
        added = self.cli.show('aggregate', 'add', 'host', 'rack', 'cell2-host2')
        self.assertEqual(['cell2-host2'], added['hosts'])
        shown, zones = self.show('aggregate show rack', 'availability zone list --compute')
        self.assertEqual({'ssd': 'true'}, shown['properties'])
        self.assertIn('east', [zone['Zone Name'] for zone in zones])
        # Aggregates are placement's as well, which has its own command.
        (provider,) = self.cli.show('resource', 'provider', 'list', '--name', 'cell2-host2')
        aggregates = self.cli.show('resource', 'provider', 'aggregate', 'list', provider['uuid'])
        self.assertEqual([made['uuid']], [each['uuid'] for each in aggregates])
        caching = ('--os-compute-api-version', '2.81', 'aggregate', 'cache', 'image')
        self.cli.openstack(*caching, 'rack', 'cirros')
        self.cli.openstack('aggregate', 'remove', 'host', 'rack', 'cell2-host2')
        self.cli.openstack('aggregate', 'delete', 'rack')

    def test_groups_keys_and_quotas(self):
        group, keys, limits = self.show(
            'server group create --policy anti-affinity apart', 'keypair list', 'quota show'
        )
        self.assertEqual(('apart', 'anti-affinity'), (group['name'], group['policy']))
        self.assertEqual([], keys)
        self.assertEqual(10, {each['Resource']: each['Limit'] for each in limits}['instances'])
        private, _ = self.run_all('keypair create other', 'quota set --cores 50 --ram -1 demo')
        self.assertIn('PRIVATE KEY', private)
        keys, limits, _groups = self.show('keypair list', 'quota show demo', 'server group list')
        self.assertEqual(['other'], [each['Name'] for each in keys])
        limits = {each['Resource']: each['Limit'] for each in limits}
        self.assertEqual((50, -1), (limits['cores'], limits['ram']))
        self.run_all('keypair delete other', 'server group delete apart')
