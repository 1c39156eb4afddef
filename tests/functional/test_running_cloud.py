"""Commands with a cloud that runs: wrong usages, `status` and `openstack`. One cloud for all.

A row of a wrong usage has the arguments, the exit code, and texts of the cause and of the way out.
SERVER and FILES stand for the uuid of a server and for a directory.
"""

import json
import os
import re
import shlex
import subprocess
import sys

import fixtures
import requests
import testtools

from nova_lite.lab.launcher import client_connections
from nova_lite.lab.launcher import openrc
from nova_lite.lab.launcher import running
from tests.fixtures import commands
from tools import sample

RUN_S, STOP_S = 300, 60
LOOKS = 60
UNHEALTHY = re.compile(r'unhealthy +\| conductor cell1-conductor: database: ')
CLOUD = """
cells: [{hosts: 2}]
profile: instant
servers: [{name: web, project: admin, flavor: m1.tiny, image: cirros}]
"""
NOBODY = '4f0c7c5e-7f8e-4a55-9f0d-3b1c1f6a2d10'
SERVERS = 'Use a name or an id that `openstack server list --all-projects` shows'
SERVICES = '`openstack compute service list`'
HOSTS = 'Use one of: cell1-host1, cell1-host2'
CELLS = 'Use one of: cell1'
HELP = '--help` explains the arguments'
DURATION = 'such as 90s, 1h30m or 2d'
USAGES = (
    ('up', 'in use by process', 'stop this process with `nova-lite stop'),
    ('up --fresh', 'in use by process', 'or choose another directory'),
    ('up --cells 1 --hosts 1', 'hosts=2', 'Omit --hosts'),
    (
        'up -f FILES/other.yaml',
        'cells[0].hosts: 1 host here, 2 hosts there',
        'another --state-dir',
    ),
    ('up --print-config --cells 2', 'starts none', 'Omit --cells'),
    ('env --cloud bob', 'has no cloud bob', 'Use one of: nova-lite, nova-lite-demo'),
    (
        'openstack --cloud bob server list',
        'has no cloud bob',
        'Use one of: nova-lite, nova-lite-demo',
    ),
    ('reset nosuch', 'There is no saved state nosuch', 'Known states: fresh'),
    ('reset --save fresh', 'the state of a new cloud', 'use another'),
    ('snapshot save /nowhere/x', '/nowhere/x cannot be written: No such', 'Choose another file'),
    ('snapshot save FILES', 'is not a regular file', 'FILES'),
    ('snapshot save /dev/null', '/dev/null is not a regular file', 'Choose another file'),
    ('fork DIR', 'in use by process', 'or choose another directory'),
    ('clock advance 0s', 'must be', '0'),
    ('clock advance 900d', 'must be above 0', 'at most'),
    ('clock rate 0', 'must be', '0'),
    ('clock rate -1', 'must be', '0'),
    ('clock rate 1e9', 'must be', '100'),
    ('fault add --verb spwan', "'spwan' matches no verb", 'verbs: spawn'),
    ('fault add --verb spawn --host nosuch', "Host 'nosuch' does not exist", HOSTS),
    ('fault add --verb spawn --first 0', 'must be an integer', '1'),
    ('fault add --verb spawn --probability 2', 'must be a number between 0 and 1', ''),
    ('fault add --verb spawn --first 1 --nth 2', 'only one of', 'first and nth'),
    ('fault add --verb spawn --error Nope', 'error: must be one of: AbortRefused', 'NoCapacity'),
    ("bus freeze ''", 'argument NAME: it is empty', 'give a value or omit it'),
    ('fault add --service image --status 200', '200', '400'),
    ('fault add --service image', 'one of status, delay and lost', 'must be given'),
    ('fault add --service image --lost --status 500', 'exclude each other', 'Omit one'),
    ('fault add --service image --delay 9999', 'at most 3600 seconds', 'delay'),
    ('fault clear 99', 'Fault 99 does not exist', 'Use one of: there is none'),
    ('host off nosuch', "Host 'nosuch' does not exist", HOSTS),
    ('host on cell1', "Host 'cell1' does not exist", HOSTS),
    ('cell down cell9', "Cell 'cell9' does not exist", CELLS),
    ('cell up cell0', "Cell 'cell0' does not exist", CELLS),
    ('bus cut cell9', "Bus 'cell9' does not exist", 'Use one of: top, cell1'),
    ('saga list --server nosuch', 'nosuch', SERVERS),
    (f'saga show {NOBODY}', 'could not be found', '`nova-lite saga list` lists sagas'),
    ('saga break nosuch --before copy', 'nosuch', SERVERS),
    ('saga break web --before cpy', "no step 'cpy'", '`nova-lite saga steps KIND` lists'),
    ('saga break --kind nosuch --before copy', "no kind of saga 'nosuch'", 'Use one of: attach'),
    ('saga break --remove 7', 'There is no breakpoint 7', '`nova-lite saga break --list` shows'),
    ('saga step web', 'it has had no saga', '`nova-lite saga break` stops'),
    ('saga wait nosuch', 'nosuch', SERVERS),
    ('saga go web', 'it has had no saga', '`nova-lite saga break` stops'),
    ('saga kill-here web', 'it has had no saga', '`nova-lite saga break` stops'),
    ('why nosuch', 'nosuch', SERVERS),
    (f'why {NOBODY}', f'no decision about instance {NOBODY}', 'Name a server that was'),
    ('why web nosuch', 'Compute host nosuch', SERVICES),
    ('events --server nosuch --count 1', 'nosuch', SERVERS),
    (f'events --server {NOBODY} --count 1', NOBODY, SERVERS),
    ('logs --daemon nosuch', 'nosuch', 'scheduler'),
    ('logs --server nosuch', 'nosuch', SERVERS),
    ('logs --request nosuch', "'nosuch' is not a request id", 'such as req-'),
    ('config-drive nosuch', 'nosuch', SERVERS),
    ('config-drive web', 'no guest with a config drive', 'that was created with one'),
    ('drain-host nosuch --yes', 'nosuch', SERVICES),
    ('drain-host cell1-host1 --yes --poll -1', "'-1' is not a number of seconds", HELP),
    ('undrain nosuch', 'nosuch', SERVICES),
    ('evacuate-host nosuch --yes', 'nosuch', SERVICES),
    ('evacuate-host cell1-host1 --yes', 'cell1-host1', '--force-down'),
    ('bench show --server nosuch', '', HELP),
    ('bench boot --flavor nosuch', 'flavor nosuch does not exist', '`openstack flavor list`'),
    ('bench boot --count 0', '--count', 'at least 1'),
    ('daemon list', 'share one process', '`nova-lite up --bus`'),
    ('import --output FILES', 'exists', 'Choose another --output, or add --force'),
    ('twin fit nosuch', 'has no flavor nosuch', 'It has: m1.tiny'),
    ('twin drain nosuch', 'has no host nosuch', 'It has: cell1-host1'),
    ('twin survives --zone nosuch', 'has no zone nosuch', 'It has: nova'),
    ('why --diff web nosuch', 'nosuch', SERVERS),
    ('why --diff web nosuch.json', 'nosuch.json has no decision', 'or a server'),
    ('stop --del', 'no option --del', "Did you mean '--delete'?"),
    ('clock advance -5s', "'-5s' begins with a hyphen", HELP),
)
WORDS_OF_LIBRARIES = ('Traceback', 'Errno', 'sqlalche', 'invalid literal', 'codec', 'Bad request')


@sample.in_turns(2, first=1)
class RunningCloudTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        base = self.useFixture(fixtures.TempDir())
        self.useFixture(fixtures.EnvironmentVariable('XDG_STATE_HOME', base.path))
        self.state_dir, self.files = base.join('cloud'), base.join('files')
        os.mkdir(self.files)
        for name, text in (('cloud', CLOUD), ('other', CLOUD.replace('hosts: 2', 'hosts: 1'))):
            with open(os.path.join(self.files, f'{name}.yaml'), 'w') as file:
                file.write(text)
        self.addCleanup(running.stop, self.state_dir, STOP_S)
        argv = (
            'up',
            '-f',
            f'{self.files}/cloud.yaml',
            '--detach',
            '--port',
            '0',
            '--state-dir',
            self.state_dir,
        )
        code, out, errors = commands.forked(argv, timeout_s=RUN_S)
        self.assertEqual(0, code, out + errors)
        self.cloud = client_connections.connect(os.path.join(self.state_dir, 'clouds.yaml'))

    def run_command(self, line):
        """Run a command that ends by itself with the cloud; return (exit code, output, errors)."""
        program, *words = shlex.split(
            line.replace('FILES', self.files).replace('DIR', self.state_dir)
        )
        named = ('--state-dir', self.state_dir)
        argv = (program, *named, *words) if program == 'openstack' else (program, *words, *named)
        if program == 'up' and '--print-config' not in words:
            argv += ('--port', '0')
        return commands.forked(argv, timeout_s=RUN_S)

    def test_the_cloud(self):
        self.check_usages()
        self.check_status()
        self.check_environment()
        self.check_openstack()

    def check_usages(self):
        """Each is refused, and changes nothing."""
        wrong = []
        before = self.seen()
        for line, cause, way_out in USAGES:
            code, out, errors = self.run_command(line)
            errors = ' '.join(errors.split())
            found = [words for words in WORDS_OF_LIBRARIES if words in errors]
            texts = [text.replace('FILES', self.files) for text in (cause, way_out)]
            missing = [text for text in texts if text not in errors]
            if (code, out) != (2, '') or found or missing:
                wrong.append(f'{line}: {code} {out} {errors}\n  lacks {missing}, has {found}')
        self.assertEqual([], wrong, '\n'.join(wrong))
        self.assertEqual(before, self.seen())

    def seen(self):
        """Return what wrong usages may not change."""
        _code, faults, _errors = self.run_command('fault list')
        _code, points, _errors = self.run_command('saga break --list')
        _code, states, _errors = self.run_command('reset --list')
        servers = [(each.name, each.status) for each in self.cloud.compute.servers()]
        return faults, points, states, servers

    def check_status(self):
        """URLs that answer, and the reason of what is not healthy."""
        for _attempt in range(LOOKS):
            code, out, _errors = self.run_command('status --json')
            if code == 0:
                break
        found = json.loads(out)
        self.assertEqual((0, []), (code, found['unhealthy']))
        for urls in (found['health_urls'], found['metrics_urls']):
            self.assertEqual(['all'], [*urls])
            self.assertEqual(200, requests.get(urls['all'], timeout=STOP_S).status_code)
        self.assertEqual(200, requests.get(found['page_url'], timeout=STOP_S).status_code)
        self.assertEqual(0, self.run_command('cell down cell1')[0])
        # A result of the health checks is kept for some seconds, and on a busy machine the
        # endpoint may not answer in time.
        for _attempt in range(LOOKS):
            code, out, _errors = self.run_command('status')
            if UNHEALTHY.search(out):
                break
        self.assertEqual(1, code)
        self.assertRegex(out, UNHEALTHY)
        self.assertIn('| health_urls  | http://', out)
        self.assertEqual(0, self.run_command('cell up cell1')[0])

    def check_environment(self):
        """The shell of `nova-lite env` acts as the user of --os-cloud; --openrc names one user."""
        former = dict.fromkeys(openrc.UNSET, 'former')
        for options, cloud, visible in (
            ('', '', 'web\n'),
            ('', '--os-cloud nova-lite-demo', '\n'),
            ('--cloud nova-lite-demo', '', '\n'),
            ('--cloud nova-lite-demo', '--os-cloud nova-lite', 'web\n'),
            ('--openrc', '--os-cloud nova-lite-demo', 'web\n'),
        ):
            _code, exported, _errors = self.run_command(f'env {options}')
            client = os.path.join(os.path.dirname(sys.executable), 'openstack')
            line = f'{exported}\n{client} {cloud} server list -f value -c Name'
            done = subprocess.run(
                ['sh', '-u', '-c', line],
                env={**os.environ, **former},
                capture_output=True,
                text=True,
            )
            self.assertEqual(visible, done.stdout or '\n', (options, cloud, done.stderr))

    def check_openstack(self):
        """It is run with the cloud, as the user of --cloud."""
        code, out, errors = self.run_command('openstack server list -f value -c Name')
        self.assertEqual((0, 'web\n'), (code, out), errors)
        line = 'openstack --cloud nova-lite-demo server list -f value -c Name'
        code, out, errors = self.run_command(line)
        self.assertEqual((0, ''), (code, out.strip()), errors)
        # The same as the user whom the client's own option names.
        for line in (
            'openstack --os-cloud nova-lite-demo server list -f value -c Name',
            'openstack -- --os-cloud nova-lite-demo server list -f value -c Name',
        ):
            code, out, errors = self.run_command(line)
            self.assertEqual((0, ''), (code, out.strip()), errors)
        code, out, errors = self.run_command('openstack --version')
        self.assertRegex(out, r'openstack [0-9.]+\n', errors)
        self.assertEqual(0, code)
        code, out, errors = self.run_command('openstack server show nosuch')
        self.assertEqual((1, ''), (code, out))
        self.assertIn('nosuch', errors)
        self.assertTrue(
            os.access(os.path.join(os.path.dirname(sys.executable), 'openstack'), os.X_OK)
        )
