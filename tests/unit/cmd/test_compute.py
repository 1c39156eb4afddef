"""nova-lite-compute's own rule: no database on a host; and what a refusal looks like."""

import os
import subprocess
import sys

import fixtures
import testtools


class RefusalTests(testtools.TestCase):
    def refused(self, text):
        """What the daemon says when it refuses this configuration, as a process."""
        path = os.path.join(self.useFixture(fixtures.TempDir()).path, 'compute-cell1.conf')
        if text is not None:
            with open(path, 'w') as config:
                config.write(text)
        done = subprocess.run(
            [sys.executable, '-m', 'nova_lite.cmd.compute', f'--config-file={path}'],
            capture_output=True,
            text=True,
        )
        self.assertEqual(os.EX_CONFIG, done.returncode, done.stderr)
        self.assertNotIn('Traceback', done.stderr)
        return done.stderr

    def test_a_database(self):
        for group in ('database', 'api_database'):
            said = self.refused(f'[{group}]\nconnection = mysql+pymysql://nova:secret@db/cell1\n')
            self.assertIn(f'nova-lite-compute: [{group}]connection is set', said)
            self.assertIn('compute-cell1.conf', said)
            self.assertNotIn('secret', said)

    def test_a_file_that_is_not_there(self):
        self.assertIn('compute-cell1.conf', self.refused(None))

    def test_a_pin_that_is_no_release(self):
        said = self.refused('[upgrade_levels]\ncompute = nonsense\n')
        self.assertIn('[upgrade_levels]compute: nonsense', said)
