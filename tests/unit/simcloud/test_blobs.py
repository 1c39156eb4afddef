"""Credentials and policies, which the identity service keeps for others."""

import hashlib

from tests.unit.simcloud import base

V3 = '/identity/v3'
CREDENTIALS, POLICIES = f'{V3}/credentials', f'{V3}/policies'


class CredentialsTest(base.SimCloudTestCase):
    def user_id(self, name):
        return self.admin.get(f'{V3}/users?name={name}')['users'][0]['id']

    def create(self, client, *, expect=201, **values):
        values.setdefault('user_id', self.user_id('demo' if client is self.demo else 'admin'))
        body = {'credential': {'type': 'cert', 'blob': 'secret', **values}}
        return client.post(CREDENTIALS, body, expect=expect).get('credential')

    def test_of_a_user(self):
        made = self.create(self.demo)
        self.assertEqual(
            (self.user_id('demo'), None, 'cert', 'secret'),
            (made['user_id'], made['project_id'], made['type'], made['blob']),
        )
        path = f'{CREDENTIALS}/{made["id"]}'
        self.demo.request('PATCH', path, {'credential': {'blob': 'new'}})
        self.assertEqual('new', self.demo.get(path)['credential']['blob'])
        self.demo.request('PATCH', path, {'credential': {}}, expect=400)
        self.demo.delete(path)
        self.demo.get(path, expect=404)

    def test_of_other_users(self):
        own, other = self.create(self.demo), self.create(self.admin)
        path = f'{CREDENTIALS}/{other["id"]}'
        self.demo.get(path, expect=403)
        self.demo.request('PATCH', path, {'credential': {'blob': 'x'}}, expect=403)
        self.demo.delete(path, expect=403)
        self.create(self.demo, expect=403, user_id=other['user_id'])
        change = {'credential': {'user_id': other['user_id']}}
        self.admin.request('PATCH', f'{CREDENTIALS}/{own["id"]}', change, expect=400)
        self.assertEqual([own], self.demo.get(CREDENTIALS)['credentials'])
        listed = self.admin.get(CREDENTIALS)['credentials']
        self.assertEqual({own['id'], other['id']}, {each['id'] for each in listed})
        found = self.admin.get(f'{CREDENTIALS}?user_id={own["user_id"]}')['credentials']
        self.assertEqual([own['id']], [each['id'] for each in found])

    def test_refused(self):
        self.create(self.admin, expect=400, user_id=None)
        self.create(self.admin, expect=400, blob=1)

    def test_of_ec2(self):
        blob = '{"access": "a"}'
        self.create(self.admin, expect=400, type='ec2', blob=blob)
        for wrong in ('x', '[]', '1', '{}', '{"access": 1}'):
            self.create(self.admin, expect=400, type='ec2', project_id='p', blob=wrong)
        made = self.create(self.admin, type='ec2', project_id='p', blob=blob)
        self.assertEqual(hashlib.sha256(b'a').hexdigest(), made['id'])
        self.create(self.admin, expect=409, type='ec2', project_id='p', blob=blob)

    def test_they_go_with_their_user(self):
        user = self.admin.post(f'{V3}/users', {'user': {'name': 'x'}}, expect=201)['user']
        self.create(self.admin, user_id=user['id'])
        self.admin.delete(f'{V3}/users/{user["id"]}')
        self.assertEqual([], self.admin.get(CREDENTIALS)['credentials'])


class PoliciesTest(base.SimCloudTestCase):
    def test_policies(self):
        body = {'policy': {'type': 'application/json', 'blob': '{}'}}
        made = self.admin.post(POLICIES, body, expect=201)['policy']
        path = f'{POLICIES}/{made["id"]}'
        changed = self.admin.request('PATCH', path, {'policy': {'blob': '{"a": []}'}})['policy']
        self.assertEqual('{"a": []}', changed['blob'])
        self.assertEqual([changed], self.admin.get(POLICIES)['policies'])
        self.assertEqual([], self.admin.get(f'{POLICIES}?type=x')['policies'])
        self.demo.get(POLICIES, expect=403)
        self.admin.delete(path)
        self.admin.get(path, expect=404)


class AgentsTest(base.SimCloudTestCase):
    def test_there_are_none(self):
        self.assertEqual({'agents': []}, self.admin.get('/network/v2.0/agents'))
