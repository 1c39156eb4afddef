"""Ports of servers, on the simulated network service."""

from nova_lite import exception
from nova_lite import runtime
from nova_lite.clients import network
from nova_lite.clients import vifs
from tests.unit.clients import neighbours

HOST = 'cell1-host1'


class NetworkTestCase(neighbours.NeighbourTestCase):
    """A network service with networks of alice's project."""

    def setUp(self):
        super().setUp()
        self.network = network.Network(self.conf)
        self.owner = self.server()

    def make(self, kind, ctxt=None, **values):
        """Make something by the service's own API; as alice if nobody is named."""
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


class ValidateTest(NetworkTestCase):
    """What a user may ask for."""

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


class AllocateTest(NetworkTestCase):
    """Ports made and taken over."""

    def test_a_port_in_one_request(self):
        net = self.make_network()
        self.allocate({'network_id': net})  # the network is known from here on
        info, requests = self.count_requests(self.allocate, {'network_id': net})
        self.assertEqual([('POST', '/network/v2.0/ports')], requests)
        (vif,) = info
        (port,) = (port for port in self.on_server() if port['id'] == vif['id'])
        self.assertEqual(
            (HOST, 'compute:nova', 'wonderland'),
            tuple(port[name] for name in ('binding:host_id', 'device_owner', 'project_id')),
        )

    def test_network_info(self):
        net = self.make_network()
        (vif,) = self.allocate({'network_id': net, 'fixed_ip': '10.20.0.9', 'tag': 'inside'})
        self.assertEqual(
            {
                'type': 'ovs',
                'vnic_type': 'normal',
                'devname': f'tap{vif["id"]}'[:14],
                'active': True,
                'preserve_on_delete': False,
                'tag': 'inside',
            },
            {
                name: vif[name]
                for name in ('type', 'vnic_type', 'devname', 'active', 'preserve_on_delete', 'tag')
            },
        )
        self.assertEqual(
            (net, 'garden', 'br-int', 'wonderland'),
            (
                vif['network']['id'],
                vif['network']['label'],
                vif['network']['bridge'],
                vif['network']['meta']['tenant_id'],
            ),
        )
        (subnet,) = vif['network']['subnets']
        self.assertEqual(
            ('10.20.0.0/24', 4, '10.20.0.1', '10.20.0.2'),
            (
                subnet['cidr'],
                subnet['version'],
                subnet['gateway']['address'],
                subnet['dns'][0]['address'],
            ),
        )
        self.assertEqual(
            [
                {
                    'address': '10.20.0.9',
                    'type': 'fixed',
                    'version': 4,
                    'meta': {},
                    'floating_ips': [],
                }
            ],
            subnet['ips'],
        )
        self.assertEqual([('garden', vif['address'], subnet['ips'][0])], vifs.addresses([vif]))

    def test_nothing(self):
        for wanted in ('none', None, []):
            info, requests = self.count_requests(
                self.network.allocate, self.admin, self.owner, wanted, host=HOST
            )
            self.assertEqual(([], []), (info, requests))

    def test_automatic(self):
        (vif,) = self.network.allocate(self.admin, self.owner, 'auto', host=HOST)
        self.assertEqual('auto_allocated_network', vif['network']['label'])

    def test_a_port_of_the_user(self):
        port = self.make('port', network_id=self.make_network())
        (vif,) = self.allocate({'port_id': port['id']})
        self.assertEqual(
            (port['id'], port['mac_address'], True),
            (vif['id'], vif['address'], vif['preserve_on_delete']),
        )
        self.assertEqual([port['id']], [item['id'] for item in self.on_server()])

    def test_a_port_that_another_server_took(self):
        port = self.make('port', network_id=self.make_network())
        self.network.allocate(self.admin, self.server(), [{'port_id': port['id']}], host=HOST)
        self.assertRaises(exception.PortInUse, self.allocate, {'port_id': port['id']})
        self.assertEqual([], self.on_server())

    def test_a_port_that_changes_while_it_is_taken(self):
        """The service refuses what was decided on an older revision of the port."""
        port = self.make('port', network_id=self.make_network())
        read = self.network.get_port

        def read_and_lose(ctxt, port_id):
            before = read(ctxt, port_id)
            other = network.Network(self.conf)
            other.allocate(ctxt, self.server(), [{'port_id': port_id}], host='elsewhere')
            return before

        self.network.get_port = read_and_lose
        self.assertRaises(exception.PortInUse, self.allocate, {'port_id': port['id']})
        self.assertEqual('elsewhere', read(self.admin, port['id'])['binding:host_id'])

    def test_again(self):
        net = self.make_network()
        port = self.make('port', network_id=net)
        wanted = [{'network_id': net}, {'port_id': port['id']}, {'network_id': net}]
        before = vifs.port_ids(self.allocate(*wanted[:2]))
        after = vifs.port_ids(self.allocate(*wanted, again=True))
        self.assertEqual(before, after[:2])
        self.assertEqual(set(after), {item['id'] for item in self.on_server()})

    def test_nothing_stays_after_an_error(self):
        net = self.make_network()
        port = self.make('port', network_id=net)
        bad = {'network_id': net, 'fixed_ip': '10.20.0.9'}
        self.make('port', network_id=net, fixed_ips=[{'ip_address': '10.20.0.9'}])
        self.assertRaises(
            exception.FixedIpInUse, self.allocate, {'network_id': net}, {'port_id': port['id']}, bad
        )
        self.assertEqual([], self.on_server())
        self.assertEqual('', self.network.get_port(self.admin, port['id'])['device_id'])

    def test_errors(self):
        net = self.make_network(cidr='10.20.0.0/29')
        for wanted, expected in (
            ({'network_id': runtime.new_uuid()}, exception.NetworkNotUsable),
            ({'network_id': net, 'fixed_ip': '192.0.2.1'}, exception.Invalid),
            ({'port_id': runtime.new_uuid()}, exception.PortNotFound),
        ):
            self.assertRaises(expected, self.allocate, wanted)
        self.assertRaises(exception.NoMoreFixedIps, self.allocate, *[{'network_id': net}] * 8)
        self.set_quota(1)
        self.assertRaises(exception.OverQuota, self.allocate, *[{'network_id': net}] * 2)

    def test_given_back(self):
        net = self.make_network()
        port = self.make('port', network_id=net)
        info = self.allocate({'network_id': net}, {'port_id': port['id']})
        for _ in range(2):
            self.network.deallocate(self.admin, self.owner.uuid, info)
            self.assertEqual([], self.on_server())
        kept = self.network.get_port(self.admin, port['id'])
        self.assertEqual(
            ('', '', ''), (kept['device_id'], kept['device_owner'], kept['binding:host_id'])
        )
        self.assertRaises(exception.PortNotFound, self.network.get_port, self.admin, info[0]['id'])


class InfoTest(NetworkTestCase):
    """network_info read anew."""

    def info(self, known=()):
        return self.network.info(self.admin, self.owner.uuid, known)

    def test_decisions_and_order_are_kept(self):
        net = self.make_network()
        port = self.make('port', network_id=net)
        known = self.allocate(
            {'port_id': port['id']}, {'network_id': net, 'tag': 'b'}, {'network_id': net}
        )
        self.assertEqual(known, self.info(known))
        (added,) = self.allocate({'network_id': net})
        self.network.release(self.admin, [known[2]])
        self.assertEqual([*known[:2], added], self.info(known))

    def test_no_ports(self):
        self.assertEqual([], self.info())

    def test_floating_address(self):
        shared = self.network.list(self.admin, 'networks', shared=True)[0]
        external = self.network.list(self.admin, 'networks', **{'router:external': True})[0]
        router = self.make(
            'router', self.operator, external_gateway_info={'network_id': external['id']}
        )
        self.network.service.call(
            self.operator,
            'PUT',
            f'/routers/{router["id"]}/add_router_interface',
            json={'subnet_id': shared['subnets'][0]},
        )
        known = self.allocate({'network_id': shared['id']})
        floating = self.make(
            'floatingip', floating_network_id=external['id'], port_id=known[0]['id']
        )
        ip = self.info(known)[0]['network']['subnets'][0]['ips'][0]
        self.assertEqual(
            [floating['floating_ip_address']], [item['address'] for item in ip['floating_ips']]
        )
        self.assertEqual(2, len(vifs.addresses(self.info(known))))

    def test_subnets(self):
        (subnet,) = self.network.list_subnets(self.admin, network_id=self.make_network())
        self.assertEqual(subnet, self.network.get_subnet(self.admin, subnet['id']))
        self.assertRaises(exception.SubnetNotFound, self.network.get_subnet, self.admin, 'x')

    def test_resource_request(self):
        self.allocate({'network_id': self.make_network()})
        self.assertFalse(self.network.has_resource_request(self.admin, self.owner.uuid))

    def test_extension(self):
        self.assertTrue(self.network.has_extension(self.admin, 'binding-extended'))
        found, requests = self.count_requests(self.network.has_extension, self.admin, 'nonsense')
        self.assertEqual((False, []), (found, requests))


class BindingTest(NetworkTestCase):
    """Ports on the move."""

    def setUp(self):
        super().setUp()
        net = self.make_network()
        self.info = self.allocate({'network_id': net}, {'network_id': net})
        self.ids = vifs.port_ids(self.info)
        self.bindings = self.network.bindings

    def hosts(self):
        return [
            {(item['host'], item['status']) for item in self.bindings.list(self.admin, one)}
            for one in self.ids
        ]

    def test_supported(self):
        self.assertTrue(self.bindings.are_supported(self.admin))

    def test_there_and_back(self):
        for step, args, expected in (
            (self.bindings.create, (self.info, 'dest'), {(HOST, 'ACTIVE'), ('dest', 'INACTIVE')}),
            (self.bindings.activate, (self.ids, 'dest'), {(HOST, 'INACTIVE'), ('dest', 'ACTIVE')}),
            (self.bindings.activate, (self.ids, HOST), {(HOST, 'ACTIVE'), ('dest', 'INACTIVE')}),
            (self.bindings.delete, (self.ids, 'dest'), {(HOST, 'ACTIVE')}),
        ):
            for _ in range(2):
                step(self.admin, *args)
                self.assertEqual([expected] * 2, self.hosts())

    def test_activation_of_a_binding_that_is_not_there(self):
        error = self.assertRaises(
            exception.PortBindingFailed, self.bindings.activate, self.admin, self.ids, 'dest'
        )
        self.assertIn(self.ids[0], error.message)

    def test_all_or_none(self):
        gone = {**self.info[1], 'id': runtime.new_uuid()}
        self.assertRaises(
            exception.PortBindingFailed,
            self.bindings.create,
            self.admin,
            [self.info[0], gone],
            'dest',
        )
        self.assertEqual([{(HOST, 'ACTIVE')}] * 2, self.hosts())

    def test_moved_at_once(self):
        self.network.move(self.admin, self.ids, 'dest')
        self.assertEqual([{('dest', 'ACTIVE')}] * 2, self.hosts())


class SecurityGroupTest(NetworkTestCase):
    """Groups by name or id."""

    def setUp(self):
        super().setUp()
        self.groups = self.network.security_groups
        self.web = self.make('security_group', name='web')['id']

    def names(self):
        return {group['name'] for group in self.groups.of_server(self.admin, self.owner.uuid)}

    def test_validate(self):
        self.assertEqual([], self.groups.validate(self.member, ['default']))
        self.assertEqual([self.web], self.groups.validate(self.member, ['web', self.web]))
        self.assertRaises(
            exception.SecurityGroupNotUsable, self.groups.validate, self.member, ['nonsense']
        )

    def test_a_name_given_twice(self):
        self.make('security_group', name='web')
        self.assertRaises(exception.NoUniqueMatch, self.groups.validate, self.member, ['web'])

    def test_default(self):
        self.allocate({'network_id': self.make_network()})
        self.assertEqual({'default'}, self.names())

    def test_on_new_ports(self):
        self.allocate({'network_id': self.make_network()}, groups=['web', 'default'])
        self.assertEqual({'web', 'default'}, self.names())

    def test_added_and_removed(self):
        self.allocate({'network_id': self.make_network()})
        for _ in range(2):
            self.groups.add(self.member, self.owner, 'web')
            self.assertEqual({'web', 'default'}, self.names())
        self.groups.remove(self.member, self.owner, self.web)
        self.assertEqual({'default'}, self.names())
        for name in ('web', 'nonsense'):
            self.assertRaises(
                exception.SecurityGroupNotFound, self.groups.remove, self.member, self.owner, name
            )

    def test_no_ports(self):
        self.assertEqual([], self.groups.of_server(self.admin, self.owner.uuid))
