"""Interfaces of servers in a whole cloud: attached, listed, detached."""

from nova_lite import runtime
from nova_lite.db.cell import instances
from tests.fixtures import attaching
from tests.fixtures import moving
from tests.functional import base
from tests.sim.cases import loading

load_tests = loading.load_tests


class InterfacesTest(base.CloudTest):
    settings = {'cells': 1, 'hosts': 3}

    def setUp(self):
        super().setUp()
        self.hands = attaching.Attaching(self.cloud)
        self.stage = moving.Moving(self.cloud)
        self.server = self.cloud.boot()

    def find_port(self, port_id):
        return self.cloud.admin.network.find_port(port_id)

    def addresses(self):
        found = self.cloud.admin.compute.get_server(self.server.id).addresses
        return sorted(each['addr'] for listed in found.values() for each in listed)

    def test_port_that_is_made(self):
        network = self.hands.network()
        made = self.hands.plug(self.server, net_id=network, tag='blue')
        port = self.find_port(made['port_id'])
        self.assertEqual(
            {
                'net_id': network,
                'port_id': port.id,
                'mac_addr': port.mac_address,
                'port_state': 'ACTIVE',
                'fixed_ips': [dict(each) for each in port.fixed_ips],
                'tag': 'blue',
            },
            made,
        )
        self.assertEqual([made], self.hands.interfaces(self.server))
        self.assertNotIn('tag', self.hands.interfaces(self.server, '2.69')[0])
        self.assertEqual([port.id], self.hands.ports_of_guest(self.server))
        self.assertEqual([port.fixed_ips[0]['ip_address']], self.addresses())
        self.assertEqual(self.server.id, port.device_id)
        self.assertEqual(
            [('compute_attach_interface', 'Success')],
            self.stage.events(self.server, 'attach_interface'),
        )
        # A second one on the same network is another port.
        second = self.hands.plug(self.server, net_id=network)
        self.assertNotEqual(port.id, second['port_id'])
        self.hands.unplug(self.server, port.id)
        self.hands.wait_idle(self.server)
        self.assertIsNone(self.find_port(port.id))
        self.assertEqual([second['port_id']], self.hands.ports_of_guest(self.server))
        self.assertEqual([second], self.hands.interfaces(self.server))
        self.assertEqual([second['fixed_ips'][0]['ip_address']], self.addresses())
        self.assertEqual(
            [('compute_detach_interface', 'Success')],
            self.stage.events(self.server, 'detach_interface'),
        )
        self.delete(self.server)
        self.assertIsNone(self.find_port(second['port_id']))

    def test_time_of_the_last_change(self):
        """It stays, as in nova, so that `changes-since` does not list the server."""
        (database,) = [cell.db for cell in self.stage.world.cells.every(cell0=False)]
        before = database.read(instances.get, self.server.id)
        made = self.hands.plug(self.server)
        self.hands.unplug(self.server, made['port_id'])
        self.hands.wait_idle(self.server)
        volume = self.hands.volume()
        self.hands.attached(self.server, volume)
        self.hands.detach(self.server, volume)
        self.hands.wait_idle(self.server)
        after = database.read(instances.get, self.server.id)
        self.assertEqual(before.updated_at, after.updated_at)

    def test_port_that_is_given(self):
        given = self.hands.port()
        self.hands.plug(self.server, port_id=given)
        self.hands.plug(self.server, port_id=given, status=409)
        self.hands.unplug(self.server, given)
        self.hands.wait_idle(self.server)
        port = self.find_port(given)
        self.assertEqual(('', '', ''), (port.device_id, port.device_owner, port.binding_host_id))
        self.assertEqual([], self.hands.ports_of_guest(self.server))
        self.hands.plug(self.server, port_id=given)
        self.delete(self.server)
        self.assertEqual('', self.find_port(given).device_id)
        self.cloud.admin.network.delete_port(given)

    def test_address_that_is_asked_for(self):
        network = self.hands.network()
        subnet = self.cloud.admin.network.get_network(network).subnet_ids[0]
        pool = self.cloud.admin.network.get_subnet(subnet).allocation_pools[0]
        wanted = [{'ip_address': pool['end']}]
        made = self.hands.plug(self.server, net_id=network, fixed_ips=wanted)
        self.assertEqual(pool['end'], made['fixed_ips'][0]['ip_address'])
        self.hands.plug(self.server, net_id=network, fixed_ips=wanted, status=409)
        self.hands.plug(self.server, fixed_ips=wanted, status=400)
        self.hands.plug(self.server, net_id=network, fixed_ips=[{'ip_address': 'x'}], status=400)

    def test_network_that_is_full(self):
        network = self.cloud.admin.network.create_network(name='small')
        self.addCleanup(self.cloud.admin.network.delete_network, network)
        self.cloud.admin.network.create_subnet(
            network_id=network.id, ip_version=4, cidr='10.99.0.0/30', enable_dhcp=False
        )
        self.hands.plug(self.server, net_id=network.id)
        self.hands.plug(self.server, net_id=network.id, status=400)
        self.assertEqual(1, len(self.hands.interfaces(self.server)))
        self.delete(self.server)

    def test_refusals(self):
        missing, network = runtime.new_uuid(), self.hands.network()
        self.hands.plug(self.server, net_id=missing, status=404)
        self.hands.plug(self.server, port_id=missing, status=404)
        self.hands.plug(self.server, net_id=network, port_id=missing, status=400)
        self.hands.plug(self.server, net_id=network, tag='x', version='2.48', status=400)
        path = f'/servers/{self.server.id}/os-interface/{missing}'
        self.refused(404, 'GET', path)
        other = self.cloud.boot(networks=[{'uuid': network}])
        (taken,) = self.hands.interfaces(other)
        self.hands.plug(self.server, port_id=taken['port_id'], status=409)
        self.refused(404, 'GET', path.replace(missing, taken['port_id']))
        self.stage.act(self.server, 'suspend')
        self.cloud.wait(self.server, 'SUSPENDED')
        self.hands.plug(self.server, net_id=network, status=409)
        host = self.cloud.admin.compute.get_server(other.id).compute_host
        with self.stage.forced_down(host):
            self.hands.plug(other, net_id=network, status=409)
            self.hands.unplug(other, taken['port_id'], status=409)

    def test_unknown_port_is_accepted(self):
        """As in nova: the action has the error, and the server keeps its ports."""
        other = self.cloud.boot(networks=[{'uuid': self.hands.network()}])
        (taken,) = self.hands.interfaces(other)
        for port_id in (runtime.new_uuid(), taken['port_id']):
            self.hands.unplug(self.server, port_id)
            self.hands.wait_idle(self.server)
            action = next(iter(self.cloud.admin.compute.server_actions(self.server)))
            self.assertEqual(('detach_interface', 'Error'), (action.action, action.message))
        self.assertEqual([taken], self.hands.interfaces(other))

    def test_host_fails(self):
        network, given = self.hands.network(), self.hands.port()
        self.addCleanup(self.cloud.admin.network.delete_port, given)
        self.addCleanup(self.cloud.behave, 'extends: instant\n')
        for when in ('before', 'after'):
            self.cloud.behave(
                f'extends: instant\nfailures: [{{verb: attach_interface, when: {when}, first: 2}}]\n'
            )
            for wanted in ({'net_id': network}, {'port_id': given}):
                with self.cloud.server_errors.announced(500):
                    self.hands.plug(self.server, status=500, **wanted)
                self.assertEqual([], self.hands.interfaces(self.server))
                self.assertEqual([], self.hands.ports_of_guest(self.server))
                self.assertEqual('', self.find_port(given).device_id)
        made = self.hands.plug(self.server, port_id=given)
        self.cloud.behave('extends: instant\nfailures: [{verb: detach_interface, first: 1}]\n')
        self.hands.unplug(self.server, given)
        self.hands.wait_idle(self.server)
        self.assertEqual([made], self.hands.interfaces(self.server))
        self.assertEqual([given], self.hands.ports_of_guest(self.server))

    def test_port_that_is_deleted_under_it(self):
        made = self.hands.plug(self.server, net_id=self.hands.network())
        self.cloud.admin.network.delete_port(made['port_id'])
        self.cloud.wait_for(
            lambda: not self.hands.ports_of_guest(self.server), 'the interface to go'
        )
        self.cloud.wait_for(lambda: not self.addresses(), 'the address to go')
