"""Ports that ask for bandwidth and packet rate: their servers hold it in placement."""

from nova_lite import context
from nova_lite.clients import placement
from tests.fixtures import attaching
from tests.fixtures import guarantees
from tests.fixtures import live_moving
from tests.functional import base
from tests.functional import own_cloud
from tests.sim.cases import loading
from tools import sample

load_tests = loading.load_tests

SETTINGS = {'cells': 1, 'hosts': 3, 'profile': guarantees.PROFILE}
HOST1, HOST2, HOST3 = 'cell1-host1', 'cell1-host2', 'cell1-host3'


class GuaranteesTest(base.CloudTest):
    settings = SETTINGS

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.stage = live_moving.LiveMoving(cls.cloud)
        cls.guarantees = guarantees.Guarantees(cls.cloud)

    def port(self, **guarantee):
        port = self.guarantees.port(**guarantee)
        self.addCleanup(self.guarantees.drop, port)
        return port

    def boot_at(self, host, *ports):
        return self.guarantees.boot(*ports, availability_zone=f'nova:{host}')

    def assertHolds(self, server, host, *ports, **resources):
        """The server holds what its ports ask for on its host, and the bindings say where."""
        expected = guarantees.on(host, **resources)
        self.assertEqual(expected, self.guarantees.held(server.id))
        for port in ports:
            self.assertEqual({host: sorted(expected)}, self.guarantees.allocated(port))


class BootTest(GuaranteesTest):
    def test_bandwidth_and_packet_rate(self):
        port = self.port(kbps=600, kpps=60)
        server = self.guarantees.boot(port)
        self.assertIn(server.compute_host, (HOST1, HOST2))
        self.assertHolds(server, server.compute_host, port, kbps=600, kpps=60)
        self.delete(server)
        self.assertEqual({}, self.guarantees.held(server.id))
        found = self.cloud.admin.network.get_port(port)
        self.assertEqual(('', {}), (found.binding_host_id, found.binding_profile))

    def test_two_ports(self):
        """Both groups may have one provider."""
        ports = [self.port(kbps=300), self.port(kbps=400)]
        server = self.guarantees.boot(*ports)
        self.assertHolds(server, server.compute_host, *ports, kbps=700)

    def test_full_providers(self):
        ports = [self.port(kbps=600) for _ in range(3)]
        hosts = {self.guarantees.boot(port).compute_host for port in ports[:2]}
        self.assertEqual({HOST1, HOST2}, hosts)
        refused = self.guarantees.boot(ports[2], status='ERROR')
        self.assertIn('No valid host', refused.fault['message'])
        self.assertEqual({}, self.guarantees.held(refused.id))

    def test_forced_host_without_an_agent(self):
        refused = self.guarantees.boot(
            self.port(kbps=1), availability_zone=f'nova:{HOST3}', status='ERROR'
        )
        self.assertIn('No valid host', refused.fault['message'])

    def test_rescheduled(self):
        """The port's binding names the providers of the host that builds the server in the end."""
        with open(guarantees.PROFILE) as profile:
            settings = profile.read()
        failing = '{verb: spawn, first: 1, error: NoCapacity, reschedule: true}'
        self.cloud.behave(f'{settings}\nfailures: [{failing}]\n')
        self.addCleanup(self.cloud.behave, settings)
        port = self.port(kbps=600)
        server = self.guarantees.boot(port)
        self.assertEqual(1, len(self.stage.events(server, 'create')) - 1)
        self.assertHolds(server, server.compute_host, port, kbps=600)

    def test_before_the_microversion(self):
        port = self.port(kbps=600)
        body = {
            'name': 'server',
            'imageRef': self.cloud.image_id('cirros'),
            'flavorRef': self.cloud.flavor_id('m1.tiny'),
            'networks': [{'port': port}],
        }
        message = self.refused(400, 'POST', '/servers', {'server': body}, version='2.71')
        self.assertIn(port, message)
        made = self.api('POST', '/servers', {'server': body}, version='2.72', status=202)
        self.cloud.wait(self.cloud.admin.compute.get_server(made['server']['id']))

    def test_network_with_a_policy(self):
        """Its port is made too late to choose a host for it."""
        network = self.cloud.admin.network
        policy = self.guarantees.policy(kbps=1)
        made = network.create_network(name='guaranteed', qos_policy_id=policy)
        self.addCleanup(network.delete_qos_policy, policy)
        self.addCleanup(network.delete_network, made)
        network.create_subnet(network_id=made.id, ip_version=4, cidr='10.98.0.0/24')
        refused = self.cloud.boot(networks=[{'uuid': made.id}], status='ERROR')
        self.assertIn(made.id, str(refused.fault))
        self.assertEqual([], list(network.ports(network_id=made.id)))


@sample.in_turns(2)
class MovesTest(GuaranteesTest):
    def setUp(self):
        super().setUp()
        self.ports = [self.port(kbps=600, kpps=60)]
        self.server = self.boot_at(HOST1, *self.ports)

    def act(self, *args, **options):
        self.stage.act(self.server, *args, **options)

    def reach(self, status='ACTIVE'):
        self.stage.wait_idle(self.server)
        return self.cloud.wait(self.server, status)

    def assertOn(self, host):
        """The server runs on the host, which has all that it holds."""
        self.stage.wait_idle(self.server)
        self.assertEqual(host, self.reach().compute_host)
        self.assertHolds(self.server, host, *self.ports, kbps=600, kpps=60)

    def fill(self, host):
        """Leave a host without bandwidth."""
        port = self.port(kbps=1000)
        self.boot_at(host, port)

    def test_cold_migration(self):
        self.act('migrate')
        self.assertEqual(HOST2, self.reach('VERIFY_RESIZE').compute_host)
        (port,) = self.ports
        expected = {name: guarantees.on(name, kbps=600, kpps=60) for name in (HOST1, HOST2)}
        self.assertEqual(
            {host: sorted(held) for host, held in expected.items()},
            self.guarantees.allocated(port),
        )
        self.assertEqual(expected[HOST2], self.guarantees.held(self.server.id))
        self.assertEqual(expected[HOST1], self.guarantees.held(self.stage.saga(self.server).uuid))
        self.act('confirmResize', status=204)
        self.assertOn(HOST2)

    def test_resize_and_revert(self):
        self.stage.resize(self.server, 'm1.small')
        self.reach('VERIFY_RESIZE')
        self.act('revertResize')
        self.assertOn(HOST1)

    def test_revert_without_a_port(self):
        """A deleted port's allocation, dropped in VERIFY_RESIZE, is not held after the revert."""
        second = self.guarantees.port(kbps=300)
        attaching.Attaching(self.cloud).plug(self.server, port_id=second)
        self.act('migrate')
        self.reach('VERIFY_RESIZE')
        self.guarantees.drop(second)
        self.cloud.wait_for(
            lambda: self.guarantees.held(self.server.id) == guarantees.on(HOST2, kbps=600, kpps=60),
            'the bandwidth of the deleted port to be released',
        )
        self.act('revertResize')
        self.assertOn(HOST1)

    def test_live_migration(self):
        self.act('os-migrateLive', {'host': None, 'block_migration': 'auto'})
        self.assertOn(HOST2)

    def test_forced_live_migration(self):
        """Allocations from the source's providers cannot be copied to another host."""
        content = {'host': HOST2, 'block_migration': 'auto', 'force': True}
        self.act('os-migrateLive', content, version='2.67')
        self.assertOn(HOST1)

    def test_shelve_and_unshelve(self):
        self.act('shelve')
        self.reach('SHELVED_OFFLOADED')
        self.assertEqual({}, self.guarantees.held(self.server.id))
        (port,) = self.ports
        self.assertEqual({}, self.cloud.admin.network.get_port(port).binding_profile)
        self.fill(HOST1)
        self.act('unshelve')
        self.assertOn(HOST2)

    def test_unshelve_without_ports(self):
        """Ports that are deleted while their server is on no host are not bound or allocated."""
        second = self.guarantees.port(kbps=300)
        attaching.Attaching(self.cloud).plug(self.server, port_id=second)
        for dropped, left in ((second, {'kbps': 600, 'kpps': 60}), (self.ports.pop(), {})):
            self.act('shelve')
            self.reach('SHELVED_OFFLOADED')
            self.guarantees.drop(dropped)
            self.act('unshelve')
            self.stage.wait_idle(self.server)
            server = self.reach()
            self.assertHolds(server, server.compute_host, **left)
        self.assertEqual({}, server.addresses)

    def test_full_destination(self):
        self.fill(HOST2)
        for action in ('migrate', 'live'):
            if action == 'migrate':
                self.act('migrate')
            else:
                self.act('os-migrateLive', {'host': None, 'block_migration': 'auto'})
            self.assertOn(HOST1)
            self.assertIn('No valid host', self.stage.saga(self.server).error['message'])

    def test_undone(self):
        """The source keeps its allocation, also when the destination had its own already."""
        with open(guarantees.PROFILE) as profile:
            settings = profile.read()
        self.cloud.behave(f'{settings}\nfailures: [{{verb: finish_migration}}]\n')
        self.addCleanup(self.cloud.behave, settings)
        self.act('migrate')
        self.assertOn(HOST1)
        (port,) = self.ports
        self.assertEqual([HOST1], list(self.guarantees.allocated(port)))


class AttachTest(GuaranteesTest):
    def setUp(self):
        super().setUp()
        self.hands = attaching.Attaching(self.cloud)
        self.first = self.port(kbps=600)
        self.server = self.boot_at(HOST1, self.first)

    def unplug(self, port):
        self.hands.unplug(self.server, port)
        self.hands.wait_idle(self.server)

    def test_attach_and_detach(self):
        second = self.port(kbps=300, kpps=60)
        self.hands.plug(self.server, port_id=second, version='2.71')
        bridge, agent = f'{HOST1}:{guarantees.BRIDGE}', f'{HOST1}:{guarantees.AGENT}'
        self.assertHolds(self.server, HOST1, second, kbps=900, kpps=60)
        self.assertEqual({HOST1: [bridge]}, self.guarantees.allocated(self.first))
        self.unplug(self.first)
        self.assertHolds(self.server, HOST1, kbps=300, kpps=60)
        self.assertEqual({}, self.cloud.admin.network.get_port(self.first).binding_profile)
        self.assertEqual({HOST1: [agent, bridge]}, self.guarantees.allocated(second))
        self.unplug(second)
        self.assertHolds(self.server, HOST1)

    def test_orphan(self):
        """Allocations of a deleted server are released, also if none is of the node itself."""
        world = self.stage.world
        held = world.placement.holding(context.admin(), self.server.id)
        below = {
            uuid: {'resources': part}
            for uuid, part in held.allocations.items()
            if 'VCPU' not in part
        }
        self.delete(self.server)
        owner = placement.Consumer(self.server.id, held.project_id, held.user_id)
        world.placement.claim(context.admin(), owner, {'allocations': below})
        self.assertNotEqual({}, self.guarantees.held(self.server.id))
        for _number in range(2):
            self.cloud.cloud.daemons['super-conductor'].manager.audit_allocations()
        self.assertEqual({}, self.guarantees.held(self.server.id))

    def test_no_room(self):
        second = self.port(kbps=600)
        found = self.hands.plug(self.server, port_id=second, status=400)
        self.assertIn(second, found['badRequest']['message'])
        self.assertHolds(self.server, HOST1, self.first, kbps=600)
        self.assertEqual('', self.cloud.admin.network.get_port(second).device_id)

    def test_undone(self):
        with open(guarantees.PROFILE) as profile:
            settings = profile.read()
        self.cloud.behave(f'{settings}\nfailures: [{{verb: attach_interface}}]\n')
        self.addCleanup(self.cloud.behave, settings)
        with self.cloud.server_errors.announced(500):
            self.hands.plug(self.server, port_id=self.port(kbps=300), status=500)
        self.hands.wait_idle(self.server)
        self.assertHolds(self.server, HOST1, self.first, kbps=600)

    def test_network_with_a_policy(self):
        network = self.cloud.admin.network
        policy = self.guarantees.policy(kbps=1)
        made = network.create_network(name='guaranteed', qos_policy_id=policy)
        self.addCleanup(network.delete_qos_policy, policy)
        self.addCleanup(network.delete_network, made)
        network.create_subnet(network_id=made.id, ip_version=4, cidr='10.98.0.0/24')
        found = self.hands.plug(self.server, net_id=made.id, status=400)
        self.assertIn(made.id, found['badRequest']['message'])

    def test_port_that_its_owner_deletes(self):
        """No host is called to detach it."""
        second = self.port(kbps=300)
        self.hands.plug(self.server, port_id=second)
        policy = self.cloud.admin.network.get_port(second).qos_policy_id
        self.cloud.admin.network.delete_port(second)
        self.addCleanup(self.cloud.admin.network.delete_qos_policy, policy)
        self.cloud.wait_for(
            lambda: self.guarantees.held(self.server.id) == guarantees.on(HOST1, kbps=600),
            'the bandwidth of the deleted port to be released',
        )


class EvacuationTest(own_cloud.OwnCloudTest):
    settings = SETTINGS

    def test_host_that_returns(self):
        """Both hosts hold what the ports ask for until the one that failed has returned."""
        stage = guarantees.Guarantees(self.cloud)
        port = stage.port(kbps=600, kpps=60)
        server = stage.boot(port, availability_zone=f'nova:{HOST1}')
        self.moving.fail(HOST1)
        self.moving.act(server, 'evacuate', {}, status=200, version='2.94')
        self.moving.ended(server)
        self.assertEqual(HOST2, self.cloud.wait(server).compute_host)
        left, arrived = (guarantees.on(host, kbps=600, kpps=60) for host in (HOST1, HOST2))
        for _number in range(2):
            self.cloud.cloud.daemons['super-conductor'].manager.audit_allocations()
        self.assertEqual({**left, **arrived}, stage.held(server.id))
        self.assertEqual([], self.cloud.findings())
        self.moving.come_back(HOST1)
        self.assertEqual(arrived, stage.held(server.id))
        self.assertEqual({HOST2: sorted(arrived)}, stage.allocated(port))
