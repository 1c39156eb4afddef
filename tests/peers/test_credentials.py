"""Credentials and policies of simcloud's identity service against the real Keystone."""

from tests.peers import base
from tests.peers import identity


class CredentialsTest(identity.IdentityPeersTest):
    def made(self, peer, **values):
        """Create a credential; return the path."""
        body = {'credential': {'type': 'cert', 'blob': 'secret', **values}}
        return f'/v3/credentials/{peer.made("/v3/credentials", body)["id"]}'

    @base.same
    def test_credentials(self, peer):
        user, project = self.member(peer)
        path = self.made(peer, user_id=user, project_id=project)
        peer.ask('GET', path)
        peer.ask('GET', f'/v3/credentials?user_id={user}')
        peer.ask('GET', f'/v3/credentials?user_id={user}&type=other')
        for values in (
            *({'blob': 'new'}, {'type': 'other'}, {'blob': 'x', 'type': 'more'}),
            *({'type': 'ec2'}, {'type': 'cert'}, {'type': 'totp'}, {'project_id': None}),
            *({'blob': 1}, {'user_id': 1}, {}),
        ):
            peer.ask('PATCH', path, {'credential': values})
        for method in ('DELETE', 'GET', 'PATCH', 'DELETE'):
            peer.ask(method, path, {'credential': {'blob': 'x'}} if method == 'PATCH' else None)

    @base.same
    def test_of_a_member(self, peer):
        user, project = self.member(peer)
        other = self.user(peer, 'other')
        foreign = self.made(peer, user_id=other)
        peer.headers['X-Auth-Token'] = self.token(
            peer, identity.login({'id': user}, project={'id': project})
        )
        path = self.made(peer, user_id=user)
        for each in (path, foreign):
            peer.ask('GET', each)
            peer.ask('PATCH', each, {'credential': {'blob': 'x'}})
        peer.ask('GET', '/v3/credentials')
        body = {'type': 'cert', 'blob': 'x', 'user_id': other}
        peer.ask('POST', '/v3/credentials', {'credential': body})
        for each in (foreign, path):
            peer.ask('DELETE', each)

    @base.same
    def test_refused_credentials(self, peer):
        user, _project = self.member(peer)
        for values in (
            {'type': 'cert'},
            {'blob': 'x'},
            {'type': 'ec2', 'blob': '{}', 'user_id': user},
            {'type': 'cert', 'blob': 1, 'user_id': user},
            {'type': 'foo', 'blob': 'x', 'user_id': user},
            {'type': 'ec2', 'blob': 'x', 'user_id': user, 'project_id': 'p'},
            {'type': 'ec2', 'blob': '{"access": "a"}', 'user_id': user, 'project_id': 'p'},
            {'type': 'cert', 'blob': 'x'},
            {'type': 'cert', 'blob': 'x', 'user_id': user, 'colour': 'blue'},
            {'type': 'cert', 'blob': 'x', 'user_id': identity.NOWHERE},
        ):
            peer.ask('POST', '/v3/credentials', {'credential': values})

    @base.same
    def test_policies(self, peer):
        body = {'policy': {'type': 'application/json', 'blob': '{}'}}
        path = f'/v3/policies/{peer.made("/v3/policies", body)["id"]}'
        peer.ask('GET', path)
        peer.ask('GET', '/v3/policies?type=other')
        peer.ask('PATCH', path, {'policy': {'blob': 'new'}})
        for method in ('DELETE', 'GET', 'DELETE'):
            peer.ask(method, path)
