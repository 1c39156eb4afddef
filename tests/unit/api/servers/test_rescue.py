"""Checks of a rescue by the API: image, host, version."""

from nova_lite import runtime
from nova_lite.db.cell import children
from nova_lite.db.cell import instances
from tests.unit.api.servers import base

IMAGE = '9f6a1a0e-96f2-4c4b-a1de-0c9f1a2c2f3b'


class TestRescue(base.Case):
    def boots_from_volume(self):
        uuid = self.api.add_server(node='host1.example')
        device = {
            'uuid': runtime.new_uuid(),
            'instance_uuid': uuid,
            'source_type': 'volume',
            'destination_type': 'volume',
            'boot_index': 0,
            'volume_id': runtime.new_uuid(),
        }
        self.api.cell('cell1').db.write(children.create_block_devices, [device])
        return uuid

    def test_the_image_is_on_record(self):
        self.api.neighbours.image.add(IMAGE)
        uuid = self.api.add_server(system_metadata={'kept': 'yes'})
        self.act(uuid, 'rescue', {'rescue_image_ref': IMAGE}, code=200)
        row = self.api.row(uuid)
        self.assertEqual('rescuing', row.task_state)
        self.assertEqual({'kept': 'yes', 'rescue_image_ref': IMAGE}, row.system_metadata)
        ((method, arguments),) = self.sent()
        self.assertEqual(('rescue_instance', IMAGE), (method, arguments['rescue_image_ref']))

    def test_other_keys_that_come_while_the_image_is_looked_at(self):
        images, uuid = self.api.neighbours.image, self.api.add_server()
        images.add(IMAGE)
        get = images.get

        def change_and_get(*args):
            values = {'system_metadata': {'come': 'now'}}
            self.api.cell('cell1').db.write(instances.force, uuid, values)
            return get(*args)

        images.get = change_and_get
        self.act(uuid, 'rescue', {'rescue_image_ref': IMAGE}, code=200)
        wanted = {'come': 'now', 'rescue_image_ref': IMAGE}
        self.assertEqual(wanted, self.api.row(uuid).system_metadata)

    def test_images_that_cannot_be_used(self):
        uuid = self.api.add_server()
        for values, reason in (
            ({'status': 'queued'}, 'it is queued'),
            (
                {'properties': {'block_device_mapping': '[{"boot_index": 0}]'}},
                'block_device_mapping',
            ),
            (
                {'properties': {'hw_rescue_device': 'nope'}},
                'nope is invalid. hw_rescue_device must be one of: cdrom, disk, floppy, fs, lun',
            ),
            (
                {'properties': {'hw_architecture': 'nope'}},
                "Architecture name 'nope' is not valid. hw_architecture must be one of: aarch64",
            ),
        ):
            self.api.neighbours.image.add(IMAGE, **values)
            self.refused_act(uuid, 'rescue', {'rescue_image_ref': IMAGE}, code=400, text=reason)
        self.assertIsNone(self.api.row(uuid).task_state)

    def test_a_server_on_a_volume(self):
        uuid = self.boots_from_volume()
        traits = self.api.neighbours.placement.host_traits
        self.refused_act(uuid, 'rescue', code=400, text='2.87', version='2.86')
        self.refused_act(uuid, 'rescue', code=400, text='its host', version='2.87')
        traits.add('COMPUTE_RESCUE_BFV')
        self.refused_act(uuid, 'rescue', code=400, text='2.87', version='2.86')
        self.act(uuid, 'rescue', code=200, version='2.87')
