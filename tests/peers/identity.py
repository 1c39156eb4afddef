"""Base classes of conversations with simcloud's identity service and with the real Keystone."""

import requests

from tests.fixtures import keystone
from tests.fixtures import simcloud
from tests.peers import base
from tests.peers import transcript

PASSWORD = 'a-secret-of-tests'
OTHER_PASSWORD = 'another-secret-of-tests'
DEFAULT = {'domain': {'id': 'default'}}
NOWHERE = '0' * 32


def login(user, password=PASSWORD, **scope):
    """The body of a request for a token. user: a dictionary; scope: `project` or `domain`"""
    identity = {'methods': ['password'], 'password': {'user': {**user, 'password': password}}}
    return {'auth': {'identity': identity, **({'scope': scope} if scope else {})}}


def by_token(token, **scope):
    """The body of a request for a token in exchange for another."""
    identity = {'methods': ['token'], 'token': {'id': token}}
    return {'auth': {'identity': identity, **({'scope': scope} if scope else {})}}


class IdentityPeersTest(base.PeersTest):
    @classmethod
    def make_real(cls):
        return keystone.Keystone()

    def begin(self, peer, without=()):
        is_real = peer is self.real
        root = peer.url.removesuffix('/v3') if is_real else peer.url + '/identity'
        body = login(
            {'name': 'admin', **DEFAULT},
            peer.password if is_real else simcloud.PASSWORD,
            project={'name': 'admin', **DEFAULT},
        )
        answer = requests.post(f'{root}/v3/auth/tokens', json=body, timeout=60)
        self.assertEqual(201, answer.status_code, answer.text)
        return transcript.Transcript(
            root,
            headers={'X-Auth-Token': answer.headers['X-Subject-Token']},
            ordered=False,
            differs_by=('audit_ids',),
            without=without,
        )

    # ---- what conversations share ----

    def domain(self, peer):
        """A domain with the test's name, in which lists show what the test made alone."""
        return peer.made('/v3/domains', {'domain': {'name': self._testMethodName}})['id']

    def project(self, peer, name='project', **values):
        values.setdefault('domain_id', 'default')
        name = f'{self._testMethodName}-{name}'
        return peer.made('/v3/projects', {'project': {'name': name, **values}})['id']

    def user(self, peer, name='user', **values):
        values.setdefault('domain_id', 'default')
        name = f'{self._testMethodName}-{name}'
        return peer.made('/v3/users', {'user': {'name': name, 'password': PASSWORD, **values}})[
            'id'
        ]

    @staticmethod
    def role(peer, name='member'):
        """The id of a role of the bootstrap."""
        found = requests.get(f'{peer.url}/v3/roles?name={name}', headers=peer.headers, timeout=60)
        return found.json()['roles'][0]['id']

    def member(self, peer, role='member'):
        """(user, project) of a new member of a new project."""
        user, project = self.user(peer), self.project(peer)
        role = self.role(peer, role)
        peer.ask('PUT', f'/v3/projects/{project}/users/{user}/roles/{role}')
        return user, project

    def token(self, peer, body):
        """Log in; returns the token."""
        return peer.ask('POST', '/v3/auth/tokens?nocatalog', body).headers.get('X-Subject-Token')
