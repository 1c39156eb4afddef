"""A proxy in the environment is not used for a cloud of this machine."""

import fixtures
import testtools

from nova_lite.lab.launcher import client_connections
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import openrc
from nova_lite.lab.launcher import proxies

CLOUDS = """
clouds:
  one:
    auth: {auth_url: 'http://192.0.2.1:8774/identity/v3', username: me, password: x}
    region_name: RegionOne
    identity_api_version: '3'
"""
PROXIES = ('http_proxy', 'https_proxy', 'all_proxy', 'no_proxy')


class ProxiesTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        for name in PROXIES:
            self.set_variables(**{name: None, name.upper(): None})
        self.path = self.useFixture(fixtures.TempDir()).join('clouds.yaml')
        layout.write(self.path, CLOUDS)

    def set_variables(self, **values):
        for name, value in values.items():
            self.useFixture(fixtures.EnvironmentVariable(name, value))

    def test_no_proxy(self):
        self.assertEqual({}, proxies.exempt())
        self.assertNotIn('no_proxy', openrc.selection(self.path, 'one'))

    def test_a_proxy(self):
        for name in ('http_proxy', 'HTTPS_PROXY', 'all_proxy'):
            with fixtures.EnvironmentVariable(name, 'http://proxy:3128'):
                found = proxies.exempt()
                self.assertEqual({'no_proxy', 'NO_PROXY'}, set(found))
                self.assertEqual({'127.0.0.1,localhost,::1'}, set(found.values()))

    def test_hosts_that_are_exempt_already(self):
        self.set_variables(
            http_proxy='http://proxy:3128', no_proxy='a.example, 127.0.0.1', NO_PROXY='b.example'
        )
        self.assertEqual(
            'a.example,127.0.0.1,b.example,localhost,::1', proxies.exempt()['NO_PROXY']
        )

    def test_variables_of_clients(self):
        self.set_variables(http_proxy='http://proxy:3128')
        self.assertEqual('192.0.2.1', openrc.selection(self.path, 'one')['no_proxy'])

    def test_a_connection(self):
        """openstacksdk's session does not read the environment."""
        made = client_connections.connect(self.path, 'one')
        self.addCleanup(made.close)
        self.assertFalse(made.session.session.trust_env)
