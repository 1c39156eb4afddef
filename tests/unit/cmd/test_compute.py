"""nova-lite-compute's own rule: no database on a host."""

import os

import fixtures
import testtools

from nova_lite import conf as configuration
from nova_lite.cmd import compute


class DatabaseTests(testtools.TestCase):
    def conf(self, text):
        path = os.path.join(self.useFixture(fixtures.TempDir()).path, 'compute-cell1.conf')
        with open(path, 'w') as config:
            config.write(text)
        return configuration.make_conf(files=[path])

    def test_refused_with_its_place(self):
        for group in ('database', 'api_database'):
            conf = self.conf(f'[{group}]\nconnection = mysql+pymysql://nova:secret@db/cell1\n')
            error = self.assertRaises(SystemExit, compute.make, conf)
            self.assertIn(f'[{group}]connection is set', error.code)
            self.assertIn('compute-cell1.conf', error.code)
            self.assertNotIn('secret', error.code)
