"""The commands of the pages in doc/source/howto, with clouds as the pages start them.

Those of clock.rst are in test_clock.
"""

import json
import os
import pathlib
import re
import shutil
import signal

import fixtures
import testtools

from nova_lite import runtime
from nova_lite.lab.launcher import lock
from tests.fixtures import commands
from tests.fixtures import howto
from tools import sample

LIMIT_S = 300


@sample.in_turns(6)
class HowToTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.state_dir = self.useFixture(fixtures.TempDir()).join('cloud')
        self.scripts = self.useFixture(howto.Scripts())
        self.addCleanup(commands.run, 'stop', '--state-dir', self.state_dir)

    def up(self, *options):
        """Start the cloud of a page, whose simulated operations take no time."""
        given = ['--detach', '--state-dir', self.state_dir, '--port', '0', '--profile', 'instant']
        found = commands.forked(['up', *given, *options], timeout_s=LIMIT_S)
        self.assertEqual(0, found[0], found)

    def play(self, script, *, state_dir=None, **options):
        """Return what a script of a page prints."""
        return self.scripts.play(script, state_dir or self.state_dir, **options)

    def verify(self):
        code, printed, errors = commands.run('verify', '--state-dir', self.state_dir)
        self.assertEqual((0, 'No invariant is violated.\n'), (code, printed), errors)

    def test_reset(self):
        self.up('--cells', '1', '--hosts', '1')
        printed = self.play('reset/suite.sh', user='nova-lite-demo')
        self.assertRegex(printed, r'status +. ACTIVE')
        # The list that follows is empty.
        self.assertRegex(printed, r'Reset to state fresh in \d+ ms\s*\Z')
        self.verify()

    def test_faults(self):
        self.up()
        printed = self.play('faults/failures.sh')
        self.assertIn('spawn fails on cell1-* (message "no space left", first 1)', printed)
        self.assertIn('ERROR', printed)
        printed = self.play('faults/requests.sh')
        self.assertIn('requests * to placement fail with 503 (first 2)', printed)
        self.assertIn('requests PUT /allocations* to placement lose their answers', printed)
        printed = self.play('faults/host.sh')
        self.assertRegex(printed, r'cell1-host1 +. down')
        self.assertIn('host cell1-host1 is powered off', printed)
        self.assertRegex(printed, r'\ncell1-host[23]\n')
        printed = self.play('faults/cell.sh')
        self.assertIn('database of cell2 is down', printed)
        self.assertIn('bus of cell2 is cut', printed)
        self.assertIn('UNKNOWN', printed)
        self.verify()

    def test_two_clouds(self):
        """Lost-cell.rst, and then scheduler-what-if.rst, from the same cloud."""
        self.up()
        printed = self.play('lost-cell/lose.sh')
        self.assertIn('UNKNOWN', printed)
        self.assertNotRegex(printed, r'cell2-host1 +. up')
        self.assertIn('does not answer. Try again later.', printed)
        printed = self.play('lost-cell/use.sh')
        self.assertRegex(printed, r'cell1-host\d')
        printed = self.play('lost-cell/return.sh')
        self.assertRegex(printed, r'stays-behind +. ACTIVE')
        self.verify()
        self.try_options()

    def test_gpus(self):
        alias = '{"name": "gpu", "vendor_id": "10de", "product_id": "2330"}'
        filters = 'ComputeFilter,PciPassthroughFilter,NUMATopologyFilter'
        size = '--cells', '1', '--hosts', '2', '--profile', 'gpu'
        options = f'pci.alias={alias}', f'filter_scheduler.enabled_filters={filters}'
        self.up(*size, *(word for option in options for word in ('--set', option)))
        printed = self.play('gpu/fill.sh')
        for host in ('cell1-host1', 'cell1-host2'):
            self.assertEqual(2, len(re.findall(rf'train-\d +. ACTIVE +. {host}', printed)), printed)
        printed = self.play('gpu/full.sh')
        self.assertIn('0 devices of alias gpu are free, not 4', printed)
        printed = self.play('gpu/move.sh')
        self.assertEqual(
            3, len(re.findall(r'train-\d +. (?:ACTIVE|VERIFY_RESIZE)', printed)), printed
        )
        self.verify()

    def test_usage(self):
        profile = str(howto.PAGES / 'usage' / 'busy.yaml')
        self.up('--cells', '1', '--hosts', '2', '--profile', profile)
        printed = self.play('usage/scrape.sh')
        names = dict(re.findall(r'info\{domain="([^"]+)".*instance_name="([^"]+)"', printed))
        times = dict(re.findall(r'cpu_time_seconds_total\{domain="([^"]+)"\} (\S+)', printed))
        used = {names[domain]: float(seconds) for domain, seconds in times.items()}
        self.assertAlmostEqual(1800, used['busy-1'], delta=60)
        self.assertAlmostEqual(90, used['idle-1'], delta=5)
        self.assertIn('cpu_details', printed)
        self.verify()

    def try_options(self):
        directory = self.useFixture(fixtures.TempDir()).path
        packed = os.path.join(directory, 'packed')
        self.addCleanup(commands.run, 'stop', '--state-dir', packed)
        self.play('what-if/branch.sh', directory=directory)
        self.assertEqual(3, self.hosts_of_probes(self.state_dir))
        self.assertEqual(1, self.hosts_of_probes(packed))
        self.verify()

    def hosts_of_probes(self, state_dir):
        """Return on how many hosts the script puts three servers."""
        printed = self.play('what-if/boot.sh', state_dir=state_dir)
        found = re.findall(r'probe-\d +. (cell\d-host\d) ', printed)
        self.assertEqual(3, len(found), printed)
        self.assertRegex(printed, r'chosen +\S+ +\d+\.\d{3} ')
        self.assertIn('RAMWeigher', printed)
        return len(set(found))

    def test_study(self):
        directory = self.useFixture(fixtures.TempDir()).path
        shutil.copy(howto.PAGES / 'study' / 'trace.csv', directory)
        printed = self.play('study/compare.sh', directory=directory, progress=True)
        self.assertRegex(printed, r'ram_weight_multiplier=1 +\| 400 +\| \d+\.\d%')
        self.assertRegex(printed, r'ram_weight_multiplier=-1 +\| 400 +\| \d+\.\d%')
        drawn = pathlib.Path(directory, 'study', 'figures', 'empty_hosts.svg').read_text()
        self.assertEqual((howto.PAGES / 'study' / 'empty_hosts.svg').read_text(), drawn)

    def test_debug_a_move(self):
        self.up('--hosts', '1')
        printed = self.play('debug-a-move/stop.sh')
        self.assertIn('is stopped before switch-mapping-to-destination-cell\n', printed)
        self.assertRegex(printed, r'ATTR:host . cell1-host1 ')
        _code, found, _errors = commands.run('verify', '--state-dir', self.state_dir)
        self.assertRegex(found, r'` continues it  .no finding.\nNo invariant is violated')
        code, printed, _errors = commands.run('status', '--state-dir', self.state_dir, '--json')
        (stopped,) = json.loads(printed)['stopped']
        self.assertIn('is stopped before switch-mapping-to-destination-cell', stopped)
        printed = self.play('debug-a-move/go-on.sh')
        self.assertIn('is stopped before hide-source-records\n', printed)
        self.assertRegex(printed, r'ATTR:host . cell2-host1 ')
        self.assertIn('Super-conductor top has lost the saga', printed)
        self.assertIn('is stopped before save-request-spec\n', printed)
        code, printed, errors = self.saga('wait', 'traveller')
        self.assertEqual((1, ''), (code, errors))
        self.assertRegex(printed, r'^cross-cell-migrate of server .* is done; last step: ')
        self.verify()

    def saga(self, action, *options):
        return commands.run('saga', action, '--state-dir', self.state_dir, *options)

    def test_the_profile_is_read_again(self):
        path = self.useFixture(fixtures.TempDir()).join('profile.yaml')
        self.write(path, 'extends: instant')
        self.up('--profile', path, '--cells', '1', '--hosts', '1')
        self.write(path, 'extends: instant\nfailures: [{verb: spawn}]')
        log = os.path.join(self.state_dir, 'log', 'nova-lite.log')
        os.kill(lock.holder(self.state_dir), signal.SIGHUP)
        until = runtime.monotonic() + LIMIT_S
        while 'The configuration was read again' not in self.read(log):
            self.assertLess(runtime.monotonic(), until)
            runtime.sleep(0.05)
        self.assertIn('ERROR', self.play('faults/failures.sh'))
        # One that cannot be read.
        self.write(path, 'extends: [')
        os.kill(lock.holder(self.state_dir), signal.SIGHUP)
        until = runtime.monotonic() + LIMIT_S
        printed = os.path.join(self.state_dir, 'up.out')
        while 'Cannot apply part of the new configuration: Profile' not in self.read(printed):
            self.assertLess(runtime.monotonic(), until)
            runtime.sleep(0.05)

    @staticmethod
    def write(path, text):
        with open(path, 'w') as file:
            file.write(text)

    @staticmethod
    def read(path):
        with open(path) as file:
            return file.read()
