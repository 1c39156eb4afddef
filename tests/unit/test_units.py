"""The unit files: systemd takes them, shuts the daemons in, and they start our programs."""

import os
import re
import runpy
import shutil
import subprocess

import testtools

from tests.fixtures import units

ANALYZE = 'systemd-analyze'
# Exposure as `systemd-analyze security` counts it, from 0 to 10; its "OK" ends below 5.
MOST_EXPOSED = 1.3
INSTANCE = 'cell1'
SERVICES = ('metadata', 'placement', 'simcloud')


@testtools.skipUnless(shutil.which(ANALYZE), f'{ANALYZE} is not installed')
class AnalyzeTests(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.units = self.useFixture(units.Units())

    def _analyze(self, *args, **env):
        return subprocess.run(
            [ANALYZE, '--no-pager', *args],
            env={**os.environ, **env},
            capture_output=True,
            text=True,
        )

    def _instances(self):
        return [name.replace('@.', f'@{INSTANCE}.') for name in self.units.names]

    def test_systemd_takes_them(self):
        path = f'{self.units.directory}:/lib/systemd/system:/usr/lib/systemd/system'
        done = self._analyze('verify', '--man=no', *self._instances(), SYSTEMD_UNIT_PATH=path)
        self.assertEqual((0, ''), (done.returncode, done.stderr))

    def test_daemons_are_shut_in(self):
        services = [name for name in self._instances() if name.endswith('.service')]
        for name in services:
            done = self._analyze('security', f'--root={self.units.root}', '--offline=true', name)
            exposure = re.search(r'Overall exposure level for .*: ([0-9.]+)', done.stdout)
            self.assertIsNotNone(exposure, done.stdout + done.stderr)
            self.assertLessEqual(float(exposure[1]), MOST_EXPOSED, done.stdout)

    def test_the_user_they_run_as(self):
        for tool, directory in (('sysusers', 'sysusers.d'), ('tmpfiles', 'tmpfiles.d')):
            if shutil.which(f'systemd-{tool}') is None:
                self.skipTest(f'systemd-{tool} is not installed')
            path = self.units.directory / directory / 'nova-lite.conf'
            command = [f'systemd-{tool}', f'--root={self.units.root}', str(path)]
            (self.units.root / 'etc').mkdir(exist_ok=True)
            done = subprocess.run(
                [*command, *(['--create'] if tool == 'tmpfiles' else [])],
                capture_output=True,
                text=True,
            )
            self.assertEqual(0, done.returncode, done.stderr)
        self.assertIn('nova-lite:', (self.units.root / 'etc' / 'passwd').read_text())
        self.assertTrue((self.units.root / 'var' / 'lib' / 'nova-lite').is_dir())


class ContentTests(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.units = self.useFixture(units.Units())
        self.services = [name for name in self.units.names if name.endswith('.service')]

    def test_each_daemon_has_one(self):
        started = {os.path.basename(self.units.command(name)[0]) for name in self.services}
        daemons = {f'nova-lite-{name}' for name in ('api', 'scheduler', 'conductor', 'compute')}
        self.assertEqual(daemons | {f'nova-lite-{name}' for name in SERVICES}, started)
        for program in started:
            self.assertTrue(os.access(os.path.join(self.units.programs, program), os.X_OK))

    def test_each_stops_with_the_target_and_has_time_for_it(self):
        for name in self.services:
            self.assertEqual(['nova-lite.target'], self.units.setting(name, 'PartOf'))
            self.assertEqual(['nova-lite.target'], self.units.setting(name, 'WantedBy'))
            (seconds,) = self.units.setting(name, 'TimeoutStopSec')
            self.assertGreaterEqual(int(seconds), 30, name)

    def test_the_report_on_sigusr2_can_read_proc(self):
        common = self.units.directory / 'nova-lite-.service.d' / '10-common.conf'
        # /proc/stat tells psutil, which the report asks, when the machine was booted.
        self.assertNotIn('\nProcSubset=pid', common.read_text())

    def test_other_servers_of_the_api_read_the_same_files(self):
        named = ':'.join(self.units.command('nova-lite-api.service')[2::2])
        samples = units.ROOT / 'etc' / 'nova_lite'
        settings = runpy.run_path(str(samples / 'gunicorn.conf.py'))
        self.assertEqual([f'NOVA_LITE_CONFIG_FILES={named}'], settings['raw_env'])
        self.assertIn(
            f'\nenv = NOVA_LITE_CONFIG_FILES={named}\n', (samples / 'uwsgi.ini').read_text()
        )

    def test_no_secret_in_a_command(self):
        for name in self.services:
            for argument in self.units.command(name)[1:]:
                self.assertRegex(
                    argument, r'^(--super|--config-file|/etc/nova-lite/[\w@%-]+\.conf)$'
                )
