"""Base classes of conversations with simcloud's network service and with the real Neutron."""

import requests

from tests.fixtures import neutron
from tests.peers import base
from tests.peers import callers
from tests.peers import transcript

SERVER = '11111111-1111-4111-8111-111111111111'
CIDR = '192.0.2.0/24'
OUTSIDE = {
    'router:external': True,
    'provider:network_type': 'flat',
    'provider:physical_network': 'public',
}
# What the services draw or choose, and details of mechanism drivers.
CHOSEN = (
    *('mac_address', 'provider:segmentation_id', 'revision_number'),
    *('binding:vif_details', 'vif_details'),
)
# Attributes that only one of them has, and zones of availability, which need agents.
MISSING = (
    *('availability_zones', 'is_default', 'l2_adjacency', 'qinq', 'vlan_transparent'),
    *('dns_publish_fixed_ip', 'router:external', 'segment_id', 'router_route'),
    *('port_forwardings', 'standard_attr_id', 'gw_port_id', 'ha_vr_id'),
    *('enable_default_route_bfd', 'enable_default_route_ecmp'),
)


class NetworkPeersTest(base.PeersTest):
    @classmethod
    def make_real(cls):
        return neutron.Neutron(trunks=True)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for version in ('IPv4', 'IPv6'):
            cls.add_default_rule(version)

    @classmethod
    def add_default_rule(cls, version):
        """Add the rule that Neutron's migrations would have made to new security groups."""
        used = dict.fromkeys(('used_in_default_sg', 'used_in_non_default_sg'), True)
        rule = {'direction': 'egress', 'ethertype': version, **used}
        requests.post(
            f'{cls.real.url}/v2.0/default-security-group-rules',
            json={'default_security_group_rule': rule},
            headers=callers.by(callers.SERVICE),
            timeout=60,
        ).raise_for_status()

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
        """Ask for a subnet; its id, None if it was refused."""
        wanted = {'network_id': network, 'cidr': cidr, 'ip_version': 4, **values}
        answer = peer.ask('POST', '/subnets', {'subnet': wanted}).json()
        return answer.get('subnet', {}).get('id')

    @staticmethod
    def port(peer, network, **values):
        """The path of a new port."""
        return '/ports/' + peer.made('/ports', {'port': {'network_id': network, **values}})['id']

    def of_server(self, peer, network, host='host-1', **values):
        """The path of a new port of a server on a host."""
        owner = {'device_id': SERVER, 'device_owner': 'compute:nova'}
        return self.port(peer, network, **{'binding:host_id': host, **owner, **values})
