"""Fields of a server by microversion and role."""

import datetime

from nova_lite.api.servers import view
from nova_lite.db.cell import children
from nova_lite.db.cell import instances
from nova_lite.db.cell import services
from tests.unit.api.servers import base

AT_FIRST = {
    'id', 'name', 'status', 'tenant_id', 'user_id', 'metadata', 'hostId', 'image', 'flavor',
    'created', 'updated', 'addresses', 'accessIPv4', 'accessIPv6', 'links', 'OS-DCF:diskConfig',
    'progress', 'OS-EXT-AZ:availability_zone', 'config_drive', 'key_name',
    'OS-SRV-USG:launched_at', 'OS-SRV-USG:terminated_at', 'OS-EXT-STS:task_state',
    'OS-EXT-STS:vm_state', 'OS-EXT-STS:power_state', 'os-extended-volumes:volumes_attached',
}  # fmt: skip
LATER = (
    (9, {'locked'}),
    (19, {'description'}),
    (26, {'tags'}),
    (63, {'trusted_image_certificates'}),
    (71, {'server_groups'}),
    (73, {'locked_reason'}),
    (90, {'OS-EXT-SRV-ATTR:hostname'}),
    (96, {'pinned_availability_zone'}),
    (100, {'scheduler_hints'}),
)
INNER = {f'OS-EXT-SRV-ATTR:{name}' for name in ('host', 'hypervisor_hostname', 'instance_name')}
INNER_LATER = {
    f'OS-EXT-SRV-ATTR:{name}'
    for name in (
        'reservation_id', 'launch_index', 'hostname', 'kernel_id', 'ramdisk_id',
        'root_device_name', 'user_data',
    )
}  # fmt: skip


class TestView(base.Case):
    def show(self, uuid, minor=1, who=None):
        return self.ok('GET', f'/servers/{uuid}', version=f'2.{minor}', who=who).json['server']

    def test_fields_grow(self):
        uuid = self.api.add_server()
        self.assertEqual(AT_FIRST, set(self.show(uuid)))
        expected = set(AT_FIRST)
        for minor, more in LATER:
            self.assertEqual(expected, set(self.show(uuid, minor - 1)), minor - 1)
            expected |= more
            self.assertEqual(expected, set(self.show(uuid, minor)), minor)

    def test_for_administrators(self):
        uuid = self.api.add_server()
        self.assertEqual(AT_FIRST | INNER, set(self.show(uuid, who=base.ADMIN)))
        shown = self.show(uuid, 3, base.ADMIN)
        self.assertEqual(AT_FIRST | INNER | INNER_LATER, set(shown))
        self.assertEqual('instance-00000001', shown['OS-EXT-SRV-ATTR:instance_name'])
        self.assertIn('host_status', self.show(uuid, 16, base.ADMIN))

    def test_lists_have_no_server_groups(self):
        self.api.add_server()
        (shown,) = self.ok('GET', '/servers/detail', version='latest').json['servers']
        self.assertNotIn('server_groups', shown)
        self.assertIn('scheduler_hints', shown)

    def test_hints_are_lists(self):
        shown = view.hints({'scheduler_hints': {'group': ['g'], 'same_host': ['a', 'b']}})
        self.assertEqual({'group': ['g'], 'same_host': ['a', 'b']}, shown)

    def test_values(self):
        moment = datetime.datetime.fromisoformat('2026-08-01T12:00:00.5')
        uuid = self.api.add_server(created_at=moment, launched_at=moment, host='host1')
        shown = self.show(uuid)
        self.assertEqual('2026-08-01T12:00:00Z', shown['created'])
        self.assertEqual('2026-08-01T12:00:00.500000', shown['OS-SRV-USG:launched_at'])
        self.assertEqual(56, len(shown['hostId']))
        self.assertEqual({'id', 'links'}, set(shown['flavor']))
        self.assertEqual('', self.show(self.api.add_server(host=None))['hostId'])

    def test_flavor_embedded(self):
        shown = self.show(self.api.add_server(), 47)['flavor']
        self.assertEqual(
            {'vcpus', 'ram', 'disk', 'ephemeral', 'swap', 'original_name', 'extra_specs'},
            set(shown),
        )

    def test_image(self):
        known = {'hw_rng_model': 'virtio', 'os_distro': 'cirros', 'hypervisor_type': 'qemu'}
        unknown = {'a': 'b', 'os_version': '1', 'trait:CUSTOM_X': 'required', 'hw_numa_mem.0': '1'}
        uuid = self.api.add_server(image_properties={**known, **unknown})
        self.assertNotIn('properties', self.show(uuid, 97)['image'])
        self.assertEqual(known, self.show(uuid, 98)['image']['properties'])
        self.assertEqual('', self.show(self.api.add_server(image_ref=None))['image'])

    def test_addresses(self):
        ips = [{'address': '10.0.0.7', 'version': 4, 'floating_ips': [
            {'address': '192.0.2.7', 'version': 4}]}]  # fmt: skip
        info = {'address': 'fa:16', 'network': {'label': 'net', 'subnets': [{'ips': ips}]}}
        uuid = self.api.add_server(network_info=[info])
        found = self.show(uuid)['addresses']['net']
        self.assertEqual(['10.0.0.7', '192.0.2.7'], [each['addr'] for each in found])
        self.assertEqual(['fixed', 'floating'], [each['OS-EXT-IPS:type'] for each in found])
        ips = self.ok('GET', f'/servers/{uuid}/ips/net').json
        self.assertEqual({'version', 'addr'}, set(ips['net'][0]))
        self.refused('GET', f'/servers/{uuid}/ips/other', code=404)
        building = self.api.add_server(network_info=[info], vm_state='building')
        self.assertEqual({}, self.show(building)['addresses'])

    def test_offloaded_servers_are_in_no_zone(self):
        uuid = self.api.add_server(vm_state='shelved_offloaded', availability_zone='nova')
        self.assertEqual('', self.show(uuid)['OS-EXT-AZ:availability_zone'])
        shelved = self.api.add_server(vm_state='shelved', availability_zone='nova')
        self.assertEqual('nova', self.show(shelved)['OS-EXT-AZ:availability_zone'])

    def test_deleted(self):
        """At each microversion it has the fields that it had, and nothing that others gave it."""
        group = '6a5e7a0e-7a55-4a0c-a7f5-7a8c1c6d3f11'
        port = {
            'address': 'fa:16',
            'security_groups': [group],
            'network': {
                'label': 'net',
                'subnets': [{'ips': [{'address': '10.0.0.7', 'version': 4}]}],
            },
        }
        uuid = self.api.add_server(
            network_info=[port], security_groups=['default'], power_state=1, metadata={'a': 'b'}
        )  # fmt: skip
        write = self.api.cell('cell1').db.write
        write(children.create_tags, uuid, ['a'])
        minors = (1, 3, 9, 16, 19, 26, 63, 73, 75, 90, 96, 98, 100)
        before = {minor: self.listed(minor) for minor in minors}
        write(instances.add_fault, uuid, code=500, message='failed', details='inner')
        write(instances.mark_deleted, uuid)
        for minor, former in before.items():
            with self.subTest(minor=minor):
                found = self.listed(minor)
                changed = former.keys() ^ found.keys()
                self.assertEqual({'progress'}, changed - {'security_groups'})
                self.assertNotIn('security_groups', found)
                self.assertEqual(({}, {}), (found['addresses'], found['metadata']))
                self.assertEqual(0, found['OS-EXT-STS:power_state'])
                self.assertEqual([], found['os-extended-volumes:volumes_attached'])
                self.assertIn(found.get('host_status'), ('', None))
                self.assertIn(found.get('tags'), ([], None))

    def test_deleted_without_its_host(self):
        """Its zone is that of its host, of which it has none; its power is as it was last."""
        uuid = self.api.add_server(
            vm_state='shelved_offloaded', availability_zone='nova', host=None, power_state=4
        )
        self.ok('DELETE', f'/servers/{uuid}', code=204)
        found = self.listed(96)
        self.assertEqual('DELETED', found['status'])
        self.assertEqual('', found['OS-EXT-AZ:availability_zone'])
        self.assertEqual(4, found['OS-EXT-STS:power_state'])

    def listed(self, minor):
        """The only server, as the list in detail has it, deleted or not."""
        query = 'changes-since=2020-01-01T00:00:00Z&all_tenants=1'
        answer = self.ok(
            'GET', f'/servers/detail?{query}', version=f'2.{minor}', who=base.ADMIN
        )  # fmt: skip
        (found,) = answer.json['servers']
        return found

    def test_volumes(self):
        uuid = self.api.add_server()
        device = {
            'uuid': uuid,
            'instance_uuid': uuid,
            'source_type': 'volume',
            'destination_type': 'volume',
            'volume_id': 'v',
            'delete_on_termination': True,
        }
        self.api.cell('cell1').db.write(children.create_block_devices, [device])
        name = 'os-extended-volumes:volumes_attached'
        self.assertEqual([{'id': 'v'}], self.show(uuid)[name])
        self.assertEqual([{'id': 'v', 'delete_on_termination': True}], self.show(uuid, 3)[name])

    def test_fault(self):
        uuid = self.api.add_server(vm_state='error')
        fault = {'code': 500, 'message': 'No valid host was found.', 'details': 'inner'}
        self.api.cell('cell1').db.write(lambda c: instances.add_fault(c, uuid, **fault))
        shown = self.show(uuid)
        self.assertEqual('ERROR', shown['status'])
        self.assertEqual({'code', 'message', 'created'}, set(shown['fault']))
        self.assertEqual('inner', self.show(uuid, who=base.ADMIN)['fault']['details'])
        self.api.cell('cell1').db.write(instances.force, uuid, {'vm_state': 'active'})
        self.assertNotIn('fault', self.show(uuid))

    def test_host_status(self):
        uuid = self.api.add_server()
        cell = self.api.cell('cell1')
        service = cell.db.read(services.find, 'host1')
        old = datetime.datetime.fromisoformat('2020-01-01T00:00:00')
        for changes, status in (
            ({}, 'UP'),
            ({'last_seen_up': old}, 'UNKNOWN'),
            ({'disabled': True}, 'MAINTENANCE'),
            ({'forced_down': True}, 'DOWN'),
        ):
            if changes:
                cell.db.write(services.update, service.uuid, changes)
            self.assertEqual(status, self.show(uuid, 16, base.ADMIN)['host_status'])
        nowhere = self.api.add_server(host=None)
        self.assertEqual('', self.show(nowhere, 16, base.ADMIN)['host_status'])
