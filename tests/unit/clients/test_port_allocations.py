"""Allocations of ports as they come and go, on the real placement."""

import dataclasses

from nova_lite import exception
from nova_lite import runtime
from nova_lite.clients import port_allocations
from nova_lite.clients import resource_requests
from tests.unit.clients import base

CLASS, RATE = 'NET_BW_EGR_KILOBIT_PER_SEC', 'NET_PACKET_RATE_KILOPACKET_PER_SEC'
TRAIT = 'CUSTOM_VNIC_TYPE_NORMAL'


@dataclasses.dataclass
class Server:
    uuid: str
    project_id: str = 'wonderland'
    user_id: str = 'alice'
    host: str = 'one'


class Network:
    """The ports of the one server."""

    def __init__(self):
        self.bound = []

    def ports(self, ctxt, server_uuid):
        return self.bound


class PortAllocationsTest(base.PlacementTestCase):
    def setUp(self):
        super().setUp()
        self.node, self.other = self.add_host('one'), self.add_host('two')
        self.agent = self.add_provider(self.node, {RATE: {'total': 10}})
        self.bridge = self.add_provider(self.agent, {CLASS: {'total': 100}})
        self.add_provider(self.other, {CLASS: {'total': 100}})
        self.server, self.network = Server(runtime.new_uuid()), Network()
        owner = dataclasses.replace(base.consumer(), uuid=self.server.uuid)
        self.placement.claim(self.admin, owner, base.request(self.node), new=True)

    def add_provider(self, parent, inventories):
        uuid = runtime.new_uuid()
        self.providers.ensure(self.admin, uuid, f'below {parent}', parent=parent)
        self.providers.set_traits(self.admin, uuid, [TRAIT])
        self.providers.set_inventories(self.admin, uuid, inventories)
        return uuid

    def port(self, kbps, kpps=0):
        """A port that asks for bandwidth, and for a packet rate if `kpps`."""
        port_id, resources = runtime.new_uuid(), [{CLASS: kbps}, *([{RATE: kpps}] if kpps else [])]
        groups = [
            {'id': runtime.new_uuid(), 'required': [TRAIT], 'resources': each} for each in resources
        ]
        asked = {'request_groups': groups, 'same_subtree': [group['id'] for group in groups]}
        return {'id': port_id, 'resource_request': asked}

    def claim(self, port):
        found = port_allocations.claim(self.placement, self.admin, self.server, self.node, port)
        profile = resource_requests.profile({}, found)
        return {**port, 'binding:host_id': self.server.host, 'binding:profile': profile}

    def release(self, *, node=None, **options):
        port_allocations.release(self, self.admin, self.server, node or self.node, **options)

    def held(self):
        found = dict(self.placement.holding(self.admin, self.server.uuid).allocations)
        self.assertEqual({'VCPU': 1, 'MEMORY_MB': 512, 'DISK_GB': 1}, found.pop(self.node))
        return found

    def test_claim(self):
        port = self.claim(self.port(60, 5))
        self.assertEqual(
            {self.bridge, self.agent}, set(port['binding:profile']['allocation'].values())
        )
        self.assertEqual({self.bridge: {CLASS: 60}, self.agent: {RATE: 5}}, self.held())
        self.claim(self.port(40))
        self.assertEqual(100, self.held()[self.bridge][CLASS])
        refused = exception.PortResourcesNotAvailable
        self.assertRaises(refused, self.claim, self.port(1))

    def test_trait_that_no_host_has(self):
        port = self.port(1)
        port['resource_request']['request_groups'][0]['required'] = ['CUSTOM_PHYSNET_OTHER']
        self.assertRaises(exception.PortResourcesNotAvailable, self.claim, port)
        self.assertEqual({}, self.held())

    def test_former_format(self):
        port = {
            'id': runtime.new_uuid(),
            'resource_request': {'required': [TRAIT], 'resources': {CLASS: 60}},
        }
        self.assertEqual({'allocation': self.bridge}, self.claim(port)['binding:profile'])

    def test_release(self):
        """However often, what the other ports need stays."""
        first, second = self.claim(self.port(60, 5)), self.claim(self.port(40))
        self.network.bound = [first, second]
        self.release()
        self.assertEqual({self.bridge: {CLASS: 100}, self.agent: {RATE: 5}}, self.held())
        for _ in range(2):
            self.release(but=second['id'])
            self.assertEqual({self.bridge: {CLASS: 60}, self.agent: {RATE: 5}}, self.held())
        self.network.bound = []
        for _ in range(2):
            self.release()
            self.assertEqual({}, self.held())

    def test_release_takes_nothing(self):
        """Ports of which nothing is allocated, and another host's, change nothing."""
        self.network.bound = [self.claim(self.port(60)), self.port(40)]
        self.release()
        self.assertEqual({self.bridge: {CLASS: 60}}, self.held())
        self.network.bound = []
        self.release(node=self.other)
        self.assertEqual({self.bridge: {CLASS: 60}}, self.held())

    def test_port_bound_elsewhere(self):
        """A move is undone before its ports: nothing is known of what they need here."""
        port = self.claim(self.port(60))
        (group,) = port['binding:profile']['allocation']
        profile = {'allocation': {group: runtime.new_uuid()}}
        self.network.bound = [{**port, 'binding:host_id': 'two', 'binding:profile': profile}]
        self.release()
        self.assertEqual({self.bridge: {CLASS: 60}}, self.held())

    def test_release_during_a_claim(self):
        """Allocations for a port that is not bound yet stay."""
        self.network.bound = [self.claim(self.port(60))]
        former = self.claim(self.port(20))
        begun = []

        def is_changing():
            if begun:
                return True
            begun.append(self.claim(self.port(10)))
            return False

        self.release(unless=is_changing)
        self.assertEqual({self.bridge: {CLASS: 90}}, self.held())
        self.network.bound += begun
        self.release()
        self.assertEqual({self.bridge: {CLASS: 70}}, self.held())
        self.assertNotIn(former, self.network.bound)

    def test_server_that_is_gone(self):
        self.placement.delete_allocations(self.admin, self.server.uuid, force=True)
        self.release()
        self.assertEqual({}, self.placement.holding(self.admin, self.server.uuid).allocations)
