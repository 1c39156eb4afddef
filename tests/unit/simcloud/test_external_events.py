"""Events sent to the compute service about changes that users make elsewhere."""

import json

from nova_lite import runtime
from tests.fixtures import http
from tests.unit.simcloud import base

SERVER = '11111111-1111-4111-8111-111111111111'
V2 = '/network/v2.0'


class Compute:
    """Takes events, and can be waited for; `failures` requests get a 503 first."""

    def __init__(self, failures=0):
        self.failures = failures
        self.requests = []
        self.events = []
        self.arrived = runtime.Condition()

    def __call__(self, environ, start_response):
        body = json.loads(environ['wsgi.input'].read(int(environ['CONTENT_LENGTH'])))
        with self.arrived:
            self.requests.append(environ)
            if self.failures:
                self.failures -= 1
                start_response('503 Service Unavailable', [])
                return [b'']
            self.events += body['events']
            self.arrived.notify()
        start_response('200 OK', [])
        return [b'{}']

    def wait_for(self, count):
        """The first `count` events, as (name, server, tag)."""
        with self.arrived:
            self.arrived.wait_for(lambda: len(self.events) >= count, timeout=60)
            return [(one['name'], one['server_uuid'], one['tag']) for one in self.events]


class EventsTestCase(base.SimCloudTestCase):
    def setUp(self):
        self.compute = Compute()
        super().setUp()

    def open(self, **options):
        url = self.useFixture(http.Http({'/compute/v2.1': self.compute})).url
        return super().open(
            compute_events=True, endpoints={'compute': f'{url}/compute/v2.1'}, **options
        )

    def server_port(self):
        """A port of a server of demo, bound by the compute service."""
        port = self.port(self.demo, 'private')
        self.nova = self.believed('nova', 'service', 'admin', 'service')
        self.nova.put(
            f'{V2}/ports/{port["id"]}',
            {'port': {'device_id': SERVER, 'device_owner': 'compute:nova'}},
        )
        return port['id']

    def test_floating_addresses_are_told_of(self):
        port_id = self.server_port()
        made = self.demo.post(
            f'{V2}/floatingips',
            {'floatingip': {'floating_network_id': self.network_id('public'), 'port_id': port_id}},
        )['floatingip']
        path = f'{V2}/floatingips/{made["id"]}'
        self.demo.put(path, {'floatingip': {'port_id': None}})
        self.demo.put(path, {'floatingip': {'port_id': port_id}})
        self.demo.delete(path)
        self.assertEqual([('network-changed', SERVER, port_id)] * 4, self.compute.wait_for(4))
        headers = self.compute.requests[0]
        self.assertEqual('compute 2.93', headers['HTTP_OPENSTACK_API_VERSION'])
        token = self.admin.get(
            '/identity/v3/auth/tokens', headers={'X-Subject-Token': headers['HTTP_X_AUTH_TOKEN']}
        )['token']
        self.assertEqual('service', token['project']['name'])

    def test_users_changes_of_ports_are_told_of_and_services_are_not(self):
        port_id = self.server_port()
        path = f'{V2}/ports/{port_id}'
        self.nova.put(path, {'port': {'binding:host_id': 'h'}})
        self.demo.put(path, {'port': {'fixed_ips': []}})
        self.demo.delete(path, expect=403)
        self.admin.delete(path)
        self.assertEqual(
            [('network-changed', SERVER, port_id), ('network-vif-deleted', SERVER, port_id)],
            self.compute.wait_for(2),
        )

    def test_larger_volumes_are_told_of(self):
        volume = self.demo.post('/volume/v3/volumes', {'volume': {'size': 1}}, expect=202)
        volume_id = volume['volume']['id']
        path = f'/volume/v3/volumes/{volume_id}/action'
        extend = {'os-extend': {'new_size': 2}}
        self.demo.post(path, extend, expect=202)
        self.demo.post(path, {'os-attach': {'instance_uuid': SERVER}}, expect=202)
        extend['os-extend']['new_size'] = 3
        self.demo.post(path, extend, expect=400)
        self.demo.headers['OpenStack-API-Version'] = 'volume 3.42'
        self.demo.post(path, extend, expect=202)
        self.assertEqual([('volume-extended', SERVER, volume_id)], self.compute.wait_for(1))

    def test_delivery_is_tried_again(self):
        self.compute.failures = 1
        port_id = self.server_port()
        self.demo.put(f'{V2}/ports/{port_id}', {'port': {'name': 'n'}})
        self.assertEqual([('network-changed', SERVER, port_id)], self.compute.wait_for(1))
        self.assertEqual(2, len(self.compute.requests))
