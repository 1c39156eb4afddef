"""[quota]driver = nova.quota.UnifiedLimitsDriver: limits of Keystone in the compute API."""

import itertools
import json
import urllib.parse

from nova_lite import exception
from nova_lite import runtime
from nova_lite.api import keystone_quota
from nova_lite.clients import auth
from nova_lite.clients import placement
from nova_lite.conf import quota
from nova_lite.db.api import flavors
from nova_lite.db.api import instance_mappings
from nova_lite.lifecycle.guests import constraints
from nova_lite.lifecycle.guests import pci
from tests.fixtures import placement as placement_fixture
from tests.fixtures import servers_api
from tests.unit.api.servers import base
from tests.unit.api.servers import create_base

PINNED = {'hw:cpu_policy': 'dedicated'}


class Limits:
    """A double of KeystoneLimits. of_projects: {project: {resource: limit}}"""

    def __init__(self):
        self.defaults, self.of_projects = {}, {}

    def registered(self, ctxt):
        return self.defaults

    def of_project(self, ctxt, project_id):
        return self.of_projects.get(project_id, {})


class UnifiedLimitsTest(create_base.Case):
    overrides = (('quota', 'driver', quota.UNIFIED),)

    def setUp(self):
        super().setUp()
        self.limits = self.api.app.keystone_limits = Limits()
        self.limits.defaults = {'servers': 10, 'class:VCPU': 20, 'class:MEMORY_MB': 51200}
        self.used = self.api.neighbours.placement.used = {}

    def add_servers(self, count=1, vcpus=1):
        values = [
            {
                'instance_uuid': runtime.new_uuid(),
                'project_id': 'alpha',
                'user_id': 'alice',
                'vcpus': vcpus,
                'memory_mb': 64,
            }
            for _ in range(count)
        ]
        self.api.api_db.write(instance_mappings.create, values)

    def over(self, text, **fields):
        self.refused('POST', '/servers', self.body(**fields), code=403, text=text, version='latest')

    def specs(self, **specs):
        """Give the flavor these extra specs, with : for __."""
        for name, value in specs.items():
            values = {name.replace('__', ':'): value}
            path = '/flavors/42/os-extra_specs'
            self.ok('POST', path, {'extra_specs': values}, who=base.ADMIN, version='2.85')

    def show(self, path='/os-quota-sets/alpha'):
        return self.ok('GET', path, version='2.57').json['quota_set']

    def test_limit_of_servers(self):
        self.limits.of_projects['alpha'] = {'servers': 1}
        self.create()
        self.over(
            'Project alpha is over a limit for [Resource servers is over limit of 1 due to current '
            'usage 1 and delta 1]',
        )
        self.limits.of_projects['alpha'] = {'servers': -1}
        self.create()

    def test_resources_without_a_registered_limit(self):
        del self.limits.defaults['servers']
        self.over('Resource servers is over limit of 0')
        self.api.conf.set_override('unified_limits_resource_strategy', 'ignore', 'quota')
        self.over('Resource class:DISK_GB is over limit of 0')
        self.limits.defaults['class:DISK_GB'] = -1
        self.create()
        self.api.conf.set_override('unified_limits_resource_list', [], 'quota')
        self.over('Resource servers is over limit of 0')

    def test_limit_of_vcpus(self):
        self.limits.defaults['class:VCPU'] = 2
        self.add_servers(vcpus=2)
        self.over('Resource class:VCPU is over limit of 2 due to current usage 2 and delta 1')

    def flavor(self, flavorid, *, vcpus, **values):
        values = {**servers_api.FLAVOR, 'flavorid': flavorid, 'name': flavorid, **values}
        created = self.api.api_db.write(flavors.create, {**values, 'vcpus': vcpus})
        return {**values, 'vcpus': vcpus, 'id': created.id}

    def resize(self, uuid, flavorid, code=202):
        body = {'resize': {'flavorRef': flavorid}}
        found = self.api.call('POST', f'/servers/{uuid}/action', body)
        self.assertEqual(code, found.status_code, found.text)

    def test_pinned_cpus_are_no_vcpus(self):
        """Pins by a policy, a mask or a class; placement knows none of the servers."""
        self.limits.defaults |= {'class:VCPU': 2, 'class:PCPU': 100}
        self.flavor('pinned', vcpus=8, extra_specs=PINNED)
        mixed = {'hw:cpu_policy': 'mixed', 'hw:cpu_dedicated_mask': '1-7'}
        self.flavor('mixed', vcpus=8, extra_specs=mixed)
        self.flavor('class', vcpus=8, extra_specs={'resources:PCPU': '8'})
        for flavorid in ('pinned', 'mixed', 'class', '42'):
            self.create(flavorRef=flavorid)
        text = 'Resource class:VCPU is over limit of 2 due to current usage 2 and delta 1'
        for flavorid in ('42', 'mixed'):
            self.over(text, flavorRef=flavorid)
        self.create(flavorRef='pinned')

    def test_devices_that_placement_gives(self):
        """Without pci_in_placement the devices of aliases have no limit."""
        alias = {'name': 'gpu', 'vendor_id': '10de', 'product_id': '2330'}
        self.api.conf.set_override('alias', [json.dumps(alias)], 'pci')
        self.limits.defaults |= {'class:CUSTOM_PCI_10DE_2330': 3}
        self.used['CUSTOM_PCI_10DE_2330'] = 2
        self.specs(pci_passthrough__alias='gpu:2')
        self.create()
        self.api.conf.set_override('pci_in_placement', True, 'filter_scheduler')
        self.over(
            'Resource class:CUSTOM_PCI_10DE_2330 is over limit of 3 due to current usage 2 and '
            'delta 2'
        )
        self.used['CUSTOM_PCI_10DE_2330'] = 1
        self.create()

    def test_resources_that_ports_ask_for(self):
        name = 'NET_BW_EGR_KILOBIT_PER_SEC'
        self.limits.defaults |= {f'class:{name}': 1000}
        self.used[name] = 500
        asked = {'request_groups': [{'id': 'g', 'required': [], 'resources': {name: 600}}]}
        found = [{'port_id': runtime.new_uuid(), 'resource_request': asked}]
        rules = keystone_quota.KeystoneRules(
            self.api.conf, 'alpha', registered=self.limits.defaults, own={}, used=self.used
        )
        size = {'vcpus': 1, 'memory_mb': 64}
        self.assertRaisesRegex(
            exception.OverQuota,
            f'class:{name} is over limit of 1000 due to current usage 500 and delta 600',
            rules.admit,
            size,
            constraints.NONE,
            wanted=1,
            networks=found,
        )
        self.used[name] = 400
        self.assertEqual(1, rules.admit(size, constraints.NONE, wanted=1, networks=found))

    def test_resizes_of_pinned_servers(self):
        self.limits.defaults |= {'class:VCPU': 2, 'class:PCPU': 100}
        small = self.flavor('small', vcpus=1, extra_specs=PINNED)
        self.flavor('large', vcpus=8, extra_specs=PINNED)
        self.flavor('shared', vcpus=2)
        self.flavor('wide', vcpus=3)
        first, second = (self.api.add_server(vcpus=1, flavor=small) for _ in range(2))
        self.resize(first, 'wide', code=403)
        self.resize(first, 'large')
        # The size counts that the server has or gets.
        self.resize(second, 'shared')
        self.over('class:VCPU is over limit of 2 due to current usage 2')
        self.create(flavorRef='small')

    def unshelve(self, uuid):
        """Unshelve as another project: the limits are those of the owner's."""
        who = {**base.ADMIN, 'project': 'other'}
        return self.api.call('POST', f'/servers/{uuid}/action', {'unshelve': None}, who=who)

    def resources_of_servers(self):
        """[(resource class, limit, flavor, ports, amount)] of servers that use one class each."""
        network = self.api.neighbours.network
        port, bandwidth = runtime.new_uuid(), 'NET_BW_EGR_KILOBIT_PER_SEC'
        group = {'id': 'g', 'required': [], 'resources': {bandwidth: 600}}
        network.resource_requests[port] = {'request_groups': [group]}
        aliases = pci.aliases(
            [json.dumps({'name': 'gpu', 'vendor_id': '8086', 'product_id': '10ed'})]
        )
        devices = pci.resolve({pci.ALIAS: 'gpu:1'}, aliases)
        (name,) = (pci.Spec.of(each['specs'][0]).placed_class for each in devices)
        return (
            ('PCPU', 3, self.flavor('pinned', vcpus=2, extra_specs=PINNED), (), 2),
            (name, 1, {**self.flavor('gpu', vcpus=1), 'devices': devices}, (), 1),
            (bandwidth, 1000, self.flavor('plain', vcpus=1), (port,), 600),
        )

    def test_unshelving(self):
        """A server on no host has no allocations: what it will use counts when it is unshelved."""
        self.api.conf.set_override('pci_in_placement', True, 'filter_scheduler')
        # Its vCPUs, its memory and the server itself count all the time.
        self.limits.defaults |= {'servers': 0, 'class:VCPU': 0, 'class:MEMORY_MB': 0}
        self.limits.defaults['class:DISK_GB'] = -1
        offloaded = {'vm_state': 'shelved_offloaded', 'host': None, 'node': None}
        for name, limit, flavor, ports, amount in self.resources_of_servers():
            self.limits.of_projects['alpha'] = {f'class:{name}': limit}
            for values, used, code in (
                (offloaded, limit, 403),
                (offloaded, limit - amount + 1, 403),
                (offloaded, limit - amount, 202),
                # This server has its allocations.
                ({'vm_state': 'shelved'}, limit, 202),
            ):
                uuid = self.api.add_server(flavor=flavor, **values)
                self.api.neighbours.network.ports_of[uuid] = ports
                self.used[name] = used
                found = self.unshelve(uuid)
                self.assertEqual(code, found.status_code, (name, used, found.text))
                if code == 403:
                    self.assertIn(f'Resource class:{name} is over limit of {limit}', found.text)
                    self.assertIsNone(self.api.row(uuid).task_state)

    def test_limits_of_other_resource_classes(self):
        self.specs(hw__cpu_policy='dedicated', resources__VGPU='2')
        self.limits.defaults |= {'class:VCPU': 0, 'class:PCPU': 3, 'class:VGPU': 4}
        self.used |= {'PCPU': 2, 'VGPU': 3}
        self.over('Resource class:VGPU is over limit of 4 due to current usage 3 and delta 2')
        self.used |= {'PCPU': 3, 'VGPU': 0}
        self.over('Resource class:PCPU is over limit of 3 due to current usage 3 and delta 1')
        self.used['PCPU'] = 2
        self.create()

    def test_groups_of_resources(self):
        """Groups with and without a number are added, in whatever order the flavor has them."""
        for number, groups in enumerate(itertools.permutations(('', '1', '_A'))):
            name = f'CUSTOM_{number}'
            for group in groups:
                self.specs(**{f'resources{group}__{name}': '1'})
            self.limits.defaults[f'class:{name}'] = 2
            self.over(
                f'Resource class:{name} is over limit of 2 due to current usage 0 and delta 3'
            )
            self.limits.defaults[f'class:{name}'] = 3
        self.create()

    def test_several_servers(self):
        """As many are made as the limits allow, but not less than min_count."""
        self.limits.defaults |= {'class:CUSTOM_FPGA': 5}
        self.specs(resources__CUSTOM_FPGA='2')
        self.over('class:CUSTOM_FPGA', min_count=3, max_count=4)
        self.create(min_count=1, max_count=4)
        self.assertEqual(2, self.show('/os-quota-sets/alpha/detail')['instances']['in_use'])

    def test_metadata(self):
        self.limits.defaults['server_metadata_items'] = 1
        self.over(
            'Resource server_metadata_items is over limit of 1 due to current usage 0 and delta 2',
            metadata={'a': '1', 'b': '2'},
        )
        # Only servers and resource classes have limits of projects.
        self.limits.of_projects['alpha'] = {'server_metadata_items': 5}
        self.over('server_metadata_items', metadata={'a': '1', 'b': '2'})

    def test_what_is_shown(self):
        self.limits.of_projects['alpha'] = {'servers': 3, 'class:VCPU': -1}
        self.used['PCPU'] = 4
        found = self.show()
        self.assertEqual(
            (3, -1, 51200, -1),
            tuple(found[name] for name in ('instances', 'cores', 'ram', 'key_pairs')),
        )
        self.assertEqual(10, self.show('/os-quota-sets/alpha/defaults')['instances'])
        absolute = self.ok('GET', '/limits').json['limits']['absolute']
        self.assertEqual(3, absolute['maxTotalInstances'])
        path = '/os-quota-class-sets/default'
        found = self.ok('GET', path, who=base.ADMIN).json['quota_class_set']
        self.assertEqual(10, found['instances'])

    def test_texts_that_are_no_project(self):
        """Placement refuses some of them. That is an error of the request."""
        server = self.useFixture(placement_fixture.Placement())
        self.api.conf.set_override('auth_type', 'none', 'placement')
        self.api.conf.set_override('endpoint_override', server.url, 'placement')
        client = placement.Placement(auth.Credentials(self.api.conf))
        self.api.app.placement.project_usages = client.project_usages
        for text in ('x' * 255, 'x' * 300, '', ' ', '\0', '\n', 'é', '\U0001f600', 'a/b', '..'):
            quoted = urllib.parse.quote(text, safe='')
            paths = [f'/limits?tenant_id={quoted}']
            if text not in ('', '..', 'a/b'):
                sets = f'/os-quota-sets/{quoted}'
                paths += [sets, f'{sets}/detail', f'{sets}/defaults']
            for path in paths:
                found = self.api.call('GET', path, who=base.ADMIN)
                self.assertLess(found.status_code, 500, f'{path}: {found.text}')

    def test_limits_are_set_in_keystone(self):
        text = 'Quota limits are in the identity service'
        for method, path, body in (
            ('PUT', '/os-quota-sets/alpha', {'quota_set': {'instances': 5}}),
            ('DELETE', '/os-quota-sets/alpha', None),
            ('PUT', '/os-quota-class-sets/default', {'quota_class_set': {'instances': 5}}),
        ):
            self.refused(method, path, body, code=403, text=text, who=base.ADMIN)
