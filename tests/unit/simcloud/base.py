"""Base classes of the tests of the simulated neighbours."""

import functools
import json

import falcon.testing
import fixtures
import testtools

from nova_lite.simcloud import app
from nova_lite.simcloud import database
from tests.fixtures import templates

PASSWORDS = {
    'admin_password': 'pw-admin',
    'demo_password': 'pw-demo',
    'service_password': 'pw-service',
}
URL = 'http://cloud.example:8080'


def login_body(username, password, project=None):
    """A password login, scoped to a project of the default domain."""
    auth = {
        'identity': {
            'methods': ['password'],
            'password': {
                'user': {'name': username, 'domain': {'id': 'default'}, 'password': password}
            },
        }
    }
    if project:
        auth['scope'] = {'project': {'name': project, 'domain': {'name': 'Default'}}}
    return {'auth': auth}


class Client:
    """Requests with the same headers each time, checked for their status."""

    def __init__(self, test, client, headers):
        self._test = test
        self._client = client
        self.headers = headers

    def request(self, method, path, body=None, *, expect=200, headers=(), **kwargs):
        """The answer's JSON (None without one) when its status is `expect`."""
        result = self.raw(method, path, body, headers=headers, **kwargs)
        self._test.assertEqual(expect, result.status_code, result.text)
        return result.json if 'json' in (result.headers.get('content-type') or '') else None

    def raw(self, method, path, body=None, *, headers=(), **kwargs):
        """The whole answer, whatever its status."""
        sent = {**self.headers, **dict(headers)}
        if body is not None:
            kwargs['body'] = json.dumps(body)
            sent.setdefault('Content-Type', 'application/json')
        return self._client.simulate_request(method, path, headers=sent, **kwargs)

    def get(self, path, **kwargs):
        return self.request('GET', path, **kwargs)

    def post(self, path, body, *, expect=201, **kwargs):
        return self.request('POST', path, body, expect=expect, **kwargs)

    def put(self, path, body=None, **kwargs):
        return self.request('PUT', path, body, **kwargs)

    def delete(self, path, *, expect=204, **kwargs):
        return self.request('DELETE', path, expect=expect, **kwargs)


class SimCloudTestCase(testtools.TestCase):
    """A test with a freshly seeded simcloud that believes headers.

    admin, demo: clients with tokens of these users in their projects
    """

    OPTIONS = {'auth': 'noauth'}
    # Whether the contents of a new database are missing.
    is_new = False

    def setUp(self):
        super().setUp()
        self.database = self.new_database()
        self.start(is_new=self.is_new)

    @functools.cached_property
    def admin(self):
        return self.login('admin', 'pw-admin', 'admin')

    @functools.cached_property
    def demo(self):
        return self.login('demo', 'pw-demo', 'demo')

    def new_database(self):
        """Return the path of a database with the first contents."""
        return templates.write(
            self.useFixture(fixtures.TempDir()).join('cloud.sqlite'),
            templates.simcloud_contents,
            tuple(PASSWORDS.items()),
        )

    def change_database(self, statement):
        """Run an SQL statement beside the application and return its rows."""
        beside = database.Database(self.database)
        self.addCleanup(beside.close)

        def run(conn):
            result = conn.exec_driver_sql(statement)
            return result.all() if result.returns_rows else []

        return beside.change(run)

    def start(self, *, is_new=True):
        """(Re)open the database in an application of its own."""
        self.wsgi = self.open(is_new=is_new, **PASSWORDS, **self.OPTIONS)
        self.anyone = Client(self, self.wsgi, {})

    def open(self, *, is_new=True, **options):
        """A test client of one more application over the database."""
        ours = {'password_cost': templates.PASSWORD_COST, 'shared_cidr': templates.SHARED_CIDR}
        options = {**ours, **options}
        application = app.make_app(self.database, URL, options=options, is_new=is_new)
        self.addCleanup(application.close)
        return falcon.testing.TestClient(application)

    def token(self, username, password, project=None, *, expect=201):
        """The secret of a new token."""
        result = self.anyone.raw(
            'POST', '/identity/v3/auth/tokens', login_body(username, password, project)
        )
        self.assertEqual(expect, result.status_code, result.text)
        return result.headers.get('x-subject-token')

    def login(self, username, password, project=None):
        """A client that shows a token of its own."""
        return Client(self, self.wsgi, {'X-Auth-Token': self.token(username, password, project)})

    def believed(self, user_id, project_id, *roles):
        """A client whose headers say who asks."""
        return Client(
            self,
            self.wsgi,
            {'X-User-Id': user_id, 'X-Project-Id': project_id, 'X-Roles': ','.join(roles)},
        )

    def network_id(self, name):
        """The id of one of the networks that are there from the start."""
        found = self.admin.get(f'/network/v2.0/networks?name={name}')['networks']
        return found[0]['id']

    def image_id(self, name='cirros'):
        """The id of one of the images that are there from the start."""
        return self.admin.get(f'/image/v2/images?name={name}')['images'][0]['id']

    def port(self, client=None, network='shared', **values):
        """A new port."""
        return (client or self.admin).post(
            '/network/v2.0/ports', {'port': {'network_id': self.network_id(network), **values}}
        )['port']
