"""The life of servers in a whole cloud, through openstacksdk and plain HTTP."""

from tests.functional import base
from tests.sim.cases import loading

load_tests = loading.load_tests

SLOW = "extends: instant\nhosts: [{match: '*', delays: {spawn: 60}}]\n"
PROMPT = 'extends: instant\n'


class ServerTest(base.CloudTest):
    settings = base.ROOMY

    def body(self, **values):
        """The body that creates a server, with `values` over the usual ones."""
        image = self.cloud.admin.image.find_image('cirros').id
        server = {'name': 'server', 'flavorRef': '1', 'imageRef': image, 'networks': 'none'}
        return {'server': {**server, **values}}

    # ---- life ----

    def test_life(self):
        network = self.cloud.admin.network.find_network('private')
        compute = self.cloud.admin.compute
        server = self.cloud.boot(networks=[{'uuid': network.id}], metadata={'kind': 'test'})
        self.assertEqual({'kind': 'test'}, server.metadata)
        ((address,),) = server.addresses.values()
        self.assertEqual('fixed', address['OS-EXT-IPS:type'])
        (port,) = self.cloud.admin.network.ports(device_id=server.id)
        self.assertEqual((server.compute_host, 'ACTIVE'), (port.binding_host_id, port.status))
        self.assertEqual({server.id: [server.compute_host]}, self.cloud.guests())
        compute.stop_server(server)
        self.cloud.wait(server, 'SHUTOFF')
        self.assertEqual({}, self.cloud.guests())
        compute.start_server(server)
        self.cloud.wait(server)
        for kind in ('SOFT', 'HARD'):
            compute.reboot_server(server, kind)
            self.cloud.wait(server)
        compute.update_server(server, name='renamed')
        self.assertEqual('renamed', compute.get_server(server.id).name)
        actions = [each.action for each in compute.server_actions(server)]
        self.assertEqual(['reboot', 'reboot', 'start', 'stop', 'create'], actions)
        self.delete(server)
        self.assertEqual({}, self.cloud.guests())
        self.assertEqual([], list(self.cloud.admin.network.ports(device_id=server.id)))

    def test_actions_need_their_state(self):
        server = self.cloud.boot()
        path = f'/servers/{server.id}/action'
        message = self.refused(409, 'POST', path, {'os-start': None})
        self.assertEqual(
            f"Cannot 'start' instance {server.id} while it is in vm_state active", message
        )
        self.api('POST', path, {'os-stop': None}, status=202)
        self.cloud.wait(server, 'SHUTOFF')
        self.refused(409, 'POST', path, {'os-stop': None})
        self.refused(409, 'POST', path, {'reboot': {'type': 'SOFT'}})

    def test_state_set_by_hand(self):
        server = self.cloud.boot()
        path = f'/servers/{server.id}/action'
        self.api('POST', path, {'os-resetState': {'state': 'error'}}, status=202)
        self.assertEqual('ERROR', self.status(server))
        self.api('POST', path, {'reboot': {'type': 'HARD'}}, status=202)
        self.cloud.wait(server, 'ACTIVE')
        self.refused(404, 'POST', path, {'os-stop': None}, cloud='nova-lite-demo')

    # ---- deleted while it is made ----

    def test_deleted_before_and_while_it_is_built(self):
        self.cloud.behave(SLOW)
        self.addCleanup(self.cloud.behave, PROMPT)
        servers = [self.cloud.boot(f'at-once-{number}', wait=False) for number in range(4)]
        self.delete(*servers)
        spawning = self.cloud.boot(wait=False)
        self.cloud.wait(spawning, 'BUILD', task='spawning')
        self.delete(spawning)
        self.assertEqual({}, self.cloud.guests())

    # ---- many at once ----

    def test_many_at_once(self):
        body = self.body(min_count=3, max_count=3, return_reservation_id=True)
        reservation = self.api('POST', '/servers', body, status=202)['reservation_id']
        listed = self.api('GET', f'/servers/detail?reservation_id={reservation}')['servers']
        self.assertEqual(
            ['server-1', 'server-2', 'server-3'], sorted(each['name'] for each in listed)
        )
        for each in self.cloud.admin.compute.servers():
            self.cloud.wait(each)

    def test_all_or_none(self):
        flavor = self.cloud.admin.compute.create_flavor(name='big', vcpus=1, ram=200000, disk=1)
        self.addCleanup(self.cloud.admin.compute.delete_flavor, flavor)
        # Four hosts have room for one each.
        body = self.body(flavorRef=flavor.id, min_count=5, max_count=5)
        self.api('POST', '/servers', body, status=403)
        self.cloud.admin.compute.update_quota_set(self.project('admin'), ram=-1)
        self.api('POST', '/servers', body, status=202)
        servers = list(self.cloud.admin.compute.servers())
        self.assertEqual(5, len(servers))
        for server in servers:
            broken = self.cloud.wait(server, 'ERROR')
            self.assertIn('No valid host', broken.fault['message'])
            self.assertIsNone(broken.compute_host)
        self.assertEqual({}, self.cloud.guests())
        body['server'].update(min_count=4, max_count=4, name='fits')
        self.api('POST', '/servers', body, status=202)
        for server in self.cloud.admin.compute.servers(name='fits'):
            self.cloud.wait(server)

    def project(self, name):
        return self.cloud.admin.identity.find_project(name).id

    # ---- nowhere to go ----

    def test_no_valid_host(self):
        flavor = self.cloud.admin.compute.create_flavor(name='huge', vcpus=1, ram=1, disk=99999)
        self.addCleanup(self.cloud.admin.compute.delete_flavor, flavor)
        server = self.cloud.boot(flavor='huge', status='ERROR')
        self.assertEqual(500, server.fault['code'])
        self.assertIn('No valid host was found', server.fault['message'])
        self.assertEqual('error', server.vm_state)
        (action,) = self.cloud.admin.compute.server_actions(server)
        self.assertEqual(('create', 'Error'), (action.action, action.message))
        self.refused(409, 'POST', f'/servers/{server.id}/action', {'os-start': None})
        self.assertIn(server.id, [each.id for each in self.cloud.admin.compute.servers()])
        self.delete(server)

    # ---- projects and quotas ----

    def test_projects_do_not_see_each_other(self):
        server = self.cloud.boot()
        path = f'/servers/{server.id}'
        for method, where, body in (
            ('GET', path, None),
            ('DELETE', path, None),
            ('PUT', path, {'server': {'name': 'mine'}}),
            ('POST', f'{path}/action', {'os-stop': None}),
            ('GET', f'{path}/os-instance-actions', None),
            ('GET', f'{path}/metadata', None),
        ):
            message = self.refused(404, method, where, body, cloud='nova-lite-demo')
            self.assertEqual(f'Instance {server.id} could not be found.', message)
        self.assertEqual([], list(self.cloud.demo.compute.servers()))
        self.refused(403, 'GET', '/servers?all_tenants=1', cloud='nova-lite-demo')
        self.refused(403, 'GET', '/os-hypervisors', cloud='nova-lite-demo')
        mine = self.cloud.boot('mine', connection=self.cloud.demo)
        self.assertEqual([mine.id], [each.id for each in self.cloud.demo.compute.servers()])
        every = {each.id for each in self.cloud.admin.compute.servers(all_projects=True)}
        self.assertEqual({server.id, mine.id}, every)
        self.assertEqual([server.id], [each.id for each in self.cloud.admin.compute.servers()])

    def test_quota(self):
        body = self.body(min_count=13, max_count=13)
        message = self.refused(403, 'POST', '/servers', body)
        self.assertEqual(
            'Quota exceeded for instances: Requested 13, but already used 0 of 12 instances',
            message,
        )
        self.assertEqual([], list(self.cloud.admin.compute.servers()))
        body = self.body(min_count=2, max_count=30)
        self.api('POST', '/servers', body, status=202)
        servers = list(self.cloud.admin.compute.servers())
        self.assertEqual(12, len(servers))
        self.refused(403, 'POST', '/servers', self.body())
        limits = self.api('GET', '/limits')['limits']['absolute']
        self.assertEqual((12, 12), (limits['totalInstancesUsed'], limits['maxTotalInstances']))
        for server in servers:
            self.cloud.wait(server)
        self.delete(servers[0])
        self.cloud.boot()

    # ---- what is wrong is refused, and leaves nothing ----

    def test_what_is_wrong_leaves_nothing(self):
        for field, values in (
            ('name', {'name': 'x' * 256}),
            ('flavorRef', {'flavorRef': 'nothing'}),
            ('imageRef', {'imageRef': 'not-a-uuid'}),
            ('unknown', {'unknown': 1}),
            ('max_count', {'max_count': 'many'}),
            ('personal', {'metadata': {'personal': 'v' * 300}}),
        ):
            message = self.refused(400, 'POST', '/servers', self.body(**values))
            expected = 'Flavor nothing' if field == 'flavorRef' else field
            self.assertIn(expected, message)
        self.refused(400, 'POST', '/servers', {'server': []})
        answer = self.cloud.api('POST', '/servers', data='{"server": ')
        self.assertEqual(400, answer.status_code, answer.text)
        answer = self.cloud.api('POST', '/servers', data='"' + 'x' * 200000 + '"')
        self.assertEqual(413, answer.status_code, answer.text)
        self.assertEqual([], list(self.cloud.admin.compute.servers()))


class SeldomAskedTest(base.CloudTest):
    """Operations of which no client's own tests have a request that succeeds."""

    settings = base.ROOMY

    def plugged(self):
        """A server with a port on the network `private`."""
        return self.cloud.boot(networks=[{'uuid': self.cloud.network_id()}])

    def addresses(self, server):
        found = self.cloud.admin.compute.get_server(server.id).addresses
        return [each['addr'] for each in found['private']]

    def set_option(self, name, value):
        conf = self.cloud.cloud.confs['control']
        conf.set_override(name, value)
        self.addCleanup(conf.clear_override, name)

    def test_addresses_up_to_2_43(self):
        server, compute = self.plugged(), self.cloud.admin.compute
        old = self.cloud.connect(compute_default_microversion='2.43').compute
        (first,) = self.addresses(server)
        old.add_fixed_ip_to_server(server, self.cloud.network_id())
        (second,) = set(self.addresses(server)) - {first}
        old.remove_fixed_ip_from_server(server, second)
        self.assertEqual([first], self.addresses(server))
        (port,) = compute.server_interfaces(server)
        shown = compute.get_server_interface(port.port_id, server)
        self.assertEqual([first], [each['ip_address'] for each in shown.fixed_ips])

    def test_the_token_of_a_console(self):
        server, compute = self.cloud.boot(), self.cloud.admin.compute
        made = compute.create_server_remote_console(server, protocol='serial', type='serial')
        token = made.url.partition('token=')[2]
        found = compute.validate_console_auth_token(token)
        self.assertEqual((server.id, server.compute_host), (found.instance_uuid, found.host))

    def test_soft_deletion(self):
        self.set_option('reclaim_instance_interval', 3600)
        server, compute = self.cloud.boot(), self.cloud.admin.compute
        compute.delete_server(server)
        self.cloud.wait(server, 'SOFT_DELETED')
        compute.restore_server(server)
        self.cloud.wait(server)
        compute.delete_server(server)
        self.cloud.wait(server, 'SOFT_DELETED')
        compute.delete_server(server, force=True)
        self.cloud.wait_gone(server)

    def test_offloading(self):
        self.set_option('shelved_offload_time', 3600)
        server, compute = self.cloud.boot(), self.cloud.admin.compute
        compute.shelve_server(server)
        self.cloud.wait(server, 'SHELVED')
        compute.shelve_offload_server(server)
        self.cloud.wait(server, 'SHELVED_OFFLOADED')
