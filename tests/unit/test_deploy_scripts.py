"""Scripts of the guide to a deployment."""

import os
import pathlib
import subprocess

import fixtures
import testtools

from tests.fixtures import units

GUIDE = pathlib.Path('doc', 'source', 'admin', 'deploy')
NAMES = ('bus', 'database', 'service', 'admin', 'demo', 'metadata')


class ConfigureTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.root = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.configuration, programs = self.root / 'etc', self.root / 'bin'
        self.configuration.mkdir()
        programs.mkdir()
        # The group nova-lite is that of a machine with the packages.
        (programs / 'chgrp').write_text('#!/bin/sh\n')
        (programs / 'chgrp').chmod(0o755)
        path = os.pathsep.join([str(programs), os.environ['PATH']])
        self.useFixture(fixtures.EnvironmentVariable('PATH', path))

    def configure(self):
        """Run the script; return the texts of the files that it has written."""
        script = (units.ROOT / GUIDE / 'configure.sh').read_text()
        script = script.replace('/etc/nova-lite', str(self.configuration))
        subprocess.run(['sh', '-eu', '-c', script], cwd=units.ROOT, check=True)
        return {each.name: each.read_text() for each in self.configuration.glob('*.*')}

    def test_twice(self):
        """The second run keeps the secrets, so that daemons and servers still know them."""
        first = self.configure()
        self.assertEqual(first, self.configure())
        secrets = {
            name: (self.configuration / 'secrets' / name).read_text().strip() for name in NAMES
        }
        texts = ''.join(first.values())
        self.assertEqual([], [name for name in NAMES if secrets[name] not in texts])
        self.assertEqual([], [name for name in NAMES if f'@{name}@' in texts])
        self.assertEqual(len(NAMES), len({*secrets.values()}))
