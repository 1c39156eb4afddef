"""Networks that a user may request, on the simulated network service."""

from nova_lite import exception
from nova_lite import runtime
from tests.unit.clients import networks


class ValidateTest(networks.NetworkTestCase):
    """Networks that a user may request."""

    def validate(self, wanted, count=1, **options):
        return self.network.validate(self.member, wanted, count, **options)

    def refused(self, expected, wanted, **options):
        return self.assertRaises(expected, self.validate, wanted, **options).message

    def unshare(self):
        """Leave only the project's own networks."""
        for item in self.network.list(self.admin, 'networks', shared=True):
            self.network.service.call(
                self.admin, 'PUT', f'/networks/{item["id"]}', json={'network': {'shared': False}}
            )

    def test_none(self):
        self.assertEqual(('none', 3), self.validate('none', 3))

    def test_nothing_said_and_one_usable_network(self):
        shared = self.network.list(self.admin, 'networks', shared=True)[0]['id']
        for wanted in (None, 'auto'):
            self.assertEqual(([{'network_id': shared}], 1), self.validate(wanted))

    def test_network_of_the_project_of_a_server(self):
        """An administrator who names no network gets one of the server's project."""
        self.unshare()
        own = self.make_network()
        project = self.member.project_id
        found, _count = self.network.validate(self.admin, None, project_id=project)
        self.assertEqual([{'network_id': own}], found)

    def test_nothing_said_and_several_networks(self):
        self.make_network()
        for wanted in (None, 'auto'):
            self.refused(exception.NetworkAmbiguous, wanted)

    def test_nothing_said_and_no_network(self):
        self.unshare()
        self.assertEqual(('none', 1), self.validate(None))
        self.assertEqual(('auto', 1), self.validate('auto'))

    def test_no_network_and_none_can_be_made(self):
        self.unshare()
        external = self.network.list(self.admin, 'networks', **{'router:external': True})[0]
        self.network.service.call(
            self.admin,
            'PUT',
            f'/networks/{external["id"]}',
            json={'network': {'is_default': False}},
        )
        self.refused(exception.NetworkNotAllocatable, 'auto')

    def test_a_network(self):
        wanted = [{'network_id': self.make_network()}] * 2
        self.assertEqual((wanted, 2), self.validate(wanted, 2))

    def test_unknown_network(self):
        unknown = runtime.new_uuid()
        self.assertIn(unknown, self.refused(exception.NetworkNotUsable, [{'network_id': unknown}]))

    def test_network_of_another_project(self):
        private = self.make_network(ctxt=self.operator)
        self.refused(exception.NetworkNotUsable, [{'network_id': private}])

    def test_network_without_subnet(self):
        bare = self.make_network(cidr=None)
        self.refused(exception.NetworkRequiresSubnet, [{'network_id': bare}])

    def test_external_network(self):
        external = self.network.list(self.admin, 'networks', **{'router:external': True})[0]
        wanted = [{'network_id': external['id']}]
        self.refused(exception.ExternalNetworkForbidden, wanted)
        self.assertEqual((wanted, 1), self.validate(wanted, may_attach_external=True))

    def test_address(self):
        net = self.make_network()
        wanted = [{'network_id': net, 'fixed_ip': '10.20.0.77'}]
        self.assertEqual((wanted, 1), self.validate(wanted))
        self.make('port', network_id=net, fixed_ips=[{'ip_address': '10.20.0.77'}])
        self.assertIn('10.20.0.77', self.refused(exception.FixedIpInUse, wanted))

    def test_port(self):
        port = self.make('port', network_id=self.make_network())
        wanted = [{'port_id': port['id']}]
        self.set_quota(0)
        self.assertEqual((wanted, 1), self.validate(wanted))
        self.allocate(*wanted)
        self.refused(exception.PortInUse, wanted)

    def test_unknown_port(self):
        for port_id in (runtime.new_uuid(), '..', 'x/y'):
            self.refused(exception.PortNotUsable, [{'port_id': port_id}])

    def test_port_without_address(self):
        port = self.make('port', network_id=self.make_network(), fixed_ips=[])
        self.assertIn('FixedIP', self.refused(exception.PortNotUsable, [{'port_id': port['id']}]))

    def test_quota(self):
        wanted = [{'network_id': self.make_network()}] * 2
        used = len(self.network.list(self.admin, 'ports', tenant_id='wonderland'))
        for free, count in ((-1, 4), (100, 4), (7, 3), (2, 1)):
            self.set_quota(free if free == -1 else used + free)
            self.assertEqual((wanted, count), self.validate(wanted, 4))
        self.set_quota(used + 1)
        self.refused(exception.OverQuota, wanted)
