"""nova-lite-compute's own rule: no database on a host; and what a refusal looks like."""

import os
import subprocess
import sys

import fixtures
import testtools

from tests.fixtures import imported

# Prints what of this an interpreter loads with the daemon that hosts have no use for.
LOAD = """
import sys
from nova_lite.cmd import compute
print(*{'jsonschema', 'nova_lite.db', 'sqlalchemy'}.intersection(sys.modules))
"""
CONFIGURATIONS = {
    'database': '[database]\nconnection = mysql+pymysql://nova:secret@db/cell1\n',
    'api_database': '[api_database]\nconnection = mysql+pymysql://nova:secret@db/cell1\n',
    'pin': '[upgrade_levels]\ncompute = nonsense\n',
    'driver': '[DEFAULT]\nhost = a\n[compute]\ndriver = kvm\n',
    'missing': None,
}


class RefusalTests(testtools.TestCase):
    def refused(self):
        """{name: what the daemon says}, of each configuration, when it refuses to start."""
        directory = self.useFixture(fixtures.TempDir()).path
        said = {}
        for name, text in CONFIGURATIONS.items():
            path = os.path.join(directory, f'{name}-compute.conf')
            if text is not None:
                with open(path, 'w') as config:
                    config.write(text)
            code, _printed, said[name] = imported.run(
                'nova_lite.cmd.compute', f'--config-file={path}'
            )
            self.assertEqual(os.EX_CONFIG, code, said[name])
            self.assertNotIn('Traceback', said[name])
        return said

    def test_what_it_has_no_use_for_is_not_loaded(self):
        done = subprocess.run(
            [sys.executable, '-c', LOAD], capture_output=True, text=True, check=True
        )
        self.assertEqual('\n', done.stdout)

    def test_each_refusal_names_its_cause(self):
        said = self.refused()
        for group in ('database', 'api_database'):
            self.assertIn(f'nova-lite-compute: [{group}]connection is set', said[group])
            self.assertIn(f'{group}-compute.conf', said[group])
            self.assertNotIn('secret', said[group])
        self.assertIn('missing-compute.conf', said['missing'])
        self.assertIn('[upgrade_levels]compute: nonsense', said['pin'])
        self.assertIn('[compute]driver: unknown kvm; known are sim', said['driver'])
