"""Files of a stopped cloud that `nova-lite verify` serves, and their readers."""

import types

import fixtures
import testtools

from nova_lite.lab.launcher import stopped


class StoppedTest(testtools.TestCase):
    def settings(self, connection):
        directory = self.useFixture(fixtures.TempDir()).path
        conf = types.SimpleNamespace(api_database=types.SimpleNamespace(connection=connection))
        return stopped._settings(directory, conf)

    def test_callers_need_a_token(self):
        """Other users of the machine reach the ports as well."""
        for connection in ('sqlite:////x/api.sqlite', 'mysql+pymysql://u:p@h/nova_lite_api'):
            self.assertEqual('keystone', self.settings(connection).auth)
