"""[keystone_authtoken]memcached_servers, where the client of memcached is not installed."""

import importlib.util
import logging
import os
import types

import fixtures
import testtools

from nova_lite import conf as conf_module
from nova_lite.api import application as api_app
from nova_lite.api import authentication
from nova_lite.conf import keystone_authtoken
from tests.fixtures import imported


class TokenCacheTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        if importlib.util.find_spec('memcache'):
            self.skipTest('python-memcached is installed')
        self.conf = conf_module.make_conf(files=[])

    def set(self, **options):
        for name, value in options.items():
            self.conf.set_override(name, value, group=keystone_authtoken.GROUP)

    def test_is_optional(self):
        self.assertIsNone(keystone_authtoken.check(self.conf))

    def test_names_what_is_missing(self):
        self.set(memcached_servers=['127.0.0.1:11211'])
        for more, module in (({}, 'memcache'), ({'memcache_sasl_enabled': True}, 'bmemcached')):
            self.set(**more)
            refused = self.assertRaises(
                ValueError, authentication.protect, self.conf, None, lambda environ: False
            )
            self.assertIn(f'the Python module {module} is not installed', str(refused))

    def test_the_daemon_does_not_start(self):
        path = os.path.join(self.useFixture(fixtures.TempDir()).path, 'api.conf')
        with open(path, 'w') as file:
            file.write('[keystone_authtoken]\nmemcached_servers = 127.0.0.1:11211\n')
        code, _printed, errors = imported.run('nova_lite.cmd.api', f'--config-file={path}')
        self.assertEqual(os.EX_CONFIG, code)
        self.assertIn('[keystone_authtoken]memcached_servers is set', errors)

    def test_what_fails_before_a_request_is_dispatched_is_logged(self):
        """keystonemiddleware is outside of what answers errors."""

        def fail(environ, start):
            raise ImportError("No module named 'memcache'")

        self.patch(authentication, 'protect', lambda *args: fail)
        log = self.useFixture(fixtures.FakeLogger(level=logging.ERROR))
        made = api_app.Application(types.SimpleNamespace(conf=self.conf))
        environ = {'REQUEST_METHOD': 'GET', 'PATH_INFO': '/v2.1/servers'}
        self.assertRaises(ImportError, made, environ, lambda *args: None)
        self.assertIn("No module named 'memcache'", log.output)
