"""simcloud's tokens against those of the real Keystone."""

from tests.peers import base
from tests.peers import identity


class TokenTest(identity.IdentityPeersTest):
    @base.same
    def test_a_token_for_a_project(self, peer):
        user, project = self.member(peer)
        token = self.token(peer, identity.login({'id': user}, project={'id': project}))
        subject = {'X-Subject-Token': token}
        peer.ask('GET', '/v3/auth/tokens?nocatalog', headers=subject)
        peer.ask('HEAD', '/v3/auth/tokens', headers=subject)
        peer.headers['X-Auth-Token'] = token
        peer.ask('GET', '/v3/auth/tokens?nocatalog', headers=subject)
        for what in ('projects', 'domains'):
            peer.ask('GET', f'/v3/auth/{what}')
        peer.ask('GET', f'/v3/users/{user}')
        peer.ask('GET', f'/v3/users/{user}/projects')
        peer.ask('GET', f'/v3/projects/{project}')

    @base.same
    def test_a_token_without_scope(self, peer):
        user, project = self.member(peer)
        token = self.token(peer, identity.login({'id': user}))
        self.token(peer, {'auth': {**identity.login({'id': user})['auth'], 'scope': 'unscoped'}})
        self.token(peer, identity.by_token(token, project={'id': project}))
        self.token(peer, identity.by_token(token, project={'id': identity.NOWHERE}))
        self.token(peer, identity.by_token('nonsense'))
        peer.headers['X-Auth-Token'] = token
        for path in ('/v3/auth/projects', '/v3/auth/domains', '/v3/auth/catalog', '/v3/users'):
            peer.ask('GET', path)

    @base.same
    def test_a_token_for_a_domain(self, peer):
        user, domain = self.user(peer), self.domain(peer)
        self.token(peer, identity.login({'id': user}, domain={'id': domain}))
        role = self.role(peer, 'reader')
        peer.ask('PUT', f'/v3/domains/{domain}/users/{user}/roles/{role}')
        token = self.token(peer, identity.login({'id': user}, domain={'id': domain}))
        self.token(peer, identity.login({'id': user}, domain={'name': self._testMethodName}))
        peer.headers['X-Auth-Token'] = token
        for path in ('/v3/auth/projects', '/v3/auth/domains', f'/v3/domains/{domain}'):
            peer.ask('GET', path)

    @base.same
    def test_names_in_a_login(self, peer):
        self.member(peer)
        user = {'name': f'{self._testMethodName}-user'}
        project = {'name': f'{self._testMethodName}-project'}
        default = {'domain': {'name': 'Default'}}
        self.token(peer, identity.login({**user, **default}, project={**project, **default}))
        self.token(
            peer,
            identity.login({**user, **identity.DEFAULT}, project={**project, **identity.DEFAULT}),
        )
        self.token(peer, identity.login(user, project=project))
        self.token(peer, identity.login({**user, **identity.DEFAULT}, project=project))
        self.token(peer, identity.login({**user, 'domain': {'name': 'none'}}))

    @base.same
    def test_refused_logins(self, peer):
        user, project = self.member(peer)
        other = self.project(peer, 'other')
        off = self.user(peer, 'off', enabled=False)
        closed = self.project(peer, 'closed', enabled=False)
        for body in (
            identity.login({'id': user}, 'wrong'),
            identity.login({'id': identity.NOWHERE}),
            identity.login({'name': 'none', **identity.DEFAULT}),
            identity.login({'id': off}),
            identity.login({'id': user}, project={'id': other}),
            identity.login({'id': user}, project={'id': closed}),
            identity.login({'id': user}, project={'id': identity.NOWHERE}),
            identity.login({'id': user}, domain={'id': 'default'}),
        ):
            self.token(peer, body)
        peer.ask('PATCH', f'/v3/projects/{project}', {'project': {'enabled': False}})
        self.token(peer, identity.login({'id': user}, project={'id': project}))

    @base.same
    def test_malformed_logins(self, peer):
        for body in (
            {},
            {'auth': {}},
            {'auth': {'identity': {}}},
            {'auth': {'identity': {'methods': []}}},
            {'auth': {'identity': {'methods': ['password']}}},
            {'auth': {'identity': {'methods': ['nothing']}}},
            {'auth': {'identity': {'methods': ['password'], 'password': {}}}},
            {'auth': {'identity': {'methods': ['password'], 'password': {'user': {}}}}},
            {'auth': {'identity': {'methods': 'password'}}},
            {'auth': 'x'},
            [],
        ):
            self.token(peer, body)
        json = {'Content-Type': 'application/json'}
        peer.ask('POST', '/v3/auth/tokens', headers=json, data='{')
        peer.ask('POST', '/v3/auth/tokens', headers=json)

    @base.same
    def test_who_may_look_at_a_token(self, peer):
        user, project = self.member(peer)
        token = self.token(peer, identity.login({'id': user}, project={'id': project}))
        second = self.token(peer, identity.login({'id': user}, project={'id': project}))
        peer.ask('GET', '/v3/auth/tokens')
        peer.ask('GET', '/v3/auth/tokens', headers={'X-Subject-Token': 'nonsense'})
        peer.ask('DELETE', '/v3/auth/tokens', headers={'X-Subject-Token': 'nonsense'})
        stranger = self.user(peer, 'stranger')
        strange = self.token(peer, identity.login({'id': stranger}))
        subject = {'X-Subject-Token': token}
        for asks in (second, strange, 'nonsense', None):
            headers = {**subject, 'X-Auth-Token': asks}
            peer.ask('GET', '/v3/auth/tokens?nocatalog', headers=headers)
            peer.ask('HEAD', '/v3/auth/tokens', headers=headers)
        peer.ask('DELETE', '/v3/auth/tokens', headers={**subject, 'X-Auth-Token': strange})

    @base.same
    def test_a_revoked_token(self, peer):
        user, project = self.member(peer)
        token = self.token(peer, identity.login({'id': user}, project={'id': project}))
        subject = {'X-Subject-Token': token}
        peer.ask('DELETE', '/v3/auth/tokens', headers=subject)
        peer.ask('GET', '/v3/auth/tokens', headers=subject)
        peer.ask('DELETE', '/v3/auth/tokens', headers=subject)
        peer.ask('GET', '/v3/auth/projects', headers={'X-Auth-Token': token})
        self.token(peer, identity.by_token(token))

    @base.same
    def test_what_makes_a_token_void(self, peer):
        user, project = self.member(peer)
        asked = identity.login({'id': user}, project={'id': project})
        token = self.token(peer, asked)
        role = self.role(peer)
        grant = f'/v3/projects/{project}/users/{user}/roles/{role}'
        peer.ask('DELETE', grant)
        peer.ask('GET', '/v3/auth/tokens', headers={'X-Subject-Token': token})
        peer.ask('PUT', grant)
        token = self.token(peer, asked)
        peer.ask('PATCH', f'/v3/users/{user}', {'user': {'enabled': False}})
        peer.ask('GET', '/v3/auth/tokens', headers={'X-Subject-Token': token})
        peer.ask('GET', '/v3/auth/projects', headers={'X-Auth-Token': token})

    @base.same
    def test_a_role_that_implies_others(self, peer):
        user, project = self.member(peer, 'admin')
        self.token(peer, identity.login({'id': user}, project={'id': project}))
        peer.ask('GET', f'/v3/projects/{project}/users/{user}/roles')
