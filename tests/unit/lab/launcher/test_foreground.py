"""The process of `nova-lite up`."""

import json
import shlex
import subprocess
import sys

import fixtures
import testtools

from nova_lite.lab.launcher import foreground
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import running

# Of use to other processes only: daemons, commands on a terminal.
OTHERS = {'gunicorn', 'oslo_reports', 'pygments', 'rich.progress'}
CODE = """
import json, sys
from nova_lite.lab.launcher import embedded
from nova_lite.lab.launcher import foreground
print(json.dumps(list(sys.modules)))
"""


DIRECTORIES = ('plain', 'two words', "it's", 'a"b', '$HOME;`id`', 'ü\\n')


class UsageTestCase(testtools.TestCase):
    def test_what_is_printed_can_be_pasted(self):
        for name in DIRECTORIES:
            path = f'{self.useFixture(fixtures.TempDir()).path}/{name}'
            places = layout.Layout(layout.Settings(state_dir=path))
            found = foreground.usage(running.of(places), places).splitlines()
            [export] = [line for line in found if 'export' in line]
            command = f'{export}; printf %s "$OS_CLIENT_CONFIG_FILE"'
            done = subprocess.run(['sh', '-c', command], check=True, capture_output=True, text=True)
            self.assertEqual(f'{path}/clouds.yaml', done.stdout)
            [evaluated] = [line for line in found if 'eval' in line]
            command = evaluated.partition('eval "$(')[2].removesuffix(')"')
            self.assertEqual(['nova-lite', 'env', '--state-dir', path], shlex.split(command))


class ImportsTestCase(testtools.TestCase):
    def test_what_a_cloud_in_one_process_does_not_import(self):
        done = subprocess.run(
            [sys.executable, '-c', CODE], check=True, capture_output=True, text=True
        )
        self.assertEqual(set(), OTHERS.intersection(json.loads(done.stdout)))
