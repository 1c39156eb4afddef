"""POST /servers: block devices, and a delete before the build."""

import json

from nova_lite import runtime
from nova_lite.db.api import instance_mappings
from nova_lite.db.api import quotas
from nova_lite.db.api import request_specs
from nova_lite.db.cell import children
from nova_lite.db.cell import instances
from tests.fixtures import api_neighbours
from tests.unit.api.servers import create_base


class TestDevices(create_base.Case):
    VOLUME = {'source_type': 'volume', 'uuid': api_neighbours.VOLUME_ID, 'boot_index': 0}

    def devices(self, *items, **fields):
        return {'block_device_mapping_v2': list(items), 'imageRef': create_base.ABSENT, **fields}

    def test_boot_from_volume(self):
        (request,) = self.create(**self.devices(self.VOLUME))
        (device,) = request.block_devices
        self.assertEqual(api_neighbours.VOLUME_ID, device['volume_id'])
        self.assertEqual(
            [(device['volume_id'], request.instance_uuid, device['attachment_id'])],
            self.api.neighbours.volume.attached,
        )
        self.assertTrue(self.spec(request).is_bfv)
        self.assertIsNone(request.instance.get('image_ref'))

    def test_first_form(self):
        items = [{'device_name': 'vda', 'volume_id': api_neighbours.VOLUME_ID}]
        (request,) = self.create(block_device_mapping=items, imageRef=create_base.ABSENT)
        self.assertEqual(0, request.block_devices[0]['boot_index'])
        self.refuse_both(items)
        unknown = [{'device_name': 'vdb', 'virtual_name': 'unknown'}]
        body = self.body(block_device_mapping=unknown)
        self.refused('POST', '/servers', body, code=400, version='latest', text='virtual_name')

    def refuse_both(self, items):
        body = self.body(block_device_mapping=items, block_device_mapping_v2=[self.VOLUME])
        self.refused('POST', '/servers', body, code=400, version='latest', text='syntaxes')

    def test_ids_that_contradict_the_source(self):
        other = runtime.new_uuid()
        for item, text in (
            (
                {**self.VOLUME, 'image_id': other},
                'image_id cannot be given with source_type volume',
            ),
            ({**self.VOLUME, 'volume_id': other}, 'uuid and volume_id are different'),
        ):
            self.refuse(400, text, **self.devices(item))
        (request,) = self.create(
            **self.devices({**self.VOLUME, 'volume_id': api_neighbours.VOLUME_ID})
        )
        self.assertEqual(api_neighbours.VOLUME_ID, request.block_devices[0]['volume_id'])

    def test_memory_of_the_image_beside_a_volume(self):
        """The volume is the root disk, and the image still says what memory it needs."""
        image = self.api.neighbours.image.images[api_neighbours.IMAGE_ID]
        image['min_ram'] = 1 << 20
        self.refuse(
            400,
            'memory is too small',
            **self.devices(self.VOLUME, imageRef=api_neighbours.IMAGE_ID),
        )

    def test_image_to_volume(self):
        item = {'source_type': 'image', 'destination_type': 'volume', 'boot_index': '0',
                'uuid': api_neighbours.IMAGE_ID, 'volume_size': 2,
                'delete_on_termination': True}  # fmt: skip
        (request,) = self.create(**self.devices(item))
        self.assertEqual(2, request.block_devices[0]['volume_size'])
        self.assertTrue(request.block_devices[0]['delete_on_termination'])
        self.assertIsNone(request.arguments['image']['id'])

    def test_type_of_a_new_volume(self):
        item = {'source_type': 'image', 'destination_type': 'volume', 'boot_index': 0,
                'uuid': api_neighbours.IMAGE_ID, 'volume_size': 2}  # fmt: skip
        unknown = self.devices({**item, 'volume_type': 'nope'})
        self.refuse(400, 'Volume type nope could not be found.', **unknown)
        known = {**item, 'volume_type': api_neighbours.VOLUME_TYPE}
        (request,) = self.create(**self.devices(known))
        self.assertEqual(known['volume_type'], request.block_devices[0]['volume_type'])

    def test_image_that_names_volumes(self):
        mapping = (
            '[{"source_type": "snapshot", "destination_type": "volume", "boot_index": 0,'
            f' "snapshot_id": "{api_neighbours.SNAPSHOT_ID}"}}]'
        )
        properties = {'bdm_v2': 'True', 'block_device_mapping': mapping}
        self.api.neighbours.image.add(api_neighbours.IMAGE_ID, properties=properties)
        (request,) = self.create()
        self.assertEqual(api_neighbours.SNAPSHOT_ID, request.block_devices[0]['snapshot_id'])

    def test_image_whose_mapping_cannot_be_recorded(self):
        """Its owner may have written anything: refused, and never a fault of ours."""
        device = {'source_type': 'image', 'uuid': api_neighbours.IMAGE_ID, 'boot_index': 0,
                  'destination_type': 'volume', 'volume_size': 2}  # fmt: skip
        for name, value in (
            ('device_name', 'x' * 256),
            ('device_name', '/dev/\0'),
            ('device_type', ['disk']),
            ('guest_format', 'x' * 256),
            ('tag', {'a': 1}),
            ('volume_size', 1 << 31),
            ('volume_size', -1),
            ('boot_index', float('inf')),
            ('source_type', 'x'),
            ('uuid', ['x']),
            ('uuid', {'x': 'y'}),
        ):
            mapping = json.dumps([{**device, name: value}])
            properties = {'bdm_v2': 'True', 'block_device_mapping': mapping}
            self.api.neighbours.image.add(api_neighbours.IMAGE_ID, properties=properties)
            self.refuse(400, 'evice')
        deep = {'bdm_v2': 'True', 'block_device_mapping': '[' * 5000}
        self.api.neighbours.image.add(api_neighbours.IMAGE_ID, properties=deep)
        self.refuse(400, 'invalid block_device_mapping')

    def test_image_whose_properties_cannot_be_recorded(self):
        for name in ('os_type', 'hw_architecture', 'root_device_name', 'kernel_id', 'ramdisk_id'):
            for value in ('x' * 256, 'x\0', ['x'], '\ud800'):
                self.api.neighbours.image.add(api_neighbours.IMAGE_ID, properties={name: value})
                self.refuse(400, 'image')
        self.api.neighbours.image.add(api_neighbours.IMAGE_ID, properties={'kernel_id': 'x' * 255})
        self.create()

    def test_image_with_large_properties(self):
        """Kept as nova keeps them: the beginning of values, no mappings."""
        properties = {
            'os_distro': 'é' * 65535,
            'trait:CUSTOM_A': 'required',
            'block_device_mapping': '[' + ' ' * 65000 + ']',
            **{f'p{number}': '\U0001f600' * 65535 for number in range(30)},
        }
        image = self.api.neighbours.image
        image.add(api_neighbours.IMAGE_ID, properties=properties)
        (request,) = self.create()
        kept = request.instance['image_properties']
        self.assertEqual(kept, request.arguments['image']['properties'])
        self.assertEqual(kept, self.spec(request).image.properties)
        self.assertEqual({*properties} - {'block_device_mapping'}, {*kept})
        self.assertEqual('é' * 255, kept['os_distro'])
        self.assertEqual('required', kept['trait:CUSTOM_A'])
        self.assertEqual('\U0001f600' * 255, kept['p0'])

    def test_image_with_too_many_properties(self):
        properties = {f'property {number}': 'x' * 255 for number in range(1000)}
        self.api.neighbours.image.add(api_neighbours.IMAGE_ID, properties=properties)
        self.refuse(400, '262144')

    def test_boot_order(self):
        second = {**self.VOLUME, 'boot_index': 1}
        self.refuse(400, 'Boot sequence', **self.devices(second))
        self.refuse(400, 'Boot sequence', **self.devices(self.VOLUME, self.VOLUME))
        self.refuse(400, 'Boot sequence', **self.devices({**self.VOLUME, 'boot_index': None}))
        self.refuse(400, 'Boot sequence', block_device_mapping_v2=[second])

    def test_image_without_its_device(self):
        """Clients send the image as a device, too, when there are others; as in nova."""
        data = {**self.VOLUME, 'boot_index': -1}
        self.refuse(400, 'Boot sequence', block_device_mapping_v2=[data])
        root = {'source_type': 'image', 'destination_type': 'local', 'boot_index': 0}
        root['uuid'] = api_neighbours.IMAGE_ID
        (request,) = self.create(block_device_mapping_v2=[root, data])
        self.assertEqual([0, None], [each['boot_index'] for each in request.block_devices])
        first = {'device_name': 'vdb', 'volume_id': api_neighbours.VOLUME_ID}
        (request,) = self.create(block_device_mapping=[first])
        self.assertEqual([0, None], [each['boot_index'] for each in request.block_devices])
        self.create(block_device_mapping_v2=[])
        self.refuse_second_image(root)
        for item, code in ((data, 400), (root, 202)):
            body = self.body(block_device_mapping_v2=[{**item, 'no_device': True}])
            answer = self.api.call('POST', '/servers', body, version='latest')
            self.assertEqual(code, answer.status_code, answer.text)

    def refuse_second_image(self, root):
        second = {**root, 'boot_index': 1}
        body = self.body(**self.devices(self.VOLUME, second))
        self.refused('POST', '/servers', body, code=400, version='latest', text='root disk')

    def test_name_of_the_root_device(self):
        named = {**self.VOLUME, 'device_name': '/dev/vda'}
        self.refuse(400, 'root device', block_device_mapping_v2=[named])
        self.create(**self.devices(named))

    def test_refused(self):
        image = api_neighbours.IMAGE_ID
        blank = {'source_type': 'blank', 'boot_index': -1}
        rows = (
            ('not found', {**self.VOLUME, 'uuid': runtime.new_uuid()}),
            ('Missing device UUID', {'source_type': 'volume', 'boot_index': 0}),
            ('destination_type local', {**self.VOLUME, 'destination_type': 'local'}),
            ('Disk bus', {**self.VOLUME, 'disk_bus': 'warp'}),
            ('Device type', {**self.VOLUME, 'device_type': 'warp'}),
            ('Device type', {**self.VOLUME, 'device_type': ''}),
            ('root device', {**self.VOLUME, 'boot_index': -1, 'device_name': '/dev/vda'}),
            ('root device', {**self.VOLUME, 'boot_index': None, 'device_name': 'vda'}),
            ('volume_type', {**self.VOLUME, 'volume_type': 'fast'}),
            ('volume_size', {**blank, 'destination_type': 'volume'}),
            ('no uuid', {**blank, 'uuid': image}),
            ('needs a source_type', {'boot_index': 0}),
            ('snapshot', {'source_type': 'snapshot', 'uuid': runtime.new_uuid(), 'boot_index': 0}),
            ('virtual_name', {**self.VOLUME, 'virtual_name': ''}),
        )
        for text, item in rows:
            fields = {'block_device_mapping_v2': [item]}
            if item.get('boot_index') == 0:
                fields['imageRef'] = create_base.ABSENT
            self.refuse(400, text, **fields)

    def test_local_disks_larger_than_the_flavor_has(self):
        blank = {'source_type': 'blank', 'boot_index': -1, 'volume_size': 1}
        for text, item in (('Swap', {**blank, 'guest_format': 'swap'}), ('phemeral', blank)):
            self.refuse(400, text, **self.devices(self.VOLUME, item))

    def test_volume_that_is_not_bootable_beside_an_image(self):
        self.api.neighbours.volume.add(api_neighbours.VOLUME_ID, bootable=False)
        self.create(**self.devices(self.VOLUME, imageRef=api_neighbours.IMAGE_ID))

    def test_volume_of_another_server(self):
        """Its status was reset to available."""
        other, gone = self.api.add_server(), self.api.add_server(deleted=True)
        for uuid in (other, gone):
            device = {
                'uuid': runtime.new_uuid(),
                'instance_uuid': uuid,
                'source_type': 'volume',
                'destination_type': 'volume',
                'volume_id': api_neighbours.VOLUME_ID,
            }
            self.api.cell('cell1').db.write(children.create_block_devices, [device])
        text = f'is already attached to instances: {other}'
        self.refuse(400, text, **self.devices(self.VOLUME))

    def test_volume_states(self):
        volume = self.api.neighbours.volume
        volume.add(api_neighbours.VOLUME_ID, status='in-use')
        self.refuse(400, 'in-use', **self.devices(self.VOLUME))
        volume.add(api_neighbours.VOLUME_ID, bootable=False)
        self.refuse(400, 'bootable', **self.devices(self.VOLUME))
        volume.add(api_neighbours.VOLUME_ID)
        self.refuse(400, 'several', **self.devices(self.VOLUME, max_count=2))
        volume.add(api_neighbours.VOLUME_ID, multiattach=True)
        self.refuse(400, '2.60', version='2.59', **self.devices(self.VOLUME))
        self.assertEqual(2, len(self.create(**self.devices(self.VOLUME, max_count=2))))

    def test_local_limit(self):
        self.api.conf.set_override('max_local_block_devices', 0)
        self.refuse(400, 'local devices')

    def test_certificates_need_an_image(self):
        fields = self.devices(self.VOLUME, trusted_image_certificates=['c'])
        self.refuse(400, 'certificate', **fields)

    def test_volumes_are_given_back_when_quota_refuses(self):
        self.api.api_db.write(quotas.set_limits, 'alpha', {'instances': 0})
        self.refuse(403, 'instances', **self.devices(self.VOLUME))


class TestDeleteBeforeBuild(create_base.Case):
    def test_nothing_stays(self):
        item = {**TestDevices.VOLUME}
        (request,) = self.create(block_device_mapping_v2=[item], imageRef=create_base.ABSENT)
        uuid = request.instance_uuid
        self.ok('DELETE', f'/servers/{uuid}', code=204)
        self.refused('GET', f'/servers/{uuid}', code=404)
        self.assertIsNone(self.api.api_db.read(instance_mappings.find, uuid))
        self.assertEqual({}, self.api.api_db.read(request_specs.stored, [uuid]))
        volume = self.api.neighbours.volume
        self.assertEqual([volume.attached[0][2]], volume.deleted)

    def test_actions_have_to_wait(self):
        (request,) = self.create()
        self.refused_act(request.instance_uuid, 'os-stop', code=409, text='building')

    def test_delete_of_what_a_dead_builder_left(self):
        """Records without a mapping: the host would find them and build a ghost."""
        (request,) = self.create()
        values = self.api.record(uuid=request.instance_uuid, vm_state='building')
        self.api.cell('cell1').db.write(instances.create, [values])
        self.ok('DELETE', f'/servers/{request.instance_uuid}', code=204)
        found = self.api.cell('cell1').db.read(instances.find, request.instance_uuid)
        self.assertIsNone(found)
