"""Trusts: roles that a user delegates, tokens obtained with them, and what voids these."""

import datetime

from nova_lite import runtime
from tests.unit.simcloud import base

V3 = '/identity/v3'
TRUSTS = f'{V3}/OS-TRUST/trusts'
CATALOG = f'{V3}/auth/catalog'


class TrustsTest(base.SimCloudTestCase):
    def setUp(self):
        super().setUp()
        self.users = {one['name']: one['id'] for one in self.admin.get(f'{V3}/users')['users']}
        (project,) = self.demo.get(f'{V3}/auth/projects')['projects']
        self.project = project['id']

    def make(self, *, client=None, expect=201, **values):
        """A trust of demo's, which gives the role member to glance."""
        values = {
            'trustor_user_id': self.users['demo'],
            'trustee_user_id': self.users['glance'],
            'project_id': self.project,
            'roles': [{'name': 'member'}],
            'impersonation': True,
            **values,
        }
        answer = (client or self.demo).post(TRUSTS, {'trust': values}, expect=expect)
        return answer['trust'] if expect == 201 else answer

    def log_in(self, trust, *, user='glance', password='pw-service', expect=201):
        """A client with a token of a trust."""
        body = base.login_body(user, password)
        body['auth']['scope'] = {'OS-TRUST:trust': {'id': trust['id']}}
        answer = self.anyone.raw('POST', f'{V3}/auth/tokens', body)
        self.assertEqual(expect, answer.status_code, answer.text)
        secret = answer.headers.get('X-Subject-Token', '')
        return base.Client(self, self.wsgi, {'X-Auth-Token': secret})

    def token_of(self, client):
        headers = {'X-Subject-Token': client.headers['X-Auth-Token']}
        return client.get(f'{V3}/auth/tokens', headers=headers)['token']

    def test_tokens_of_the_trustor_or_the_trustee(self):
        for impersonation, name in ((True, 'demo'), (False, 'glance')):
            trust = self.make(impersonation=impersonation)
            client = self.log_in(trust)
            token = self.token_of(client)
            self.assertEqual(name, token['user']['name'])
            self.assertEqual(self.project, token['project']['id'])
            self.assertEqual(['member', 'reader'], [one['name'] for one in token['roles']])
            self.assertEqual(
                {
                    'id': trust['id'],
                    'impersonation': impersonation,
                    'trustor_user': {'id': self.users['demo']},
                    'trustee_user': {'id': self.users['glance']},
                },
                token['OS-TRUST:trust'],
            )
            made = client.post('/volume/v3/volumes', {'volume': {'size': 1}}, expect=202)
            self.demo.get(f'/volume/v3/volumes/{made["volume"]["id"]}')
            client.get(f'{V3}/users', expect=403)

    def test_roles_without_those_they_imply(self):
        trust = self.make(roles=[{'name': 'reader'}])
        client = self.log_in(trust)
        client.post('/volume/v3/volumes', {'volume': {'size': 1}}, expect=403)
        (role,) = self.demo.get(f'{TRUSTS}/{trust["id"]}/roles')['roles']
        one = f'{TRUSTS}/{trust["id"]}/roles/{role["id"]}'
        self.assertEqual({'role': role}, self.demo.get(one))
        self.demo.request('HEAD', one)

    def test_only_the_trustee_obtains_tokens(self):
        trust = self.make()
        self.log_in(trust, user='demo', password='pw-demo', expect=403)
        self.log_in(trust, password='wrong', expect=401)
        self.log_in({'id': 'unknown'}, expect=401)

    def test_delegated_tokens_create_no_others(self):
        client = self.log_in(self.make(allow_redelegation=True))
        self.make(client=client, expect=403)
        secret = client.headers['X-Auth-Token']
        identity = {'methods': ['token'], 'token': {'id': secret}}
        self.anyone.post(f'{V3}/auth/tokens', {'auth': {'identity': identity}}, expect=403)
        path = f'{V3}/users/{self.users["demo"]}/application_credentials'
        body = {'application_credential': {'name': 'ci'}}
        client.post(path, body, expect=403)
        made = self.demo.post(path, body)['application_credential']
        reference = {name: made[name] for name in ('id', 'secret')}
        identity = {'methods': ['application_credential'], 'application_credential': reference}
        answer = self.anyone.raw('POST', f'{V3}/auth/tokens', {'auth': {'identity': identity}})
        restricted = {'X-Auth-Token': answer.headers['X-Subject-Token']}
        self.make(client=base.Client(self, self.wsgi, restricted), expect=403)

    def test_tokens_last_no_longer_than_their_trust(self):
        soon = runtime.naive_now() + datetime.timedelta(minutes=5)
        expires_at = f'{soon.isoformat(timespec="microseconds")}Z'
        trust = self.make(expires_at=expires_at)
        client = self.log_in(trust)
        self.assertEqual(expires_at, self.token_of(client)['expires_at'])
        client.get(CATALOG)
        self.make(expires_at=expires_at, expect=409)
        self.make(expires_at='2001-01-01T00:00:00Z', expect=400)
        self.change_database("UPDATE identity_trusts SET expires_at = '2001-01-01 00:00:00.0'")
        self.change_database('UPDATE identity_generation SET value = value + 1')
        client.get(CATALOG, expect=401)
        self.log_in(trust, expect=401)
        self.demo.get(f'{TRUSTS}/{trust["id"]}', expect=404)

    def test_uses_are_counted(self):
        trust = self.make(remaining_uses=2)
        self.log_in(trust)
        shown = self.demo.get(f'{TRUSTS}/{trust["id"]}')['trust']
        self.assertEqual(1, shown['remaining_uses'])
        last = self.log_in(trust)
        self.log_in(trust, expect=401)
        last.get(CATALOG)

    def test_what_ends_with_the_trust(self):
        """Its tokens are void when it is deleted, or the trustor has lost a role or is disabled."""
        member = self.admin.get(f'{V3}/roles?name=member')['roles'][0]['id']
        path = f'{V3}/projects/{self.project}/users/{self.users["demo"]}/roles/{member}'
        trust = self.make()
        client = self.log_in(trust)
        self.admin.delete(path)
        client.get(CATALOG, expect=401)
        self.log_in(trust, expect=403)
        self.admin.put(path, expect=204)
        client.get(CATALOG)
        user = f'{V3}/users/{self.users["demo"]}'
        for enabled, expect in ((False, 401), (True, 200)):
            self.admin.request('PATCH', user, {'user': {'enabled': enabled}})
            client.get(CATALOG, expect=expect)
        self.log_in(trust)
        self.demo.delete(f'{TRUSTS}/{trust["id"]}')
        client.get(CATALOG, expect=401)
        self.log_in(trust, expect=401)

    def test_trusts_go_with_users_and_projects(self):
        first = self.make()
        self.admin.delete(f'{V3}/users/{self.users["glance"]}')
        second = self.make(trustee_user_id=self.users['nova'])
        self.assertEqual(
            [second['id']], [one['id'] for one in self.admin.get(TRUSTS)['trusts']], first
        )
        self.admin.delete(f'{V3}/projects/{self.project}')
        self.assertEqual([], self.admin.get(TRUSTS)['trusts'])

    def test_who_sees_and_deletes_trusts(self):
        trust = self.make()
        one = f'{TRUSTS}/{trust["id"]}'
        self.assertEqual(trust, self.demo.get(one)['trust'])
        brief = {key: value for key, value in trust.items() if not key.startswith('roles')}
        trustee = self.login('glance', 'pw-service')
        query = f'trustee_user_id={self.users["glance"]}'
        self.assertEqual([brief], trustee.get(f'{TRUSTS}?{query}')['trusts'])
        self.assertEqual([brief], self.admin.get(TRUSTS)['trusts'])
        self.demo.get(f'{TRUSTS}?{query}', expect=403)
        self.demo.get(TRUSTS, expect=403)
        trustee.get(one)
        trustee.delete(one, expect=403)
        stranger = self.believed('somebody', self.project, 'member')
        stranger.get(one, expect=403)
        stranger.delete(one, expect=403)
        # As a service does for a user who is not there.
        self.log_in(trust).delete(one)
        self.demo.delete(one, expect=404)
