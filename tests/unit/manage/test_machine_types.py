"""nova-lite-manage libvirt."""

from tests.unit.manage import base
from tests.unit.manage import test_image_property

GET, UPDATE = ('libvirt', 'get_machine_type'), ('libvirt', 'update_machine_type')
UNSET = ('libvirt', 'list_unset_machine_type')


class MachineTypesTest(test_image_property.ImagePropertyCase):
    def test_get(self):
        uuid = self.server({'hw_machine_type': 'q35'})
        self.assertEqual('q35\n', self.run_verb(*GET, uuid))
        self.assertIn('No machine type', self.run_verb(*GET, self.server({}), code=3))
        self.assertIn('not be found', self.run_verb(*GET, 'unknown', code=2))

    def test_update(self):
        uuid = self.server({'hw_disk_bus': 'ide'}, vm_state='stopped')
        for wanted in ('pc', 'pc-i440fx-8.2', 'pc'):
            self.run_verb(*UPDATE, uuid, wanted)
            expected = {'hw_disk_bus': 'ide', 'hw_machine_type': wanted}
            self.assertEqual((expected, expected), self.records(uuid))
        self.assertIn('--force', self.run_verb(*UPDATE, uuid, 'pc-q35-8.2', code=4))
        self.run_verb(*UPDATE, uuid, 'pc-q35-8.2', '--force')
        self.run_verb(*UPDATE, uuid, 'q35')
        self.assertIn('Unsupported', self.run_verb(*UPDATE, uuid, 'toaster', code=5))
        self.run_verb(*UPDATE, 'unknown', 'pc', code=2)

    def test_update_of_a_server_that_runs(self):
        uuid = self.server({}, vm_state='active')
        self.assertIn('Stop or shelve it', self.run_verb(*UPDATE, uuid, 'pc', code=3))

    def test_servers_without_one(self):
        self.server({'hw_machine_type': 'q35'})
        self.assertIn('No instances', self.run_verb(*UNSET))
        uuids = sorted(self.server({}) for _ in range(2))
        self.assertEqual(uuids, self.run_verb(*UNSET, code=3).split())
        here = ('--cell-uuid', self.cell_uuid)
        self.assertEqual(uuids, self.run_verb(*UNSET, *here, code=3).split())
        self.run_verb(*UNSET, '--cell-uuid', base.FLAVOR['name'], code=2)
