"""Many threads and several processes' worth of applications over one database."""

from concurrent import futures

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
        with futures.ThreadPoolExecutor(THREADS) as pool:
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

        def reserve(client, number):
            return client.raw(
                'POST',
                ATTACHMENTS,
                {'attachment': {'volume_uuid': volume_id, 'instance_uuid': f'server-{number}'}},
            ).status_code

        self.assertEqual([200] + [400] * 11, sorted(self.at_once(12, reserve)))

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
        image = self.admin.post(
            '/image/v2/images', {'disk_format': 'raw', 'container_format': 'bare'}
        )

        def upload(client, number):
            return client.raw(
                'PUT',
                f'/image/v2/images/{image["id"]}/file',
                number,
                headers={'Content-Type': 'application/octet-stream'},
            ).status_code

        self.assertEqual([204] + [409] * 9, sorted(self.at_once(10, upload)))

    def test_what_one_application_revokes_the_other_refuses(self):
        headers = dict(self.demo.headers)
        self.clients[1].get('/image/v2/images', headers=headers)
        self.clients[0].delete(
            '/identity/v3/auth/tokens', headers={'X-Subject-Token': headers['X-Auth-Token']}
        )
        self.clients[1].get('/image/v2/images', headers=headers, expect=401)
