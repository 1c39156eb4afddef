"""Imports of clouds with odd objects: the file can be started, and what it lacks is named."""

import testtools
import yaml

from nova_lite.lab.twin import group_members
from nova_lite.lab.twin import importing
from nova_lite.virt.sim import nodes
from nova_lite.virt.sim import profile
from tests.unit.lab.twin import answers

PINNED = {'hw:cpu_policy': 'dedicated'}


class OddCloudTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.cloud = answers.Cloud()

    def read(self, **options):
        self.document, self.reading = self.cloud.read(**options)
        return self.document

    def rule(self, host):
        return profile.parse(yaml.safe_dump(self.document['profile'])).behaviour(host)

    def servers(self):
        """Return {name of a server in the twin: its entry}."""
        return {each['name']: each for each in self.document.get('servers', ())}

    def noted(self, *texts):
        """Check that each note has one of the texts, in any order."""
        notes = list(self.reading.notes)
        for text in texts:
            (found,) = [note for note in notes if text in note]
            notes.remove(found)
        self.assertEqual([], notes)


class HostsTest(OddCloudTestCase):
    def test_no_hosts(self):
        error = self.assertRaises(importing.NoHosts, self.read)
        self.assertIn('has no host for a twin. Import a cloud with hosts', str(error))
        self.cloud.add_host('a')
        self.cloud.providers.clear()
        error = self.assertRaises(importing.NoHosts, self.read)
        self.assertIn('it lacks 1 host that placement does not know (a)', str(error))

    def test_nothing_but_hosts(self):
        """No flavor, server, aggregate or group is needed."""
        self.cloud.add_host('a')
        found = self.read()
        self.assertEqual({'format', 'cells', 'profile', 'defaults', 'images'}, set(found))
        self.assertEqual([], self.reading.notes + self.reading.kept + self.reading.assumed)

    def test_states(self):
        """Hosts are disabled or down as in the cloud. Reasons are texts of people."""
        reason = {'status': 'disabled', 'disabled_reason': 'Ann replaces it'}
        self.cloud.add_host('a', **reason)
        self.cloud.add_host('b', state='down')
        self.cloud.add_host('c', state='down', forced_down=True, **reason)
        self.cloud.add_host('d')
        found = self.read()
        self.assertEqual([{'hosts': ['a', 'c']}], found['disabled_hosts'])
        self.assertEqual([{'hosts': ['b', 'c']}], found['down_hosts'])
        disabled, down = self.reading.kept
        self.assertEqual('2 hosts (a, c) are disabled (add --names to keep the reasons)', disabled)
        self.assertIn('2 hosts (b, c) are down', down)
        self.assertEqual(
            [{'hosts': ['a', 'c'], 'reason': 'Ann replaces it'}],
            self.read(shown=True)['disabled_hosts'],
        )
        self.assertNotIn('--names', self.reading.kept[0])

    def test_a_cell_that_does_not_answer(self):
        """Its services and servers have few keys, and its hypervisors are missing."""
        self.cloud.add_host('a')
        self.cloud.services.append({'binary': 'nova-compute', 'host': 'lost', 'status': 'UNKNOWN'})
        self.cloud.servers.append(
            {'id': answers.uuid_of('x'), 'tenant_id': 'p', 'status': 'UNKNOWN', 'links': []}
        )
        found = self.read()
        self.noted(
            '1 host of cells that do not answer (lost)', '1 server that no host is shown for'
        )
        self.assertNotIn('servers', found)

    def test_hosts_and_providers_without_each_other(self):
        self.cloud.add_host('a')
        self.cloud.add_host('forgotten')
        del self.cloud.providers[answers.uuid_of('forgotten')]
        self.cloud.add_host('silent')
        self.cloud.hypervisors.pop()
        self.cloud.add_host('many')
        self.cloud.hypervisors.append({**self.cloud.hypervisors[-1], 'id': answers.uuid_of('2')})
        self.cloud.add_host('odd (name)')
        self.cloud.add_provider('old-host', {'VCPU': 4})
        self.cloud.add_provider('a-child', {'CUSTOM_A': 4}, root='a')
        self.cloud.add_server('lost', 'forgotten', self.cloud.add_flavor('f'))
        found = self.read()
        self.assertEqual([{'hosts': ['a']}], found['cells'])
        self.noted(
            '1 host that placement does not know (forgotten)',
            '1 host with a compute service and without a hypervisor (silent)',
            '1 host with several nodes (many)',
            '1 host whose name no host of a twin can have (odd (name))',
            # The provider of the host without a hypervisor is one of no host, too.
            '2 resource providers of no host (old-host, silent)',
            '1 resource provider below hosts, with CUSTOM_A (a-child)',
            '1 server on hosts that the twin lacks',
        )

    def test_more_nodes_than_a_profile_can_have(self):
        """Guests on the nodes that are missing are left out. What they hold is reserved."""
        most = nodes.MOST_NODES
        offer = {'VCPU': 8, 'PCPU': 2 * most, 'MEMORY_MB': 1024 * most}
        self.cloud.add_host('big', offer, cells=most + 8)
        flavor = self.cloud.add_flavor('pinned', vcpus=1, ram=64, specs=PINNED)
        # Node 0 has one CPU less, for that of the server that is left out.
        for name, node in (('low', 1), ('high', most + 7)):
            row = self.cloud.add_server(
                name, 'big', flavor, held={'PCPU': 1, 'MEMORY_MB': 64, 'DISK_GB': 1}
            )
            self.cloud.add_node(row, node, 1)
        self.read()
        self.assertEqual([answers.uuid_of('low')], list(self.servers()))
        host = self.rule('big')
        self.assertEqual((most, 2 * most - 1), (len(host.numa.nodes), host.numa.dedicated))
        self.assertEqual(64, host.reserved['memory_mb'])
        self.noted(
            f'1 host with more than {most} NUMA nodes, of which the others are missing (big)',
            f'1 server on NUMA nodes after the first {most} of their hosts: their resources',
        )

    def test_hosts_that_offer_little(self):
        """Inventories may be missing, empty, used up or exceeded."""
        self.cloud.add_host('empty', {})
        self.cloud.add_host('metal', {'CUSTOM_GOLD': answers.inventory(1, reserved=1)})
        self.cloud.add_host('full', {'VCPU': 1, 'MEMORY_MB': 512, 'CUSTOM_A': 1})
        flavor = self.cloud.add_flavor('a', specs={'resources:CUSTOM_A': '2'})
        self.cloud.add_server('over', 'full', flavor)
        self.cloud.add_server('again', 'full', flavor)
        self.cloud.add_server('without', 'empty', self.cloud.add_flavor('f'))
        self.read()
        self.assertEqual(2, len(self.servers()))
        self.assertEqual(4, self.rule('full').inventory['CUSTOM_A'])
        self.noted(
            '1 server with resources that placement does not show on their hosts (MEMORY_MB, VCPU)',
            'the limits of VCPU of 1 host (full)',
            'the limits of MEMORY_MB of 1 host (full)',
            'the limits of CUSTOM_A of 1 host (full)',
        )

    def test_aggregates(self):
        """Some have no hosts, or only hosts that the twin lacks."""
        self.cloud.add_host('a')
        for name, hosts, metadata in (
            ('nobody', [], {}),
            ('zone', [], {'availability_zone': 'z'}),
            ('gone', ['x'], {'availability_zone': 'y', 'ssd': 'true'}),
            ('there', ['a', 'x'], {'availability_zone': 'a-zone'}),
        ):
            zone = metadata.get('availability_zone')
            self.cloud.aggregates.append(
                {'name': name, 'hosts': hosts, 'metadata': metadata, 'availability_zone': zone}
            )
        found = self.read()
        self.assertEqual([{'name': 'a-zone', 'hosts': ['a']}], found['zones'])
        self.assertEqual([{'name': 'gone', 'metadata': {'ssd': 'true'}}], found['aggregates'])


class ServersTest(OddCloudTestCase):
    def setUp(self):
        super().setUp()
        for name in ('a', 'b'):
            self.cloud.add_host(name)
        self.flavor = self.cloud.add_flavor('f')

    def add(self, name, host='a', **more):
        return self.cloud.add_server(name, host, more.pop('flavor', self.flavor), **more)

    def statuses(self):
        return {name: each.get('status', 'ACTIVE') for name, each in self.servers().items()}

    def test_states(self):
        """Guests that are off stay off. Servers that change are left out."""
        for status in ('ACTIVE', 'SHUTOFF', 'SHELVED', 'PAUSED', 'SUSPENDED', 'RESCUE'):
            self.add(status, status=status)
        self.add('broken', 'b', status='ERROR')
        self.add('builds', 'b', status='BUILD', **{'OS-EXT-STS:task_state': 'spawning'})
        self.add('odd', 'b', status='UNKNOWN')
        self.read()
        off = {answers.uuid_of(name) for name in ('SHUTOFF', 'SHELVED')}
        found = self.statuses()
        self.assertEqual(6, len(found))
        self.assertEqual(off, {name for name, status in found.items() if status == 'SHUTOFF'})
        self.assertEqual(3 * 512, self.rule('b').reserved['memory_mb'])
        self.noted(
            '3 servers that are changing, deleted or in ERROR: their resources are reserved',
            'the status SHELVED of 1 server, which get SHUTOFF instead',
            *(f'the status {each} of 1 server' for each in ('PAUSED', 'SUSPENDED', 'RESCUE')),
        )

    def test_servers_without_a_host(self):
        self.add('failed', None, status='ERROR')
        self.add('waits', None, status='BUILD', **{'OS-EXT-STS:task_state': 'scheduling'})
        self.add('away', None, status='SHELVED_OFFLOADED')
        self.read()
        self.assertEqual({}, self.servers())
        self.noted('3 servers that no host is shown for')

    def test_a_resize_that_is_not_confirmed(self):
        """The old host keeps what the migration holds, also if it is the new one."""
        large = self.cloud.add_flavor('large', vcpus=2, ram=1024)
        self.add('moved', 'b', flavor=large, status='VERIFY_RESIZE')
        self.cloud.hold('a', answers.uuid_of('migration'), {'VCPU': 1, 'MEMORY_MB': 512})
        self.add('same', 'b', flavor=large, status='VERIFY_RESIZE')
        self.cloud.hold('b', answers.uuid_of('other'), {'VCPU': 1, 'MEMORY_MB': 512})
        self.read()
        for host in ('a', 'b'):
            self.assertEqual((1, 512), (
                self.rule(host).reserved['vcpus'], self.rule(host).reserved['memory_mb']
            ))  # fmt: skip
        self.noted('2 consumers of allocations', 'the status VERIFY_RESIZE of 2 servers')

    def test_flavors_that_are_gone(self):
        """Servers keep them, also with the name of another one."""
        self.cloud.flavors.clear()
        self.add('one')
        self.add('two', flavor={**self.flavor, 'ram': 1024, 'swap': ''})
        odd = {**self.flavor, 'extra_specs': {'hw:nonsense': '1'}, 'original_name': 'odd'}
        self.add('three', flavor=odd)
        found = self.read()
        self.assertEqual(['f', 'f-2', 'odd'], sorted(each['name'] for each in found['flavors']))
        self.noted('hw:nonsense=1 of flavor odd')

    def test_private_flavors(self):
        """A flavor for projects without servers is for administrators."""
        self.cloud.flavors[0]['os-flavor-access:is_public'] = False
        routes = self.cloud._compute

        def with_access():
            path = f'/flavors/{self.cloud.flavors[0]["id"]}/os-flavor-access'
            access = {'flavor_access': [{'tenant_id': 'nobody'}]}
            return {**routes(), path: lambda _query: access}

        self.cloud._compute = with_access
        self.assertEqual([], self.read()['flavors'][0]['projects'])

    def test_root_volumes(self):
        """Placement has no root disk for them, whatever the flavor says."""
        self.add('volume', flavor=self.cloud.add_flavor('v', disk=0))
        self.add('large', flavor=self.cloud.add_flavor('w', disk=90))
        self.add('more', flavor=self.cloud.add_flavor('w2', disk=90))
        found = self.read()
        self.assertEqual([1, 90, 90], sorted(e['volume']['size'] for e in found['servers']))
        self.noted()

    def test_images(self):
        """Some are gone, and some have no name."""
        self.cloud.images['i'] = {
            'id': 'i',
            'name': None,
            'hw_machine_type': 'q35',
            'os_hidden': False,
        }
        self.add('plain', image={'id': 'i'})
        self.add('orphan', image={'id': 'gone'})
        found = self.read(shown=True)
        self.assertEqual(2, len(found['images']))
        self.noted('the properties of image gone')

    def test_groups(self):
        """Members may be deleted, policies unknown, and hosts may violate a policy."""
        for name, policy, rules, members in (
            ('apart', 'anti-affinity', {}, ('a1', 'a2', 'b1', 'deleted')),
            ('two', 'anti-affinity', {'max_server_per_host': 2}, ('a3', 'a4', 'a5')),
            ('together', 'affinity', {}, ('a6', 'b2', 'b3')),
            ('soft', 'soft-anti-affinity', {}, ('a7', 'a8')),
            ('old', None, {}, ('a9',)),
            ('empty', 'affinity', {}, ()),
        ):
            self.cloud.groups.append(
                {
                    'id': name, 'name': name, 'policy': policy, 'rules': rules,
                    'project_id': answers.uuid_of('project'),
                    'members': [answers.uuid_of(each) for each in members],
                }
            )  # fmt: skip
            for each in members:
                if each != 'deleted':
                    self.add(each, each[0])
        found = self.read(shown=True)
        by_group = {}
        for each in found['servers']:
            by_group.setdefault(each.get('group'), set()).add(each['metadata']['name'])
        self.assertEqual({'b1'}, by_group['apart'] & {'b1'})
        self.assertEqual(2, len(by_group['apart']))
        self.assertEqual((2, 2), (len(by_group['two']), len(by_group['soft'])))
        self.assertEqual({'b2', 'b3'}, by_group['together'])
        self.assertNotIn('old', {each['name'] for each in found['server_groups']})
        self.noted(
            '1 server group without a policy that a twin has (old)',
            'the server groups of 3 servers whose hosts violate the policies',
            # Nine servers of one vCPU each are on a host with eight.
            'the limits of VCPU of 1 host (a)',
        )

    def test_zones(self):
        """A server may be elsewhere than in the zone that it was created for."""
        self.cloud.aggregates.append(
            {
                'name': 'z', 'hosts': ['a'], 'metadata': {'availability_zone': 'z'},
                'availability_zone': 'z',
            }
        )  # fmt: skip
        self.add('in', pinned_availability_zone='z')
        self.add('out', 'b', pinned_availability_zone='z')
        self.add('default', 'b', pinned_availability_zone='nova')
        self.read()
        found = {name: each.get('zone') for name, each in self.servers().items()}
        self.assertEqual('z', found.pop(answers.uuid_of('in')))
        self.assertEqual({None}, set(found.values()))
        self.noted('the pinned zones of 1 server, whose hosts are not in these zones')

    def test_pins_to_zones_without_hosts_in_the_twin(self):
        self.cloud.aggregates.append(
            {
                'name': 'z', 'hosts': ['gone'], 'metadata': {'availability_zone': 'z'},
                'availability_zone': 'z',
            }
        )  # fmt: skip
        self.add('out', pinned_availability_zone='z')
        found = self.read()
        self.assertNotIn('zones', found)
        self.noted('the pinned zones of 1 server, whose hosts are not in these zones')


class AmountsTest(OddCloudTestCase):
    """Extra specs that replace the amounts of a flavor."""

    def add(self, host, name, specs, **sizes):
        flavor = self.cloud.add_flavor(name, specs=specs, **sizes)
        return self.cloud.add_server(name, host, flavor)

    def test_amounts_of_zero(self):
        """A server of bare metal claims its own class and nothing else."""
        self.cloud.add_host('metal', {'CUSTOM_GOLD': 1})
        zero = dict.fromkeys(('resources:VCPU', 'resources:MEMORY_MB', 'resources:DISK_GB'), '0')
        self.add('metal', 'gold', {**zero, 'resources:CUSTOM_GOLD': '1'}, vcpus=64, ram=262144)
        self.add('metal', 'none', {**zero, 'resources:CUSTOM_SILVER': '0'}, vcpus=64)
        found = self.read()
        self.assertEqual(2, len(found['servers']))
        self.assertIn('resources:CUSTOM_SILVER', found['flavors'][1]['properties'])
        self.noted()

    def test_dedicated_cpus_by_class(self):
        self.cloud.add_host('a', {'VCPU': 4, 'PCPU': 8, 'MEMORY_MB': 8192})
        row = self.add('a', 'pinned', {'resources:PCPU': '4'}, vcpus=4)
        self.cloud.add_node(row, 0, 4)
        found = self.read()
        self.assertEqual(1, len(found['servers']))
        self.assertEqual(8, self.rule('a').numa.dedicated)
        self.noted()

    def test_other_amounts(self):
        """The amount of the extra spec counts, not that of the flavor."""
        self.cloud.add_host('a', {'VCPU': 4, 'MEMORY_MB': 1024, 'CUSTOM_A': 9})
        specs = {'resources:MEMORY_MB': '1024', 'resources_x:CUSTOM_A': '9', 'resources:VCPU': '1'}
        self.add('a', 'f', specs, vcpus=16, ram=64)
        found = self.read()
        self.assertEqual(1, len(found['servers']))
        self.noted()

    def test_classes_that_cannot_be_kept(self):
        """They are named with the number of servers."""
        self.cloud.add_host('a')
        self.cloud.add_provider('a-child', {'CUSTOM_A': 4}, root='a')
        for name in ('one', 'two'):
            self.add('a', name, {'resources:CUSTOM_A': '1', 'resources:PGPU': '1'})
        self.read()
        self.noted(
            '1 resource provider below hosts, with CUSTOM_A (a-child)',
            '2 servers with resources that placement does not show on their hosts (CUSTOM_A, PGPU)',
        )


class GroupsTest(testtools.TestCase):
    def test_servers_of_no_group(self):
        self.assertEqual(({}, []), group_members.obeying([], {'x': 'g'}, {'x': 'a', 'y': 'a'}))
