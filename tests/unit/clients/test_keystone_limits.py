"""The client of Keystone's unified limits, against simcloud."""

from nova_lite import exception
from nova_lite.clients import keystone_limits
from tests.fixtures import http
from tests.unit.clients import neighbours


def refuse(_environ, start_response):
    """A WSGI application that forbids everything."""
    start_response('403 Forbidden', [('Content-Type', 'application/json')])
    return [b'{}']


class KeystoneLimitsTest(neighbours.NeighbourTestCase):
    def setUp(self):
        super().setUp()
        self.point('oslo_limit', f'{self.cloud.url}/identity')
        self.client = keystone_limits.KeystoneLimits(self.credentials)

    def delete(self, path):
        self.client.service.call(self.operator, 'DELETE', path)

    def call(self, method, path, **options):
        return self.client.service.call(self.operator, method, path, **options).json()

    def project(self, name):
        return self.call('GET', f'/projects?name={name}')['projects'][0]['id']

    def region_of(self, endpoint_id):
        self.conf.set_override('endpoint_id', endpoint_id, 'oslo_limit')
        return keystone_limits.KeystoneLimits(self.credentials)

    def test_limits(self):
        self.assertEqual({}, self.client.registered(self.operator))
        self.client.create(self.operator, {'servers': 5, 'class:VCPU': -1})
        self.assertEqual({'servers': 5, 'class:VCPU': -1}, self.client.registered(self.operator))
        demo, admin = self.project('demo'), self.project('admin')
        self.client.create(self.operator, {'servers': 2}, project_id=demo)
        self.assertEqual({'servers': 2}, self.client.of_project(self.operator, demo))
        self.assertEqual({}, self.client.of_project(self.operator, admin))

    def test_limits_of_a_region(self):
        """With the endpoint's ID, limits of its region count, and no others."""
        (service,) = self.call('GET', '/services?type=compute')['services']
        path = f'/endpoints?service_id={service["id"]}'
        endpoint = self.call('GET', path)['endpoints'][0]
        self.client.create(self.operator, {'servers': 5})
        client = self.region_of(endpoint['id'])
        self.assertEqual({}, client.registered(self.operator))
        client.create(self.operator, {'servers': 7})
        self.assertEqual({'servers': 7}, client.registered(self.operator))
        self.assertEqual({'servers': 5}, self.client.registered(self.operator))
        self.client.use_region(endpoint['region_id'])
        self.assertEqual({'servers': 7}, self.client.registered(self.operator))

    def test_service_that_is_made_again(self):
        self.client.create(self.operator, {'servers': 5})
        self.client.registered(self.operator)
        (former,) = self.call('GET', '/services?type=compute')['services']
        for kind in ('registered_limits', 'endpoints'):
            for each in self.call('GET', f'/{kind}?service_id={former["id"]}')[kind]:
                self.delete(f'/{kind}/{each["id"]}')
        self.delete(f'/services/{former["id"]}')
        self.call('POST', '/services', json={'service': {'type': 'compute', 'name': 'nova'}})
        self.region_of(None).create(self.operator, {'servers': 7})
        self.assertEqual({'servers': 7}, self.client.registered(self.operator))

    def test_service_user_without_a_role(self):
        """Users are not told that they lack permission."""
        for owner in ({}, {'endpoint_id': 'e'}):
            served = self.useFixture(http.Direct({'/identity': refuse}))
            self.point('oslo_limit', f'{served.url}/identity', **owner)
            client = keystone_limits.KeystoneLimits(self.credentials)
            self.assertRaises(exception.Unavailable, client.registered, self.operator)

    def test_text_that_is_no_project(self):
        for text in ('x' * 300, ' ', 'é', 'a/b', '\0'):
            self.client.of_project(self.operator, text)

    def test_service_that_does_not_exist(self):
        self.conf.set_override('endpoint_service_type', 'other', 'oslo_limit')
        self.assertRaises(exception.Unavailable, self.client.registered, self.operator)
        client = self.region_of('unknown')
        self.assertRaises(exception.Unavailable, client.registered, self.operator)
