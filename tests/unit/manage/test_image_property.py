"""nova-lite-manage image_property."""

import json

from nova_lite import runtime
from nova_lite.db.api import instance_mappings
from nova_lite.db.api import request_specs
from nova_lite.db.cell import instances
from nova_lite.objects import flavor
from nova_lite.objects import image
from nova_lite.objects import request_spec
from tests.unit.manage import base

IMAGE = {
    'id': None, 'name': None, 'status': None, 'owner': None, 'disk_format': None,
    'container_format': None, 'min_disk': 0, 'min_ram': 0, 'size': None,
}  # fmt: skip


class ImagePropertyCase(base.ManageTest):
    def setUp(self):
        super().setUp()
        self.set_up_cells()

    def server(self, properties, **columns):
        """A mapped server whose image has properties."""
        uuid = self.add_server(image_properties=properties, **columns)
        cell_id = self.cells()['cell1'].id
        self.api_db.write(
            instance_mappings.create,
            [{'instance_uuid': uuid, 'project_id': 'p', 'cell_id': cell_id}],
        )
        spec = request_spec.RequestSpec(
            instance_uuid=uuid,
            project_id='p',
            user_id='u',
            flavor=flavor.Flavor(**base.FLAVOR),
            image=image.ImageMeta(**IMAGE, properties=dict(properties)),
        )
        self.api_db.write(request_specs.create, [spec])
        return uuid

    def set(self, uuid, *assignments, code=0):
        options = [word for text in assignments for word in ('--property', text)]
        return self.run_verb('image_property', 'set', uuid, *options, code=code)

    def records(self, uuid):
        """Properties as (the cell, the request spec) have them."""
        row = self.local.read(instances.get, uuid)
        return row.image_properties, self.api_db.read(request_specs.get, uuid).image.properties


class ImagePropertyTest(ImagePropertyCase):
    def test_show(self):
        uuid = self.server({'hw_disk_bus': 'ide'})
        show = ('image_property', 'show', uuid)
        self.assertEqual('ide\n', self.run_verb(*show, 'hw_disk_bus'))
        self.assertEqual(
            {'code': 0, 'hw_disk_bus': 'ide', 'messages': ['ide']},
            json.loads(self.run_verb(*show, 'hw_disk_bus', '--json')),
        )
        self.assertIn('hw_vif_model not found', self.run_verb(*show, 'hw_vif_model', code=3))

    def test_set(self):
        for state in ('stopped', 'shelved', 'shelved_offloaded'):
            uuid = self.server({'hw_disk_bus': 'ide', 'kept': 'yes'}, vm_state=state)
            self.set(uuid, 'hw_disk_bus=virtio', 'hw_numa_cpus.0=1,2', 'hw_machine_type=q35')
            expected = {
                'hw_disk_bus': 'virtio',
                'hw_machine_type': 'q35',
                'hw_numa_cpus.0': '1,2',
                'kept': 'yes',
            }
            self.assertEqual((expected, expected), self.records(uuid))

    def test_refusals(self):
        """Refusals change nothing."""
        uuid = self.server({'hw_disk_bus': 'ide'}, vm_state='stopped')
        for assignments, code, text in (
            (['hw_disk_bus'], 4, 'hw_disk_bus is not of the form'),
            (['hw_disk_bus='], 4, 'is not of the form'),
            (['hw_disk_bus=virtio', 'hw_disk_buss=ide'], 5, 'image'),
            (['hw_disk_bus=isa'], 6, 'isa'),
            (['hw_cpu_cores=many'], 6, 'many'),
        ):
            self.assertIn(text, self.set(uuid, *assignments, code=code))
        self.assertEqual(({'hw_disk_bus': 'ide'},) * 2, self.records(uuid))

    def test_numa_nodes_change_only_without_a_guest(self):
        guest = {'host': 'host1', 'node': 'host1'}
        for state, columns in (('stopped', guest), ('shelved', guest), ('shelved_offloaded', {})):
            uuid = self.server({}, vm_state=state, **columns)
            # The flavor has 2 CPUs.
            self.assertIn('NUMA', self.set(uuid, 'hw_numa_nodes=3', code=6))
            if columns:
                self.assertIn('Offload it first', self.set(uuid, 'hw_numa_nodes=2', code=6))
                self.assertEqual(({}, {}), self.records(uuid))
            else:
                self.set(uuid, 'hw_numa_nodes=2')
                self.assertEqual(({'hw_numa_nodes': '2'},) * 2, self.records(uuid))

    def test_states_in_which_it_is_refused(self):
        for columns in (
            {'vm_state': 'active'},
            {'vm_state': 'resized'},
            {'vm_state': 'stopped', 'task_state': 'powering-on'},
        ):
            uuid = self.server({}, **columns)
            self.assertIn('Stop or shelve it', self.set(uuid, 'hw_disk_bus=ide', code=3))
            self.assertEqual(({}, {}), self.records(uuid))

    def test_no_such_server(self):
        deleted = self.server({}, vm_state='stopped')
        self.local.write(instances.mark_deleted, deleted)
        for uuid in (runtime.new_uuid(), deleted):
            self.assertIn('could not be found', self.set(uuid, 'hw_disk_bus=ide', code=2))
            show = ('image_property', 'show', uuid, 'hw_disk_bus')
            self.assertIn('could not be found', self.run_verb(*show, code=2))
