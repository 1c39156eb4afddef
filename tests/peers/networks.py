"""What conversations with simcloud's network service and with the real Neutron share."""

from tests.fixtures import neutron
from tests.peers import base
from tests.peers import callers
from tests.peers import transcript

SERVER = '11111111-1111-4111-8111-111111111111'
CIDR = '192.0.2.0/24'
# What the services draw or choose, and details of mechanism drivers.
CHOSEN = (
    *('mac_address', 'provider:segmentation_id', 'revision_number'),
    *('binding:vif_details', 'vif_details'),
)
# Attributes that only one of them has, and zones of availability, which need agents.
MISSING = ('availability_zones', 'is_default', 'l2_adjacency', 'qinq', 'vlan_transparent')


class NetworkPeersTest(base.PeersTest):
    @classmethod
    def make_real(cls):
        return neutron.Neutron()

    def begin(self, peer):
        root = peer.url if peer is self.real else peer.url + '/network'
        return transcript.Transcript(
            root + '/v2.0',
            headers=callers.by(callers.SERVICE),
            ordered=False,
            differs_by=CHOSEN,
            without=MISSING,
        )

    # ---- what conversations share ----

    def network(self, peer, **values):
        """The id of a new network."""
        values = {'name': self._testMethodName, **values}
        return peer.made('/networks', {'network': values})['id']

    @staticmethod
    def subnet(peer, network, cidr=CIDR, **values):
        """The id of a new subnet."""
        wanted = {'network_id': network, 'cidr': cidr, 'ip_version': 4, **values}
        return peer.made('/subnets', {'subnet': wanted})['id']

    @staticmethod
    def port(peer, network, **values):
        """The path of a new port."""
        return '/ports/' + peer.made('/ports', {'port': {'network_id': network, **values}})['id']

    def of_server(self, peer, network, host='host-1', **values):
        """The path of a new port of a server on a host."""
        owner = {'device_id': SERVER, 'device_owner': 'compute:nova'}
        return self.port(peer, network, **{'binding:host_id': host, **owner, **values})
