"""nova-lite-status config check."""

import contextlib
import io
import json
import os
import pathlib
import subprocess
import sys

import fixtures
from oslo_log import log
import testtools

from nova_lite import conf as conf_module
from nova_lite.cmd import status
from nova_lite.conf import known_options
from nova_lite.daemons import process
from nova_lite.manage import config_check
from tools import nova_options

WORKS, OTHER_NAME = config_check.Effect.WORKS, config_check.Effect.OTHER_NAME
NO_EFFECT, UNKNOWN = config_check.Effect.NO_EFFECT, config_check.Effect.UNKNOWN
REFUSED = config_check.Effect.REFUSED
# [(section, line of the file, effect, part of the detail)]
SETTINGS = [
    ('DEFAULT', 'report_interval = 5', WORKS, ''),
    ('DEFAULT', 'report-interval = 5', WORKS, ''),
    ('DEFAULT', 'rpc_response_timeout = 5', WORKS, ''),
    ('DEFAULT', 'cpu_allocation_ratio = 2.0', OTHER_NAME, '[compute]cpu_allocation_ratio'),
    ('DEFAULT', 'initial_disk_allocation_ratio = 2', OTHER_NAME, '[compute]initial_disk_'),
    ('DEFAULT', 'reserved_host_memory_mb = 1', OTHER_NAME, '[compute]reserved_host_memory_mb'),
    ('DEFAULT', 'osapi_compute_workers = 2', OTHER_NAME, '[api]workers'),
    ('DEFAULT', 'metadata_listen_port = 2', OTHER_NAME, '[metadata]port'),
    ('DEFAULT', 'console_token_ttl = 9', OTHER_NAME, '[consoles]token_ttl'),
    ('consoleauth', 'token_ttl = 9', OTHER_NAME, '[consoles]token_ttl'),
    ('vnc', 'novncproxy_base_url = http://x', OTHER_NAME, '[consoles]novncproxy_base_url'),
    ('spice', 'html5proxy_base_url = http://x', OTHER_NAME, '[consoles]html5proxy_base_url'),
    ('serial_console', 'base_url = ws://x', OTHER_NAME, '[consoles]serial_base_url'),
    ('libvirt', 'live_migration_timeout_action = abort', OTHER_NAME, '[compute]live_migration'),
    ('LIBVIRT', 'live_migration_completion_timeout = 1', OTHER_NAME, '[compute]live_migration'),
    ('libvirt', 'virt_type = kvm', NO_EFFECT, ''),
    ('scheduler', 'workers = 3', NO_EFFECT, ''),
    ('quota', 'driver = nova.quota.UnifiedLimitsDriver', WORKS, ''),
    ('quota', 'driver = nova.quota.NoopQuotaDriver', WORKS, ''),
    ('DEFAULT', 'quota_cores = 7', OTHER_NAME, '[quota]cores'),
    ('DEFAULT', 'notify_on_state_change = vm_state', OTHER_NAME, '[notifications]notify_on_'),
    ('compute', 'provider_config_location = /etc/nova/provider_config', WORKS, ''),
    ('DEFAULT', 'pci_alias = {}', OTHER_NAME, '[pci]alias'),
    ('pci', 'report_in_placement = true', WORKS, ''),
    ('oslo_messaging_kafka', 'kafka_max_fetch_bytes = 3', NO_EFFECT, ''),
    ('DEFAULT', 'report_intervall = 5', UNKNOWN, ''),
    ('no_group', 'report_interval = 5', UNKNOWN, ''),
    ('oslo_messaging_rabbit', 'rabbit_quorum_queues = true', UNKNOWN, ''),
    ('oslo_messaging_rabbit', 'rabbit_quorum_queue = true', WORKS, ''),
    ('keystone_authtoken', 'memcached_servers = x', WORKS, ''),
    ('DEFAULT', 'report_interval = often', REFUSED, 'invalid literal for int'),
    ('DEFAULT', 'ram_allocation_ratio = -1', REFUSED, 'Should be greater than or equal to 0'),
    ('libvirt', 'live_migration_timeout_action = x', REFUSED, 'Valid values are [abort, force_'),
    ('vnc', 'novncproxy_base_url = http://$my_ip/', OTHER_NAME, ''),
    ('vnc', 'novncproxy_base_url = http://$a_host/', REFUSED, 'refers to $a_host, an option that'),
    ('DEFAULT', 'my_ip = 192.0.2.1', WORKS, ''),
    ('DEFAULT', 'my_ip = not an address', REFUSED, 'is not a valid host address'),
    ('profiler', 'enabled = true', NO_EFFECT, ''),
    ('profiler', 'enable = true', UNKNOWN, ''),
    ('vnc', 'novncproxy_base_url = http://${api.port}/', OTHER_NAME, ''),
    ('vnc', 'novncproxy_base_url = http://${api.ports}/', REFUSED, '$api.ports'),
    ('metrics', 'weight_setting = cpu.percent=-1.0, cpu.frequency=0.1', WORKS, ''),
    ('metrics', 'weight_setting = cpu.percent=low', REFUSED, 'could not convert string to float'),
    ('filter_scheduler', 'image_props_weight_setting = os_distro=2,os_type=1', WORKS, ''),
    ('DEFAULT', 'compute_monitors = virt_driver', WORKS, ''),
    ('DEFAULT', 'compute_monitors = mine.virt_driver', REFUSED, 'cpu.virt_driver'),
    ('DEFAULT', 'instance_usage_audit_period = month@15', WORKS, ''),
    ('DEFAULT', 'instance_usage_audit_period = month@31', REFUSED, "'month@31'"),
    ('filter_scheduler', 'enabled_filters = ComputeFilter', WORKS, ''),
    ('filter_scheduler', 'enabled_filters = MyFilter', REFUSED, 'unknown MyFilter. Use one of: '),
    ('filter_scheduler', 'enabled_filters = ComputFilter', REFUSED, 'mean ComputeFilter for Comp'),
    ('filter_scheduler', 'weight_classes = nova.scheduler.weights.all_weighers', WORKS, ''),
    ('filter_scheduler', 'weight_classes = nova.scheduler.weights.ram.RAMWeigher', WORKS, ''),
    ('filter_scheduler', 'weight_classes = nova.scheduler.weights.x.MyWeigher', REFUSED, ''),
]
CREDENTIALS = """
[placement]
auth_type = v3applicationcredential
application_credential_id = a
[glance]
auth_section = shared
[shared]
auth_type = password
username = a
usernam = a
[cinder]
auth_type = nobody
username = a
"""


class FilesTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.directory = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def file(self, text, name='nova.conf'):
        """Write a configuration file. Return its path."""
        path = self.directory / name
        path.write_text(text)
        return str(path)

    def findings(self, text):
        """[(setting, effect, detail)]"""
        return config_check.Files([self.file(text)]).findings

    def run_check(self, *argv):
        """(exit code, output, errors)"""
        out, errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
            code = status.main(['config', 'check', *argv])
        return code, out.getvalue(), errors.getvalue()

    def test_settings(self):
        for section, line, effect, detail in SETTINGS:
            (finding,) = self.findings(f'[{section}]\n{line}\n')
            self.assertEqual(effect, finding.effect, (section, line, finding))
            self.assertIn(detail, finding.detail)

    def test_former_names_of_nova(self):
        """Each works if the option that it means does."""
        known = known_options.Known({})
        aliases = [
            ((group, name), tuple(meant.removeprefix('-> [').split(']')))
            for group, options in config_check._table()['options'].items()
            for name, meant in options.items()
            if isinstance(meant, str) and meant.startswith('-> ')
        ]
        self.assertGreater(len(aliases), 20)
        for alias, meant in aliases:
            self.assertEqual(known.option(*meant), known.option(*alias), (alias, meant))

    def test_filters_of_nova_alone(self):
        """They are named without the list of all filters."""
        line = 'enabled_filters = ComputeFilter,RamFilter,AvailabilityZoneFilter'
        (finding,) = self.findings(f'[filter_scheduler]\n{line}\n')
        self.assertEqual(REFUSED, finding.effect)
        self.assertTrue(
            finding.detail.endswith(
                'nova_lite has no RamFilter, AvailabilityZoneFilter: remove the name'
            ),
            finding.detail,
        )

    def test_lines_of_errors(self):
        for text, line in (
            ('\n# a\nreport_interval = 1\n\n\n[DEFAULT]\n', 3),
            ('report_interval = 1', 1),
            ('[DEFAULT]\nreport_interval = 1\n\nnonsense\nhost = a', 4),
            ('[DEFAULT]\nreport_interval = 1\n\n  more\nhost = a', 4),
            ('[DEFAULT]\nreport_interval = 1\n[]\nhost = a', 3),
            ('[DEFAULT]\nreport_interval = 1\n[api\nhost = a', 3),
            ('[DEFAULT]\nreport_interval = 1\n= 2\nhost = a', 3),
        ):
            path = self.file(text)
            code, _out, errors = self.run_check(path)
            self.assertEqual(2, code)
            self.assertIn(f'at {path}:{line}, ', errors)

    def test_credentials(self):
        """The options of a section depend on the plugin that it names."""
        without = {
            (finding.setting.group, finding.setting.name)
            for finding in self.findings(CREDENTIALS)
            if finding.effect != WORKS
        }
        self.assertEqual({('shared', 'usernam')}, without)

    def test_works_means_that_it_is_read(self):
        path = self.file(
            '[vnc]\nnovncproxy_base_url = http://x\n[DEFAULT]\nosapi_compute_workers=3\n'
        )
        conf = conf_module.make_conf(files=[path])
        self.assertEqual(('http://x', 3), (conf.consoles.novncproxy_base_url, conf.api.workers))

    def test_defaults(self):
        named = {
            default.name: default for default in config_check.Files([self.file('')]).defaults()
        }
        found = named['[notifications]notification_format']
        self.assertEqual(('versioned', 'unversioned'), (found.ours, found.nova))
        set_ = config_check.Files([self.file('[notifications]\nnotification_format = both\n')])
        self.assertNotIn(found, set_.defaults())
        self.assertNotIn('[DEFAULT]report_interval', named)

    def test_exit_codes(self):
        for text, expected in (
            ('', 0),
            ('[api]\nmax_limit = 5\n', 0),
            ('[vnc]\nnovncproxy_base_url = http://x\n', 0),
            ('[libvirt]\nvirt_type = kvm\n', 1),
            ('[libvirt]\nvirt_typ = kvm\n', 1),
            ('[libvirt]\nvirt_type = kvm\n[api]\nmax_limit = x\n', 2),
            ('no section', 2),
        ):
            code, out, errors = self.run_check(self.file(text))
            self.assertEqual(expected, code, (text, out, errors))

    def test_a_file_that_cannot_be_read(self):
        code, out, errors = self.run_check('/nowhere/nova.conf')
        self.assertEqual((2, ''), (code, out))
        self.assertIn('/nowhere/nova.conf', errors)
        self.assertNotIn('Traceback', errors)

    def test_a_reader_that_goes_away(self):
        path = self.file('[libvirt]\nvirt_type = kvm\n')
        reading, writing = os.pipe()
        os.close(reading)
        done = subprocess.run(
            [sys.executable, '-m', 'nova_lite.cmd.status', 'config', 'check', path],
            stdout=writing, stderr=subprocess.PIPE, check=False,
        )  # fmt: skip
        os.close(writing)
        self.assertEqual(141, done.returncode)
        self.assertNotIn(b'BrokenPipeError', done.stderr)

    def test_later_files_win(self):
        first = self.file('[api]\nmax_limit = x\n', 'a.conf')
        code, out, _errors = self.run_check(first, self.file('[api]\nmax_limit = 4\n', 'b.conf'))
        self.assertEqual(0, code, out)

    def test_json(self):
        path = self.file('[libvirt]\nvirt_type = kvm\n')
        code, out, _errors = self.run_check('--json', path)
        found = json.loads(out)
        self.assertEqual(1, code)
        self.assertEqual(
            [{'path': path, 'group': 'libvirt', 'name': 'virt_type', 'effect': 'no effect',
              'detail': ''}],
            found['settings'],
        )  # fmt: skip
        self.assertEqual(config_check.nova_version(), found['nova'])

    def test_a_daemon_logs_what_has_no_effect(self):
        logger = self.useFixture(fixtures.FakeLogger('nova_lite.daemons.process'))
        self.addCleanup(log.setup, conf_module.make_conf(files=[]), 'nova_lite')
        path = self.file('[libvirt]\nvirt_type = kvm\n[api]\nmax_limit = 5\n')
        process.configure(['--config-file', path], 'nova-lite-scheduler')
        self.assertEqual(f'Without effect: [libvirt]virt_type in {path}\n', logger.output)

    def test_directories(self):
        self.file('[libvirt]\nvirt_type = kvm\n', 'a.conf')
        self.file('[libvirt]\nvirt_type = kvm\n', 'a.txt')
        conf = conf_module.make_conf(['--config-dir', str(self.directory)], files=[])
        found = known_options.without_effect(conf)
        self.assertEqual(['a.conf'], [pathlib.Path(each.path).name for each in found])

    def test_the_files_are_those_that_the_library_reads(self):
        """Also of several directories and of the home directory, but no hidden ones."""
        self.useFixture(fixtures.EnvironmentVariable('HOME', str(self.directory)))
        paths = []
        for name in ('first', 'second'):
            (self.directory / name).mkdir()
            paths.append(self.file('[libvirt]\nvirt_type = kvm\n', f'{name}/a.conf'))
        self.file('[libvirt]\nvirt_type = kvm\n', 'first/.hidden.conf')
        paths.append(self.file('[libvirt]\nvirt_type = kvm\n', 'named'))
        argv = ['--config-dir', '~/first', '--config-dir', '~/second', '--config-file', '~/named']
        found = known_options.without_effect(conf_module.make_conf(argv, files=[]))
        self.assertEqual(sorted(paths), sorted(each.path for each in found))

    def test_a_file_that_is_not_text(self):
        path = self.directory / 'nova.conf'
        path.write_bytes(b'\xff\xfe\n')
        code, out, errors = self.run_check(str(path))
        self.assertEqual((2, ''), (code, out))
        self.assertIn(str(path), errors)


class TableTest(testtools.TestCase):
    def test_of_an_answer_of_the_generator(self):
        answer = {
            'options': {
                'api': {
                    'opts': [
                        {'dest': 'max_limit', 'default': 1000, 'sample_default': None},
                        {'dest': 'path', 'default': '/a/b', 'sample_default': '<Path>'},
                    ]
                }
            },
            'deprecated_options': {
                'DEFAULT': [
                    {'name': 'max-limit', 'replacement_group': 'api',
                     'replacement_name': 'max_limit'}
                ]
            },
        }  # fmt: skip
        self.assertEqual(
            {
                'api': {'max_limit': 1000, 'path': '<Path>'},
                'DEFAULT': {'max_limit': '-> [api]max_limit'},
            },
            nova_options.table(answer),
        )
