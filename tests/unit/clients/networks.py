"""Fixtures of tests of the network client."""

from nova_lite.clients import network
from tests.unit.clients import neighbours

HOST = 'cell1-host1'


class NetworkTestCase(neighbours.NeighbourTestCase):
    """A network service with networks of alice's project."""

    def setUp(self):
        super().setUp()
        self.network = network.Network(self.credentials)
        self.owner = self.server()

    def make(self, kind, ctxt=None, **values):
        """Make something by the service's own API; as alice if no user is named."""
        path = {
            'network': 'networks',
            'subnet': 'subnets',
            'port': 'ports',
            'security_group': 'security-groups',
            'floatingip': 'floatingips',
            'router': 'routers',
        }[kind]
        response = self.network.service.call(
            ctxt or self.member, 'POST', f'/{path}', as_user=True, json={kind: values}
        )
        return response.json()[kind]

    def make_network(self, name='garden', cidr='10.20.0.0/24', ctxt=None, **values):
        made = self.make('network', ctxt, name=name, **values)
        if cidr:
            self.make(
                'subnet',
                ctxt,
                network_id=made['id'],
                cidr=cidr,
                ip_version=4,
                dns_nameservers=['10.20.0.2'],
            )
        return made['id']

    def allocate(self, *wanted, **options):
        return self.network.allocate(self.admin, self.owner, list(wanted), host=HOST, **options)

    def on_server(self):
        return self.network.ports(self.admin, self.owner.uuid)

    def set_quota(self, ports):
        self.network.service.call(
            self.admin, 'PUT', '/quotas/wonderland', json={'quota': {'port': ports}}
        )
