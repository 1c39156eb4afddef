"""The attachment flow that the compute service uses."""

from nova_lite import runtime
from nova_lite.simcloud import external_events
from tests.fixtures import http
from tests.unit.simcloud import base

V3 = '/volume/v3'
SERVER, OTHER = '11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222'
SERVICE = {'X-Service-Roles': 'service'}
VERSION = {'OpenStack-API-Version': 'volume 3.60'}


class Case(base.SimCloudTestCase):
    def setUp(self):
        super().setUp()
        self.demo.headers = {**self.demo.headers, **VERSION}
        self.admin.headers = {**self.admin.headers, **VERSION}
        self.volume_id = self.volume()

    def volume(self, **values):
        return self.demo.post(f'{V3}/volumes', {'volume': {'size': 1, **values}}, expect=202)[
            'volume'
        ]['id']

    def status(self, volume_id=None):
        return self.demo.get(f'{V3}/volumes/{volume_id or self.volume_id}')['volume']['status']

    def reserve(self, server=SERVER, *, expect=200, volume_id=None, **values):
        answer = self.demo.post(
            f'{V3}/attachments',
            {
                'attachment': {
                    'volume_uuid': volume_id or self.volume_id,
                    'instance_uuid': server,
                    **values,
                }
            },
            expect=expect,
        )
        return answer['attachment']['id'] if expect == 200 else answer

    def connect(self, attachment_id, host='h1', *, expect=200, **connector):
        return self.demo.put(
            f'{V3}/attachments/{attachment_id}',
            {
                'attachment': {
                    'connector': {
                        'host': host,
                        'initiator': 'iqn',
                        'mountpoint': '/dev/vdb',
                        **connector,
                    }
                }
            },
            expect=expect,
        )

    def complete(self, attachment_id):
        self.demo.post(
            f'{V3}/attachments/{attachment_id}/action', {'os-complete': None}, expect=204
        )

    def remove(self, attachment_id):
        return self.demo.delete(f'{V3}/attachments/{attachment_id}', expect=200, headers=SERVICE)


class AttachmentTestCase(Case):
    def test_attached_in_one_step(self):
        for given, mode in (({}, 'rw'), ({'mode': 'ro'}, 'ro')):
            volume_id = self.volume()
            body = {'os-attach': {'instance_uuid': SERVER, **given}}
            self.demo.post(f'{V3}/volumes/{volume_id}/action', body, expect=202)
            (attached,) = self.demo.get(f'{V3}/volumes/{volume_id}')['volume']['attachments']
            shown = self.demo.get(f'{V3}/attachments/{attached["attachment_id"]}')['attachment']
            info = shown['connection_info']
            self.assertEqual((mode, mode), (shown['attach_mode'], info['access_mode']))

    def test_only_a_service_ends_what_a_server_uses(self):
        """Since CVE-2023-2088; what has no connection yet anybody may give up."""
        attachment_id = self.reserve()
        self.demo.delete(f'{V3}/attachments/{attachment_id}', expect=200)
        attachment_id = self.reserve()
        self.connect(attachment_id)
        for client in (self.demo, self.admin):
            refused = client.delete(f'{V3}/attachments/{attachment_id}', expect=409)
            self.assertIn(f'Detach volume from instance {SERVER}', str(refused))
            for action in ('os-detach', 'os-terminate_connection'):
                client.post(f'{V3}/volumes/{self.volume_id}/action', {action: {}}, expect=409)
        self.admin.post(
            f'{V3}/volumes/{self.volume_id}/action', {'os-force_detach': {}}, expect=409
        )
        self.assertEqual('attaching', self.status())
        self.remove(attachment_id)
        self.assertEqual('available', self.status())

    def test_reserve_connect_complete_delete(self):
        attachment_id = self.reserve()
        self.assertEqual('reserved', self.status())
        answer = self.connect(attachment_id)['attachment']
        self.assertEqual('reserved', answer['status'])
        shown = self.demo.get(f'{V3}/attachments/{attachment_id}')['attachment']
        self.assertEqual(answer['connection_info'], shown['connection_info'])
        self.assertEqual(
            ('attaching', 'rw', SERVER), (shown['status'], shown['attach_mode'], shown['instance'])
        )
        self.assertEqual(attachment_id, shown['connection_info']['attachment_id'])
        self.assertIn('driver_volume_type', shown['connection_info'])
        self.assertEqual('attaching', self.status())
        self.complete(attachment_id)
        volume = self.admin.get(f'{V3}/volumes/{self.volume_id}')['volume']
        self.assertEqual('in-use', volume['status'])
        self.assertEqual(
            [(SERVER, attachment_id, '/dev/vdb', 'h1')],
            [
                (one['server_id'], one['attachment_id'], one['device'], one['host_name'])
                for one in volume['attachments']
            ],
        )
        self.demo.delete(f'{V3}/volumes/{self.volume_id}', expect=400)
        self.assertEqual({'attachments': []}, self.remove(attachment_id))
        self.assertEqual('available', self.status())
        self.demo.get(f'{V3}/attachments/{attachment_id}', expect=404)

    def test_connector_may_come_with_the_reservation(self):
        attachment_id = self.reserve(connector={'host': 'h1', 'mode': 'ro'})
        shown = self.demo.get(f'{V3}/attachments/{attachment_id}')['attachment']
        self.assertEqual(
            ('attaching', 'null', 'ro'),
            (shown['status'], shown['attach_mode'], shown['connection_info']['access_mode']),
        )
        self.complete(attachment_id)
        (shown,) = self.demo.get(f'{V3}/volumes/{self.volume_id}')['volume']['attachments']
        self.assertEqual('na', shown['device'])

    def test_volume_serves_one_server(self):
        self.reserve()
        fault = self.reserve(OTHER, expect=400)
        self.assertIn('Invalid volume', fault['badRequest']['message'])

    def test_server_may_hold_several_attachments_while_it_moves(self):
        source = self.reserve()
        self.connect(source)
        self.complete(source)
        empty = self.reserve()
        self.assertEqual('in-use', self.status())
        for attachment_id, host in ((empty, 'h1'), (empty, 'h2'), (source, 'h1')):
            self.connect(attachment_id, host, expect=409)
        dest = self.reserve(connector={'host': 'h2', 'mountpoint': '/dev/vdb'})
        self.assertEqual('attaching', self.status())
        self.reserve(expect=400)
        self.complete(dest)
        self.remove(empty)
        self.remove(source)
        self.assertEqual('in-use', self.status())
        (host,) = self.admin.get(f'{V3}/volumes/{self.volume_id}')['volume']['attachments']
        self.assertEqual('h2', host['host_name'])

    def test_connected_attachment_replaced_by_an_empty_one_keeps_the_volume(self):
        first = self.reserve()
        self.connect(first)
        self.complete(first)
        second = self.reserve()
        self.remove(first)
        self.assertEqual('reserved', self.status())
        self.reserve(OTHER, expect=400)
        third = self.reserve()
        self.connect(second)
        self.connect(third, expect=409)
        self.remove(second)
        self.assertEqual('reserved', self.status())
        self.connect(third, 'h2')

    def test_multiattach_volume_serves_several_servers(self):
        volume_id = self.volume(volume_type='multiattach')
        first = self.reserve(volume_id=volume_id)
        self.reserve(OTHER, volume_id=volume_id, expect=400)
        self.connect(first)
        self.complete(first)
        second = self.reserve(OTHER, volume_id=volume_id)
        self.assertEqual('reserved', self.status(volume_id))
        self.connect(second)
        self.complete(second)
        self.assertEqual('in-use', self.status(volume_id))
        self.assertEqual([second], [one['id'] for one in self.remove(first)['attachments']])
        self.assertEqual('in-use', self.status(volume_id))
        self.remove(second)
        self.assertEqual('available', self.status(volume_id))

    def test_volumes_in_error_are_refused(self):
        attachment_id = self.reserve()
        self.admin.post(
            f'{V3}/volumes/{self.volume_id}/action',
            {'os-reset_status': {'status': 'error'}},
            expect=202,
        )
        self.reserve(expect=400)
        self.connect(attachment_id, expect=409)
        self.remove(attachment_id)

    def test_lists(self):
        mine = self.reserve()
        other = self.reserve(OTHER, volume_id=self.volume())

        def ids(client, query='', kind='attachments'):
            return {one['id'] for one in client.get(f'{V3}/{kind}?{query}')['attachments']}

        self.assertEqual({mine}, ids(self.demo, f'instance_id={SERVER}'))
        self.assertEqual({other}, ids(self.demo, f'instance_id={OTHER}', 'attachments/detail'))
        self.assertEqual({mine}, ids(self.demo, f'volume_id={self.volume_id}'))
        self.assertEqual({mine, other}, ids(self.demo))
        self.assertEqual(set(), ids(self.admin))
        self.assertEqual({mine, other}, ids(self.admin, 'all_tenants=1'))
        self.connect(mine)
        self.assertEqual({mine}, ids(self.demo, 'status=attaching'))

    def test_projects_are_apart(self):
        attachment_id = self.reserve()
        other = self.believed('u', 'elsewhere', 'member')
        other.headers |= VERSION
        path = f'{V3}/attachments/{attachment_id}'
        other.get(path, expect=404)
        other.delete(path, expect=404)
        other.post(
            f'{V3}/attachments',
            {'attachment': {'volume_uuid': self.volume_id, 'instance_uuid': SERVER}},
            expect=404,
        )

    def test_older_microversions_know_less(self):
        attachment_id = self.reserve()
        for version, status in (('3.26', 404), ('3.27', 200)):
            self.demo.get(
                f'{V3}/attachments',
                expect=status,
                headers={'OpenStack-API-Version': f'volume {version}'},
            )
        self.demo.post(
            f'{V3}/attachments/{attachment_id}/action',
            {'os-complete': None},
            expect=404,
            headers={'OpenStack-API-Version': 'volume 3.43'},
        )

    def test_wrong_requests(self):
        attachment_id = self.reserve()
        for body in (
            {},
            {'attachment': {}},
            {'attachment': {'connector': None}},
            {'attachment': {'connector': {'host': 7}}},
            [],
        ):
            self.demo.put(f'{V3}/attachments/{attachment_id}', body, expect=400)
            self.demo.post(f'{V3}/attachments', body, expect=400)
        self.reserve(volume_id='nothing', expect=400)
        self.reserve('a server', expect=400)
        self.reserve(None, expect=400)
        self.reserve(volume_id=SERVER, expect=404)


class SlowCompute:
    """Says that no server has the volume, when it is let."""

    def __init__(self):
        self.asked, self.lock, self.let = 0, runtime.Condition(), runtime.Event()

    def __call__(self, environ, start_response):
        with self.lock:
            self.asked += 1
            self.lock.notify()
        self.let.wait(60)
        start_response('404 Not Found', [('Content-Length', '0')])
        return []


class AskingTestCase(Case):
    """Users end attachments, and the compute service is slow to say who uses them."""

    def open(self, **options):
        self.compute = SlowCompute()
        url = self.useFixture(
            http.Http({'/': self.compute}, threads=external_events.MOST_ASKED + 1)
        ).url
        return super().open(compute_events=True, endpoints={'compute': url}, **options)

    def attached(self):
        attachment_id = self.reserve(volume_id=self.volume())
        self.connect(attachment_id)
        return attachment_id

    def end(self, attachment_id):
        return self.demo.raw('DELETE', f'{V3}/attachments/{attachment_id}').status_code

    def test_threads_are_left_for_what_it_asks(self):
        attachments = [self.attached() for _number in range(external_events.MOST_ASKED)]
        more = self.attached()
        with runtime.executor(len(attachments)) as pool:
            ended = [pool.submit(self.end, each) for each in attachments]
            with self.compute.lock:
                self.compute.lock.wait_for(lambda: self.compute.asked == len(attachments), 60)
            refused = self.end(more)
            self.compute.let.set()
            codes = [each.result(60) for each in ended]
        self.assertEqual(([200] * len(attachments), 503), (codes, refused))
        self.assertEqual(200, self.end(more))
