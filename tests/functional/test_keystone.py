"""The compute API with the real Keystone, which checks every token and names every service."""

import datetime

import requests

from nova_lite import runtime
from tests.fixtures import keystone_cloud
from tests.functional import base
from tools import sample

# How long a token may go on to be believed after it was revoked; see the guide.
TOKEN_CACHE_S = 2
# Time enough to get the token; what comes after only waits for its end.
LIFETIME_S = 15
USERS = {
    'mary': ('red', 'member'),
    'rita': ('red', 'reader'),
    'bob': ('blue', 'member'),
}


@sample.in_turns(5)
class KeystoneTest(base.CloudTest):
    @classmethod
    def make_cloud(cls):
        return keystone_cloud.KeystoneCloud(USERS, token_cache_s=TOKEN_CACHE_S, cells=1, hosts=1)

    def setUp(self):
        super().setUp()
        self.mary, self.rita, self.bob = (self.cloud.connect(name) for name in USERS)

    def ask(self, token, **headers):
        """The answer to a list of servers with this token."""
        if token is not None:
            headers['X-Auth-Token'] = token
        return requests.get(
            f'{self.cloud.cloud.url}/compute/v2.1/servers', headers=headers, timeout=60
        )

    def wait_until_refused(self, token, since=None):
        """Wait until the API believes a token no more; until `since` it does in any case."""
        self.cloud.wait_for(
            lambda: (since is None or runtime.now() > since) and self.ask(token).status_code == 401,
            'the token to be refused',
        )

    def soon_expired(self, name):
        """(token, when) of this user: it expires in a few seconds, as its credential does."""
        user = self.cloud.connect(name)
        expires_at = runtime.now() + datetime.timedelta(seconds=LIFETIME_S)
        credential = user.identity.create_application_credential(
            user.current_user_id,
            name=runtime.new_uuid(),
            expires_at=expires_at.replace(tzinfo=None).isoformat(),
        )
        body = {'id': credential.id, 'secret': credential.secret}
        identity = {'methods': ['application_credential'], 'application_credential': body}
        answer = requests.post(
            f'{self.cloud.keystone.url}/auth/tokens',
            json={'auth': {'identity': identity}},
            timeout=60,
        )
        self.assertEqual(201, answer.status_code, answer.text)
        return answer.headers['X-Subject-Token'], expires_at

    # ---- roles and projects ----

    def test_a_reader_looks_and_a_member_makes(self):
        server = self.cloud.boot(connection=self.mary)
        self.assertEqual([server.id], [found.id for found in self.rita.compute.servers()])
        wanted = {'name': 'x', 'imageRef': server.image.id, 'flavorRef': '1', 'networks': 'none'}
        message = self.refused(403, 'POST', '/servers', {'server': wanted}, cloud='rita')
        self.assertIn('os_compute_api:servers:create', message)
        self.refused(403, 'DELETE', f'/servers/{server.id}', cloud='rita')
        self.assertEqual('ACTIVE', self.status(server))
        self.mary.compute.delete_server(server)
        self.cloud.wait_gone(server)

    def test_a_project_sees_its_own_servers_and_an_administrator_all(self):
        servers = [self.cloud.boot(connection=owner) for owner in (self.mary, self.bob)]
        for owner, own, other in ((self.mary, *servers), (self.bob, *reversed(servers))):
            self.assertEqual([own.id], [found.id for found in owner.compute.servers()])
            cloud = 'mary' if owner is self.mary else 'bob'
            for method in ('GET', 'DELETE'):
                self.refused(404, method, f'/servers/{other.id}', cloud=cloud)
        self.refused(403, 'GET', '/servers?all_tenants=1', cloud='mary')
        every = list(self.cloud.admin.compute.servers(all_projects=True))
        self.assertEqual({found.id for found in servers}, {found.id for found in every})
        projects = {found.project_id for found in every}
        self.assertEqual({self.mary.current_project_id, self.bob.current_project_id}, projects)

    # ---- tokens ----

    def test_no_token_and_one_that_is_none(self):
        for token in (None, '', 'gAAAAAB-none-of-yours', self.mary.auth_token[:-4] + 'AAAA'):
            answer = self.ask(token)
            self.assertEqual(401, answer.status_code)
            self.assertIn(self.cloud.keystone.url, answer.headers['WWW-Authenticate'])
        # The headers that the middleware sets are its alone.
        forged = {'X-User-Id': 'x', 'X-Project-Id': 'x', 'X-Roles': 'admin'}
        self.assertEqual(401, self.ask(None, **forged).status_code)

    def test_a_revoked_token(self):
        token = self.cloud.keystone.connect('mary', 'red').auth_token
        self.assertEqual(200, self.ask(token).status_code)
        self.cloud.keystone.admin.identity.delete(
            '/auth/tokens', headers={'X-Subject-Token': token}
        )
        self.wait_until_refused(token)
        self.assertEqual(200, self.ask(self.mary.auth_token).status_code)

    def test_an_expired_token_and_who_may_vouch_for_it(self):
        token, expires_at = self.soon_expired('mary')
        self.assertEqual(200, self.ask(token).status_code)
        self.wait_until_refused(token, expires_at)
        service = self.cloud.keystone.connect('nova', 'service').auth_token
        self.assertEqual(200, self.ask(token, **{'X-Service-Token': service}).status_code)
        for nobody in (self.bob.auth_token, 'gAAAAAB-none-of-yours'):
            self.assertEqual(401, self.ask(token, **{'X-Service-Token': nobody}).status_code)

    # ---- services ----

    def test_the_catalog_leads_to_every_service(self):
        catalog = {entry['type'] for entry in self.mary.service_catalog}
        self.assertLessEqual({'compute', 'identity', 'image', 'network', 'placement'}, catalog)
        self.assertEqual(
            f'{self.cloud.cloud.url}/compute/v2.1',
            self.mary.session.get_endpoint(service_type='compute', region_name='RegionOne'),
        )
        # Where the project is, only Keystone knows.
        path = f'/os-quota-sets/{self.mary.current_project_id}'
        self.api('PUT', path, {'quota_set': {'instances': 5}})
        self.refused(400, 'PUT', '/os-quota-sets/nowhere', {'quota_set': {'instances': 5}})

    def test_calls_for_a_user_carry_a_service_token(self):
        self.cloud.guard.seen.clear()
        server = self.cloud.boot(connection=self.mary)
        asked = {(user, voucher) for path, user, voucher in self.cloud.guard.seen
                 if path.startswith('/image/v2/images/') and voucher}  # fmt: skip
        self.assertEqual({('mary', 'nova')}, asked)
        self.delete(server)
