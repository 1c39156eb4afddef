"""Diagnostics of a server, in the forms before and since 2.48."""

from nova_lite import exception
from nova_lite.db.cell import services
from nova_lite.virt.sim import facts
from tests.fixtures import diagnosed
from tests.unit.api.servers import base


class TestDiagnostics(base.Case):
    def setUp(self):
        super().setUp()
        self.found = facts.diagnostics(diagnosed.GUEST, 'QEMU', 10.0)
        self.answers = self.api.compute['cell1'].answers
        self.answers['get_diagnostics'] = self.found
        self.uuid = self.api.add_server()
        self.path = f'/servers/{self.uuid}/diagnostics'

    def show(self, version):
        return self.ok('GET', self.path, who=base.ADMIN, version=version).json

    def test_the_standard_form(self):
        self.assertEqual(self.found, self.show('2.48'))
        arguments = {'host': 'host1', 'instance_uuid': self.uuid}
        self.assertEqual([('get_diagnostics', arguments)], self.sent())

    def test_the_form_of_libvirt(self):
        shown = self.show('2.47')
        self.assertEqual(192 * 1024, shown['memory'])
        self.assertEqual(self.found['cpu_details'][1]['time'], shown['cpu1_time'])
        for name, disk in zip(('vda', 'vdb'), self.found['disk_details'], strict=True):
            self.assertEqual(disk['write_requests'], shown[f'{name}_write_req'])
        (nic,) = self.found['nic_details']
        self.assertEqual(nic['rx_octets'], shown['vnet0_rx'])
        self.assertEqual(nic['tx_packets'], shown['vnet0_tx_packets'])
        self.assertEqual(1 + 2 + 2 * 5 + 8, len(shown))

    def test_refused(self):
        self.refused('GET', self.path, code=403)
        homeless = self.api.add_server(host=None, node=None)
        path = f'/servers/{homeless}/diagnostics'
        self.refused('GET', path, code=409, text='not ready', who=base.ADMIN)
        self.answers['get_diagnostics'] = exception.InstanceInvalidState(
            action='get_diagnostics', instance_id=self.uuid, attr='power_state', state='paused'
        )
        self.refused('GET', self.path, code=409, text='power_state paused', who=base.ADMIN)

    def test_a_host_that_is_down_is_not_called(self):
        service = self.api.cell('cell1').db.read(services.find, 'host1')
        self.api.cell('cell1').db.write(services.update, service.uuid, {'forced_down': True})
        self.refused('GET', self.path, code=409, text='host1 is not up', who=base.ADMIN)
        self.assertEqual([], self.sent())
