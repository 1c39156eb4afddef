"""Tests do not see a cloud that the environment names."""

import os
import subprocess
import sys

import testtools

from tests.fixtures import units

USERS = {
    'OS_AUTH_URL': 'http://127.0.0.1:9/identity/v3',
    'OS_CLOUD': 'nova-lite',
    'NOVA_LITE_STATE': './cloud',
    'XDG_STATE_HOME': '/nowhere',
}
OTHERS = {'NOVA_LITE_TEST_WORKERS': '3', 'CI': 'true'}
SHOW = 'import os, tests; print(*sorted(os.environ))'


class EnvironmentTest(testtools.TestCase):
    def test_names_no_cloud(self):
        done = subprocess.run(
            [sys.executable, '-c', SHOW],
            env={**os.environ, **USERS, **OTHERS},
            cwd=units.ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        found = set(done.stdout.split())
        self.assertEqual(set(), found & set(USERS))
        self.assertEqual(set(OTHERS), found & set(OTHERS))
