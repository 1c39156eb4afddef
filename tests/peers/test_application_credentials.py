"""Application credentials of simcloud and their access rules against the real Keystone's."""

from tests.peers import base
from tests.peers import identity

RULE = {'service': 'compute', 'path': '/v2.1/servers', 'method': 'GET'}


class CredentialTest(identity.IdentityPeersTest):
    def begin(self, peer):
        # Roles of Keystone's bootstrap are immutable, and what is not given is null there.
        return super().begin(peer, without=('options', 'unrestricted'))

    def owner(self, peer):
        """The path of a new user, whose token is used from now on."""
        user, project = self.member(peer)
        token = self.token(peer, identity.login({'id': user}, project={'id': project}))
        peer.headers['X-Auth-Token'] = token
        return f'/v3/users/{user}'

    @staticmethod
    def credential(peer, user, name='ci', secret='a-secret-of-tests', **values):
        body = {'application_credential': {'name': name, 'secret': secret, **values}}
        return peer.made(f'{user}/application_credentials', body)

    def log_in(self, peer, credential, secret='a-secret-of-tests'):
        return self.ask_token(peer, {'id': credential['id'], 'secret': secret})

    @staticmethod
    def ask_token(peer, reference):
        methods = ['application_credential']
        body = {'auth': {'identity': {'methods': methods, methods[0]: reference}}}
        answer = peer.ask('POST', '/v3/auth/tokens?nocatalog', body)
        return answer.headers.get('X-Subject-Token')

    @base.same
    def test_credentials(self, peer):
        user = self.owner(peer)
        path = f'{user}/application_credentials'
        first = self.credential(peer, user, description='d')
        self.credential(peer, user, 'second', roles=[{'name': 'reader'}], unrestricted=True)
        self.credential(peer, user, 'third', expires_at='2099-01-01T00:00:00')
        for query in ('', '?name=second', '?name=none'):
            peer.ask('GET', path + query)
        peer.ask('GET', f'{path}/{first["id"]}')
        self.log_in(peer, first)
        self.log_in(peer, first, 'wrong')
        for method in ('DELETE', 'GET', 'DELETE'):
            peer.ask(method, f'{path}/{first["id"]}')
        self.log_in(peer, first)
        owner = {'id': user.rpartition('/')[2]}
        for name in ('second', 'other'):
            for secret in ('a-secret-of-tests', 'wrong'):
                self.ask_token(peer, {'name': name, 'user': owner, 'secret': secret})

    @base.same
    def test_refused_credentials(self, peer):
        user = self.owner(peer)
        self.credential(peer, user)
        for values in (
            {},
            {'name': 'ci'},
            {'name': ''},
            {'name': 1},
            {'name': 'x', 'roles': [{'name': 'admin'}]},
            {'name': 'x', 'roles': [{}]},
            {'name': 'x', 'expires_at': '2000-01-01T00:00:00'},
            {'name': 'x', 'expires_at': 'soon'},
            {'name': 'x', 'unrestricted': 'yes'},
            {'name': 'x', 'access_rules': 'x'},
            *(
                {'name': 'x', 'access_rules': [{**RULE, **wrong}]}
                for wrong in (
                    {'method': 'get'},
                    {'path': 'x'},
                    {'path': '/' * 226},
                    {'service': ''},
                    {'service': 'a b'},
                    {'service': 1},
                )
            ),
        ):
            path = f'{user}/application_credentials'
            peer.ask('POST', path, {'application_credential': values})
        other = f'/v3/users/{identity.NOWHERE}'
        body = {'application_credential': {'name': 'x'}}
        peer.ask('POST', f'{other}/application_credentials', body)
        peer.ask('GET', f'{other}/application_credentials')

    @base.same
    def test_access_rules(self, peer):
        user = self.owner(peer)
        path = f'{user}/access_rules'
        peer.ask('GET', path)
        other = {**RULE, 'method': 'POST'}
        first = self.credential(peer, user, access_rules=[RULE, other])
        rules = peer.ask('GET', path).json()['access_rules']
        (rule,) = (one['id'] for one in rules if one['method'] == 'GET')
        second = self.credential(peer, user, 'second', access_rules=[RULE])
        self.credential(peer, user, 'third', access_rules=[{'id': rule}])
        self.credential(peer, user, 'none', access_rules=[])
        peer.ask('GET', path)
        for query in ('method=POST', 'service=compute', 'path=/x'):
            peer.ask('GET', f'{path}?{query}')
        for each in (rule, identity.NOWHERE):
            peer.ask('GET', f'{path}/{each}')
            peer.ask('DELETE', f'{path}/{each}')
        peer.ask('DELETE', f'{user}/application_credentials/{first["id"]}')
        peer.ask('GET', path)
        (left,) = (one['id'] for one in rules if one['method'] == 'POST')
        for method in ('DELETE', 'GET'):
            peer.ask(method, f'{path}/{left}')
        peer.ask('GET', f'/v3/users/{identity.NOWHERE}/access_rules')
        self.log_in(peer, second)

    @base.same
    def test_what_a_token_with_rules_may(self, peer):
        user = self.owner(peer)
        rules = [
            {'service': 'identity', 'path': path, 'method': 'GET'}
            for path in ('/**/regions', '/**/users/{id}', '/**/users/*/proj*', '/**/auth/**')
        ]
        token = self.log_in(peer, self.credential(peer, user, access_rules=rules))
        subject = {'X-Subject-Token': token}
        for version in (None, '0.9', '1.0'):
            headers = {**subject, 'OpenStack-Identity-Access-Rules': version}
            peer.ask('GET', '/v3/auth/tokens?nocatalog', headers=headers)
        peer.headers['X-Auth-Token'] = token
        for method, path in (
            ('GET', '/v3/regions'),
            ('POST', '/v3/regions'),
            ('GET', '/v3/regions/none'),
            ('GET', user),
            ('GET', f'{user}/projects'),
            ('GET', f'{user}/groups'),
            ('GET', '/v3/auth/projects'),
            ('GET', '/v3/services'),
        ):
            peer.ask(method, path)
