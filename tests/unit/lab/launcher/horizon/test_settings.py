"""The settings of Horizon, without those of Horizon itself."""

import json
import pathlib
import runpy
import sys
import types

import fixtures
import testtools

from nova_lite.lab.launcher import horizon

PATH = pathlib.Path(horizon.__file__).with_name('inside') / 'nova_lite_horizon.py'
THEIRS = ('openstack_dashboard', 'openstack_dashboard.settings')


class SettingsTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        for name in THEIRS:
            sys.modules[name] = types.ModuleType(name)
            self.addCleanup(sys.modules.pop, name)

    def settings(self, port):
        given = {'port': port, 'auth_url': 'http://127.0.0.1:1', 'secret': 's', 'static': 's'}
        self.useFixture(fixtures.EnvironmentVariable('NOVA_LITE_HORIZON', json.dumps(given)))
        return runpy.run_path(str(PATH))

    def test_two_clouds_have_different_cookies(self):
        """Otherwise a login in one cloud breaks the open forms of another."""
        one, other = self.settings(1), self.settings(2)
        for name in ('SESSION_COOKIE_NAME', 'CSRF_COOKIE_NAME'):
            self.assertNotEqual(one[name], other[name], name)

    def test_scripts_read_the_token_in_the_page(self):
        """Scripts know only the cookie csrftoken. Pages have the token if they cannot read it."""
        self.assertTrue(self.settings(1)['CSRF_COOKIE_HTTPONLY'])
