"""nova-lite-compute's own rule: no database on a host; and what a refusal looks like."""

import os
import subprocess
import sys

import fixtures
import testtools

# One interpreter imports the daemon, says what of this was loaded that hosts have no use for,
# and starts it as often as there are files. What each start would load is loaded before.
START = """
import os, sys
from nova_lite import conf
from nova_lite.cmd import compute
print(*{'jsonschema', 'nova_lite.db', 'sqlalchemy'}.intersection(sys.modules), flush=True)
conf.make_conf([], files=[])
for path in sys.argv[1:]:
    if not os.fork():
        os.dup2(os.open(f'{path}.stderr', os.O_CREAT | os.O_WRONLY), 2)
        sys.exit(compute.main([f'--config-file={path}']))
    print(os.waitstatus_to_exitcode(os.wait()[1]), flush=True)
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
        paths = [os.path.join(directory, f'{name}-compute.conf') for name in CONFIGURATIONS]
        for path, text in zip(paths, CONFIGURATIONS.values(), strict=True):
            if text is not None:
                with open(path, 'w') as config:
                    config.write(text)
        done = subprocess.run(
            [sys.executable, '-c', START, *paths], capture_output=True, text=True, check=True
        )
        said = {}
        for name, path in zip(CONFIGURATIONS, paths, strict=True):
            with open(f'{path}.stderr') as file:
                said[name] = file.read()
            self.assertNotIn('Traceback', said[name])
        loaded, *codes = done.stdout.splitlines()
        self.assertEqual('', loaded)
        self.assertEqual([str(os.EX_CONFIG)] * len(said), codes, said)
        return said

    def test_each_refusal_names_its_cause(self):
        said = self.refused()
        for group in ('database', 'api_database'):
            self.assertIn(f'nova-lite-compute: [{group}]connection is set', said[group])
            self.assertIn(f'{group}-compute.conf', said[group])
            self.assertNotIn('secret', said[group])
        self.assertIn('missing-compute.conf', said['missing'])
        self.assertIn('[upgrade_levels]compute: nonsense', said['pin'])
        self.assertIn('[compute]driver: unknown kvm; known are sim', said['driver'])
