"""The process of `nova-lite up`."""

import json
import shlex
import subprocess
import sys

import fixtures
import testtools

from nova_lite.lab.launcher import cloud_snapshots
from nova_lite.lab.launcher import foreground
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import running
from nova_lite.lab.launcher import snapshot_file
from nova_lite.lab.launcher.cloud_file import document as documents
from nova_lite.lab.launcher.cloud_file import settings as file_settings

# Of use to other processes only, or later: daemons, database servers, commands, the live page.
OTHERS = {'gunicorn', 'openstack', 'oslo_reports', 'pygments', 'pymysql', 'rich.progress'}
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

    def test_a_file_without_the_first_objects_has_no_example_of_a_server(self):
        places = layout.Layout(layout.Settings(state_dir=self.useFixture(fixtures.TempDir()).path))
        ready = running.of(places)
        self.assertIn('server create --flavor m1.tiny', foreground.usage(ready, places))
        for defaults, shows in (('true', True), ('false', False)):
            document = documents.parse('cloud.yaml', f'defaults: {defaults}')
            described = file_settings.described(document, places.root)
            shown = foreground.usage(ready, places, described)
            self.assertIs(shows, 'server create' in shown)
            self.assertIn('hypervisor list\n', shown)


class ContinuedTestCase(testtools.TestCase):
    def test_options_that_are_shown(self):
        """A cloud shows the options of its snapshot and of its next start, without passwords."""
        settings = {'cells': 1, 'hosts': 3, 'auth': 'noauth', 'profile': None, 'speed': 2.0}
        settings |= {'shared_cidr': None, 'options': {'api': {'max_limit': '7'}}}
        manifest = snapshot_file.Manifest(
            release='1', schemas={}, taken_at=0.0, settings=settings, files={}
        )
        found = foreground.continued(cloud_snapshots.Snapshot('/a.snapshot', manifest))
        self.assertIn('1970-01-01T00:00:00.000+00:00', found)
        made = '--cells 1 --hosts 3 --profile etc/profile.yaml --speed 2 --auth noauth'
        self.assertIn(f'{made} --set api.max_limit=7', found)
        self.assertEqual('', foreground.continued(None))

        chosen = layout.Settings(state_dir='/x', cells=1, bus=('rabbit://u:secret@b/{cell}',))
        text = foreground.next_start(layout.Layout(chosen))
        self.assertIn('`nova-lite up --state-dir /x --cells 1` with the same --bus', text)
        self.assertNotIn('secret', text)

        chosen = layout.Settings(state_dir='/x', listen='127.0.0.2', port=8775, lab=True)
        text = foreground.next_start(layout.Layout(chosen))
        self.assertIn('up --state-dir /x --listen 127.0.0.2 --port 8775 --lab`', text)


class ImportsTestCase(testtools.TestCase):
    def test_what_a_cloud_in_one_process_does_not_import(self):
        done = subprocess.run(
            [sys.executable, '-c', CODE], check=True, capture_output=True, text=True
        )
        self.assertEqual(set(), OTHERS.intersection(json.loads(done.stdout)))
