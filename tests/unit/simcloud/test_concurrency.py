"""Many threads and several processes' worth of applications over one database."""

import functools

from nova_lite import runtime
from tests.unit.simcloud import base

THREADS = 6
ATTACHMENTS = '/volume/v3/attachments'


class ConcurrencyTestCase(base.SimCloudTestCase):
    """Runs over SQLite; other databases derive from it."""

    OPTIONS = {'auth': 'noauth'}

    def setUp(self):
        super().setUp()
        again = self.open(**self.OPTIONS)
        self.clients = [
            base.Client(self, wsgi, {**self.admin.headers, 'OpenStack-API-Version': 'volume 3.60'})
            for wsgi in (self.wsgi, again)
        ]

    def at_once(self, count, function):
        """[function(client, number)] from threads, over both applications in turn."""
        with runtime.executor(THREADS) as pool:
            return list(
                pool.map(lambda number: function(self.clients[number % 2], number), range(count))
            )

    def test_no_address_is_given_twice(self):
        network_id = self.network_id('shared')

        def make(client, number):
            return client.post(
                '/network/v2.0/ports',
                {'port': {'network_id': network_id, 'tenant_id': f'p{number % 3}'}},
            )['port']

        ports = self.at_once(60, make)
        self.assertEqual(60, len({one['fixed_ips'][0]['ip_address'] for one in ports}))
        self.assertEqual(60, len({one['mac_address'] for one in ports}))
        groups = self.admin.get('/network/v2.0/security-groups?name=default')
        owners = [one['project_id'] for one in groups['security_groups']]
        self.assertEqual(len(set(owners)), len(owners))

    def test_one_server_gets_the_volume(self):
        volume = self.admin.post('/volume/v3/volumes', {'volume': {'size': 1}}, expect=202)
        volume_id = volume['volume']['id']
        servers = [runtime.new_uuid() for _number in range(12)]

        def reserve(client, number):
            return client.raw(
                'POST',
                ATTACHMENTS,
                {'attachment': {'volume_uuid': volume_id, 'instance_uuid': servers[number]}},
            ).status_code

        self.assertEqual([200] + [400] * 11, sorted(self.at_once(12, reserve)))

    def test_an_offer_is_accepted_once(self):
        volume = self.demo.post('/volume/v3/volumes', {'volume': {'size': 1}}, expect=202)['volume']
        path, wanted = '/volume/v3/os-volume-transfer', {'volume_id': volume['id']}
        made = self.demo.post(path, {'transfer': wanted}, expect=202)['transfer']

        def accept(client, number):
            wanted = {'accept': {'auth_key': made['auth_key']}}
            return client.raw('POST', f'{path}/{made["id"]}/accept', wanted).status_code

        self.assertEqual([202] + [404] * 5, sorted(self.at_once(6, accept)))

    def test_a_port_is_of_one_trunk(self):
        path, port = '/network/v2.0/trunks', self.port()
        child = {'port_id': port['id'], 'segmentation_type': 'vlan', 'segmentation_id': 7}
        parents = [self.port() for _ in range(6)]

        def make(client, number):
            wanted = {'port_id': parents[number]['id'], 'sub_ports': [child]}
            return client.raw('POST', path, {'trunk': wanted}).status_code

        self.assertEqual([201] + [409] * 5, sorted(self.at_once(6, make)))
        self.assertEqual(1, len(self.admin.get(path)['trunks']))

    def test_one_of_equal_names_is_made(self):
        def make(client, number):
            return client.raw(
                'POST', '/identity/v3/projects', {'project': {'name': 'same'}}
            ).status_code

        self.assertEqual([201] + [409] * 9, sorted(self.at_once(10, make)))

    def test_one_binding_is_active(self):
        port = self.port(device_owner='compute:nova', **{'binding:host_id': 'h0'})
        path = f'/network/v2.0/ports/{port["id"]}/bindings'
        for number in range(1, 7):
            self.admin.post(path, {'binding': {'host': f'h{number}'}})
        codes = self.at_once(
            6,
            lambda client, number: client.raw('PUT', f'{path}/h{number + 1}/activate').status_code,
        )
        self.assertEqual([200] * 6, codes)
        found = self.admin.get(path)['bindings']
        self.assertEqual(1, sum(one['status'] == 'ACTIVE' for one in found))

    def test_one_upload_wins(self):
        for _ in range(5):
            image = self.admin.post(
                '/image/v2/images', {'disk_format': 'raw', 'container_format': 'bare'}
            )
            path = f'/image/v2/images/{image["id"]}/file'
            codes = self.at_once(10, functools.partial(self.upload, path))
            self.assertEqual([204] + [409] * 9, sorted(codes))

    def upload(self, path, client, number):
        """The status of an upload of some bytes."""
        headers = {'Content-Type': 'application/octet-stream'}
        return client.raw('PUT', path, number, headers=headers).status_code

    def test_no_tag_is_lost(self):
        image = '/image/v2/images/' + self.admin.post('/image/v2/images', {})['id']
        network = '/network/v2.0/networks/' + self.network_id('shared')
        for path in (image, network):
            codes = self.at_once(
                20, lambda client, number, p=path: client.raw('PUT', f'{p}/tags/t{number}').status
            )
            self.assertEqual(1, len(set(codes)), codes)
        wanted = {f't{number}' for number in range(20)}
        self.assertEqual(wanted, set(self.admin.get(image)['tags']))
        self.assertEqual(wanted, set(self.admin.get(network)['network']['tags']))

    def test_no_metadata_is_lost(self):
        volume = self.admin.post('/volume/v3/volumes', {'volume': {'size': 1}}, expect=202)
        path = f'/volume/v3/volumes/{volume["volume"]["id"]}/metadata'
        codes = self.at_once(
            20,
            lambda client, number: (
                client.raw('PUT', f'{path}/k{number}', {'meta': {f'k{number}': 'v'}}).status_code
            ),
        )
        self.assertEqual([200] * 20, codes)
        self.assertEqual(20, len(self.admin.get(path)['metadata']))

    def test_one_floating_address_is_tied_to_a_port(self):
        v2, port, public = '/network/v2.0', self.port(), self.network_id('public')
        gateway = {'router': {'external_gateway_info': {'network_id': public}}}
        router_id = self.admin.post(f'{v2}/routers', gateway)['router']['id']
        self.admin.put(
            f'{v2}/routers/{router_id}/add_router_interface',
            {'subnet_id': port['fixed_ips'][0]['subnet_id']},
        )
        body = {'floatingip': {'floating_network_id': public}}
        made = [self.admin.post(f'{v2}/floatingips', body)['floatingip']['id'] for _ in range(6)]
        wanted = {'floatingip': {'port_id': port['id']}}
        codes = self.at_once(
            6,
            lambda client, number: (
                client.raw('PUT', f'{v2}/floatingips/{made[number]}', wanted).status_code
            ),
        )
        self.assertEqual([200] + [409] * 5, sorted(codes))

    def test_what_one_application_revokes_the_other_refuses(self):
        headers = dict(self.demo.headers)
        self.clients[1].get('/image/v2/images', headers=headers)
        self.clients[0].delete(
            '/identity/v3/auth/tokens', headers={'X-Subject-Token': headers['X-Auth-Token']}
        )
        self.clients[1].get('/image/v2/images', headers=headers, expect=401)
