"""Servers whose ports are a real Neutron's: their lives, and moves there and back."""

from tests.fixtures import neutron
from tests.fixtures import neutron_cloud
from tests.peers import moves


class NeutronMovesTest(moves.PeerMovesTest):
    peer, cloud_class = neutron.Neutron, neutron_cloud.NeutronCloud

    def leftovers(self):
        return self.ports()

    def ports(self):
        return self.cloud.networks('GET', '/ports').json()['ports']

    def bindings(self, port):
        """[(host, status, type of the VIF)] of a port."""
        found = self.cloud.networks('GET', f'/ports/{port["id"]}/bindings').json()['bindings']
        return [(each['host'], each['status'], each['vif_type']) for each in found]

    def reach(self, status, host, *others):
        """The server has a status, and its port is plugged on a host. others: inactive ones"""
        found = self.cloud.wait(self.server, status)
        self.assertEqual(host, found.compute_host)
        (port,) = self.ports()
        self.assertEqual((self.server.id, 'ACTIVE'), (port['device_id'], port['status']))
        inactive = {(other, 'INACTIVE', 'unbound') for other in others}
        self.assertEqual({(host, 'ACTIVE', 'ovs'), *inactive}, set(self.bindings(port)))

    def test_boot(self):
        self.reach('ACTIVE', 'cell1-host1')
        (address,) = self.cloud.admin.compute.get_server(self.server.id).addresses['private']
        (port,) = self.ports()
        self.assertEqual(port['fixed_ips'][0]['ip_address'], address['addr'])
        self.assertEqual('compute:nova', port['device_owner'])

    def interfaces(self):
        """{port id: its status} of what the server shows."""
        answer = self.cloud.api('GET', f'/servers/{self.server.id}/os-interface')
        return {
            each['port_id']: each['port_state'] for each in answer.json()['interfaceAttachments']
        }

    def test_attach_and_detach_an_interface(self):
        (first,) = self.interfaces()
        wanted = {'interfaceAttachment': {'net_id': self.cloud.network_id()}}
        path = f'/servers/{self.server.id}/os-interface'
        answer = self.cloud.api('POST', path, json=wanted)
        second = answer.json()['interfaceAttachment']['port_id']
        self.assertEqual({first: 'ACTIVE', second: 'ACTIVE'}, self.interfaces())
        self.cloud.api('DELETE', f'{path}/{second}').raise_for_status()
        self.cloud.wait_for(lambda: [*self.interfaces()] == [first], 'the interface to be gone')
        self.cloud.wait_for(lambda: len(self.ports()) == 1, 'its port to be gone')
        self.reach('ACTIVE', 'cell1-host1')

    def test_port_that_is_deleted_in_neutron(self):
        """Neutron reports it."""
        (port,) = self.ports()
        self.cloud.networks('DELETE', f'/ports/{port["id"]}').raise_for_status()

        def addresses():
            return self.cloud.admin.compute.get_server(self.server.id).addresses

        self.cloud.wait_for(lambda: not addresses(), f'{addresses()} to be empty')

    def test_port_that_is_plugged(self):
        """Neutron reports it, and our API has found the server's host."""
        self.moving.resize(self.server, 'm1.small')
        self.reach('VERIFY_RESIZE', 'cell1-host2', 'cell1-host1')
        (port,) = self.ports()

        def reported():
            lines = self.cloud.neutron.daemon.log_text().splitlines()
            return [line for line in lines if 'network-vif-plugged' in line and port['id'] in line]

        self.assertIn("'code': 200", self.cloud.wait_for(reported, 'the event')[-1])

    def test_shelve_and_unshelve(self):
        self.act('shelve')
        self.cloud.wait(self.server, 'SHELVED_OFFLOADED')
        (port,) = self.ports()
        self.assertEqual('unbound', port['binding:vif_type'])
        self.act('unshelve')
        found = self.cloud.wait(self.server, 'ACTIVE')
        self.reach('ACTIVE', found.compute_host)
