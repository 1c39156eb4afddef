"""Ports of servers, their bindings and the network information on record (I5)."""

from tests.unit.verify import base


class PortsTest(base.VerifyTest):
    def bound(self, *bindings, **columns):
        self.set(**columns)
        self.snapshot.bindings = {base.PORT: list(bindings)}
        return self.found()

    def test_binding_to_a_host_where_the_server_is_not(self):
        self.assertEqual(
            ['I5 port a port: of server a server is bound to host-2'],
            self.bound(('host-1', 'ACTIVE'), ('host-2', 'INACTIVE')),
        )

    def test_no_active_binding(self):
        expected = 'I5 binding of port a port: is active on [], server a server is on host-1'
        self.assertEqual([expected], self.bound(('host-1', 'INACTIVE')))
        self.assertEqual([expected], self.bound())
        self.assertEqual([], self.bound(vm_state='error'))

    def test_active_elsewhere(self):
        """The destination of a resize that waits may have a binding, and the active one."""
        self.cell.migrations = [
            base.migration(status='finished', source_compute='host-2', migration_type='resize')
        ]
        found = self.bound(('host-1', 'INACTIVE'), ('host-2', 'ACTIVE'), vm_state='resized')
        expected = (
            "I5 binding of port a port: is active on ['host-2'], server a server is on host-1"
        )
        self.assertIn(expected, found)

    def test_ports_not_on_record(self):
        self.set(network_info=[])
        self.snapshot.guests = [base.guest(devices=base.guest().spec.devices[:1])]
        self.assertEqual(
            ["I5 ports of server a server: are not on record: ['a port']"], self.found()
        )

    def test_ports_that_are_gone(self):
        self.snapshot.ports = []
        self.assertEqual(["I5 ports of server a server: do not exist: ['a port']"], self.found())

    def test_addresses(self):
        self.snapshot.ports[0]['fixed_ips'] = [{'ip_address': '10.0.0.9'}]
        mac = 'fa:16:3e:00:00:01'
        self.assertEqual(
            [f'I5 port a port: has {(mac, ["10.0.0.9"])}, on record is {(mac, ["10.0.0.2"])}'],
            self.found(),
        )
