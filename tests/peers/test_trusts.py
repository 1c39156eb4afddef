"""Trusts of simcloud and the tokens obtained with them, against the real Keystone's."""

from tests.peers import base
from tests.peers import identity

TRUSTS = '/v3/OS-TRUST/trusts'
FAR = '2099-01-01T00:00:00.000000Z'


def by_trust(user, trust):
    """The body of a request for a token with a trust."""
    body = identity.login({'id': user})
    body['auth']['scope'] = {'OS-TRUST:trust': {'id': trust}}
    return body


class TrustTest(identity.IdentityPeersTest):
    def begin(self, peer):
        # Roles of Keystone's bootstrap are immutable. Tokens of its trusts show roles in full, and
        # not that the project is no domain.
        more = ('description', 'domain_id', 'is_domain')
        return super().begin(peer, without=('options', *more))

    def parties(self, peer):
        """(trustor, trustee, project) of new users; requests are the trustor's from now on."""
        trustor, project = self.member(peer)
        trustee = self.user(peer, 'trustee')
        self.admin = peer.headers['X-Auth-Token']
        self.by(peer, trustor, project={'id': project})
        return trustor, trustee, project

    def by(self, peer, user, **scope):
        """Send the requests that follow as a user."""
        peer.headers['X-Auth-Token'] = self.token(peer, identity.login({'id': user}, **scope))

    @staticmethod
    def trust(peer, parties, **values):
        trustor, trustee, project = parties
        values.setdefault('roles', [{'name': 'member'}])
        ends = {'trustor_user_id': trustor, 'trustee_user_id': trustee, 'project_id': project}
        return peer.made(TRUSTS, {'trust': {**ends, 'impersonation': True, **values}})

    @base.same
    def test_trusts(self, peer):
        parties = self.parties(peer)
        trustor, trustee, project = parties
        made = self.trust(peer, parties)
        role = made['roles'][0]['id']
        self.trust(peer, parties, expires_at=FAR, remaining_uses=3, impersonation=False)
        self.trust(peer, parties, expires_at=FAR, remaining_uses=3, impersonation=False)
        self.trust(peer, parties, allow_redelegation=True, roles=[{'id': role}])
        self.trust(peer, parties, allow_redelegation=True, redelegation_count=1)
        one = f'{TRUSTS}/{made["id"]}'
        for _party in (trustor, trustee):
            for path in ('', f'?trustor_user_id={trustor}', f'?trustee_user_id={trustee}'):
                peer.ask('GET', TRUSTS + path)
            peer.ask('GET', one)
            peer.ask('GET', f'{one}/roles')
            peer.ask('GET', f'{one}/roles/{role}')
            peer.ask('HEAD', f'{one}/roles/{role}')
            peer.ask('GET', f'{one}/roles/{identity.NOWHERE}')
            self.by(peer, trustee)
        peer.ask('DELETE', one)
        self.by(peer, trustor, project={'id': project})
        for method in ('DELETE', 'GET', 'DELETE'):
            peer.ask(method, one)

    @base.same
    def test_refused_trusts(self, peer):
        parties = self.parties(peer)
        trustor, trustee, project = parties
        for values in (
            {'roles': []},
            {'roles': [{'name': 'admin'}]},
            {'roles': [{'id': identity.NOWHERE}]},
            {'roles': [{}]},
            {'roles': 'member'},
            {'project_id': identity.NOWHERE},
            {'trustor_user_id': trustee},
            {'trustee_user_id': identity.NOWHERE},
            {'impersonation': 'yes'},
            {'impersonation': None},
            {'expires_at': '2000-01-01T00:00:00.000000Z'},
            {'expires_at': 'soon'},
            {'remaining_uses': 0},
            {'remaining_uses': 'x'},
            {'remaining_uses': 1, 'allow_redelegation': True},
            {'allow_redelegation': True, 'redelegation_count': 4},
            {'allow_redelegation': 'x'},
        ):
            self.trust(peer, parties, **values)
        peer.ask('GET', f'{TRUSTS}/{identity.NOWHERE}')
        peer.ask('DELETE', f'{TRUSTS}/{identity.NOWHERE}')
        stranger = self.trust(peer, parties)
        peer.headers['X-Auth-Token'] = self.admin
        other = self.user(peer, 'other')
        self.by(peer, other)
        peer.ask('GET', f'{TRUSTS}/{stranger["id"]}')
        peer.ask('DELETE', f'{TRUSTS}/{stranger["id"]}')
        peer.ask('GET', f'{TRUSTS}?trustor_user_id={trustor}')

    @base.same
    def test_tokens(self, peer):
        parties = self.parties(peer)
        trustor, trustee, project = parties
        first = self.trust(peer, parties)
        second = self.trust(peer, parties, impersonation=False, remaining_uses=2, expires_at=FAR)
        tokens = [self.token(peer, by_trust(trustee, each['id'])) for each in (first, second)]
        self.token(peer, by_trust(trustee, second['id']))
        self.token(peer, by_trust(trustee, second['id']))
        self.token(peer, by_trust(trustor, first['id']))
        self.token(peer, by_trust(trustee, identity.NOWHERE))
        for token in tokens:
            self.token(peer, identity.by_token(token, project={'id': project}))
            peer.ask(
                'GET',
                '/v3/auth/tokens?nocatalog',
                headers={'X-Auth-Token': self.admin, 'X-Subject-Token': token},
            )
        peer.headers['X-Auth-Token'] = tokens[0]
        peer.ask('GET', f'{TRUSTS}/{first["id"]}')
        self.by(peer, trustor, project={'id': project})
        peer.ask('DELETE', f'{TRUSTS}/{first["id"]}')
        peer.ask(
            'GET',
            '/v3/auth/tokens?nocatalog',
            headers={'X-Auth-Token': self.admin, 'X-Subject-Token': tokens[0]},
        )

    @base.same
    def test_what_the_trustor_loses(self, peer):
        parties = self.parties(peer)
        trustor, trustee, project = parties
        made = self.trust(peer, parties)
        peer.headers['X-Auth-Token'] = self.admin
        role = self.role(peer)
        peer.ask('DELETE', f'/v3/projects/{project}/users/{trustor}/roles/{role}')
        self.token(peer, by_trust(trustee, made['id']))
        peer.ask('PUT', f'/v3/projects/{project}/users/{trustor}/roles/{role}')
        self.token(peer, by_trust(trustee, made['id']))
        peer.ask('PATCH', f'/v3/users/{trustor}', {'user': {'enabled': False}})
        self.token(peer, by_trust(trustee, made['id']))
        peer.ask('DELETE', f'/v3/users/{trustor}')
        peer.ask('GET', f'{TRUSTS}/{made["id"]}')
        self.token(peer, by_trust(trustee, made['id']))
