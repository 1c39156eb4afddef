"""The devstack plugin, phase by phase, against stand-ins of the functions it calls.

Shells and interpreters are started, so nothing is played in the simulation. Other settings of
local.conf are for `tests/nightly`.
"""

import configparser
import os
import pathlib
import shutil
import stat
import subprocess
import sys

import fixtures
import testtools

from nova_lite import conf as configuration
from nova_lite.db import transactions
from nova_lite.db.api import cell_mappings
from tests.fixtures import units
from tests.fixtures import warm_programs

PLUGIN = units.ROOT / 'devstack'
SCRIPTS = ('plugin.sh', 'settings', 'override-defaults')
STACK = ('pre-install', 'install', 'post-config', 'extra', 'test-config')
NOVA = 'n-api,n-cond,n-cpu,n-sch,n-novnc,n-api-meta'
BIN = os.path.dirname(sys.executable)
PROGRAMS = [name for name in os.listdir(BIN) if name.startswith('nova-lite-')]
SECRETS = ('bus-secret', 'service-secret')
PIP = '#!/bin/sh\necho "pip $*" >> "$ROOT/calls"\n'
DRIVE = """
set -eu
source tests/fixtures/devstack_functions.sh
source devstack/override-defaults
source devstack/settings
for phase in $PHASES; do
    if [ "$phase" = unstack ] || [ "$phase" = clean ]; then
        source devstack/plugin.sh "$phase" ""
    else
        source devstack/plugin.sh stack "$phase"
    fi
done
echo "$ENABLED_SERVICES" > "$ROOT/enabled"
"""


class Devstack:
    """A devstack with the plugin in it, below `root`. Settings are local.conf's.

    programs: the directory of nova_lite's, in its virtual environment; pip is added
    """

    def __init__(self, root, programs):
        self.root, self.venv = pathlib.Path(root), programs.parent
        pip = programs / 'pip'
        pip.write_text(PIP)
        pip.chmod(0o755)
        self.etc, self.state = self.root / 'etc', self.root / 'data' / 'nova-lite'
        self.ml2 = self.root / 'ml2_conf.ini'
        self.ml2.write_text('[ml2]\nmechanism_drivers = ovn\n')

    def run(self, *phases, **settings):
        """Run phases as stack.sh does, in one shell; the finished process."""
        env = {
            **os.environ,
            'ROOT': str(self.root),
            'PYTHON': sys.executable,
            'PYTHONPATH': str(units.ROOT),
            'PHASES': ' '.join(phases),
            'ENABLED_SERVICES': f'key,g-api,q-svc,c-api,placement-api,tempest,rabbit,{NOVA}',
            'DEST': str(self.root),
            'DATA_DIR': str(self.root / 'data'),
            'NOVA_LITE_DIR': str(units.ROOT),
            'NOVA_LITE_VENV': str(self.venv),
            'NOVA_LITE_CONF_DIR': str(self.etc),
            'STACK_USER': str(os.geteuid()),
            'ENABLE_DEBUG_LOG_LEVEL': 'True',
            'KEYSTONE_SERVICE_URI': 'http://127.0.0.1/identity',
            'SERVICE_PASSWORD': 'service-secret',
            'SERVICE_PROJECT_NAME': 'service',
            'SERVICE_DOMAIN_NAME': 'Default',
            'SERVICE_LISTEN_ADDRESS': '127.0.0.1',
            'SERVICE_HOST': '127.0.0.1',
            'SERVICE_PROTOCOL': 'http',
            'SERVICE_TIMEOUT': '2',
            'REGION_NAME': 'RegionOne',
            'Q_PLUGIN_CONF_FILE': str(self.ml2).removeprefix('/'),
            'TEMPEST_CONFIG': str(self.root / 'tempest.conf'),
            **settings,
        }
        return subprocess.run(
            ['bash', '-c', DRIVE], cwd=units.ROOT, env=env, capture_output=True, text=True
        )

    def calls(self, name):
        """Arguments of the calls of a function, each as one text."""
        lines = (self.root / 'calls').read_text().splitlines()
        return [line.partition(' ')[2] for line in lines if line.split()[0] == name]

    def files(self):
        """{configuration file: its text}."""
        return {path.name: path.read_text() for path in sorted(self.etc.iterdir())}

    def read(self, function):
        """Return what a query finds in the API database."""
        database = transactions.Database(f'sqlite:///{self.root}/databases/nova_lite_api')
        try:
            return database.read(function)
        finally:
            database.dispose()

    def conf(self, *names):
        """Return what a daemon makes of these files."""
        return configuration.make_conf(files=[str(self.etc / f'{name}.conf') for name in names])


class PluginCase(testtools.TestCase):
    def devstack(self):
        programs = warm_programs.WarmPrograms(BIN, PROGRAMS)
        warm = self.useFixture(programs)
        return Devstack(self.useFixture(fixtures.TempDir()).path, warm.directory)

    def stacked(self, *phases, devstack=None, **settings):
        """A devstack that has run these phases."""
        found = devstack or self.devstack()
        done = found.run(*phases, **settings)
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        return found

    def starts_daemons_that_take_their_files(self, found):
        """Check that daemons that have been started can read their configuration files."""
        for call in found.calls('run_process'):
            _program, *files = call.split(' --config-file ')
            self.assertEqual(files, configuration.make_conf(files=files).config_file)


class PluginTest(PluginCase):
    def test_stack_unstack_and_clean(self):
        found = self.stacked(*STACK)
        self._takes_the_place_of_nova(found)
        self._has_its_own_bus_for_each_cell(found)
        self.starts_daemons_that_take_their_files(found)
        self._keeps_secrets(found)
        self._lets_neutron_bind_ports(found)
        self.stacked('unstack', devstack=found)
        started = {call.split()[0] for call in found.calls('run_process')}
        self.assertEqual(started, set(found.calls('stop_process')))
        self.stacked('clean', devstack=found)
        for path in (found.etc, found.state, found.venv):
            self.assertFalse(path.exists(), path)

    def test_install(self):
        found = self.stacked('install', OFFLINE='True')
        self.assertEqual([], found.calls('pip'))
        self.assertEqual([f'--no-deps {units.ROOT}'], found.calls('pip_install'))
        self.stacked('install', devstack=found)
        self.assertEqual([f'-m venv {found.venv}'], found.calls('python3'))
        constraints = units.ROOT / 'constraints.txt'
        self.assertEqual(
            [f'install -c {constraints} -e {units.ROOT}[memcached]'], found.calls('pip')
        )

    def _takes_the_place_of_nova(self, found):
        cells = {row.name for row in found.read(cell_mappings.every)}
        self.assertEqual({'cell0', 'cell1', 'cell2'}, cells)
        enabled = (found.root / 'enabled').read_text().strip().split(',')
        self.assertEqual(set(), {'n-api', 'n-cpu', 'n-sch'} & set(enabled))
        self.assertIn('placement-api', enabled)
        self.assertEqual(
            ['compute RegionOne http://127.0.0.1:8774/v2.1'], found.calls('get_or_create_endpoint')
        )
        started = {call.split()[0] for call in found.calls('run_process')}
        cells = {f'nl-{kind}-cell{number}' for kind in ('cond', 'cpu') for number in (1, 2)}
        self.assertEqual({'nl-api', 'nl-super', 'nl-sch', 'nl-meta'} | cells, started)
        self.assertEqual(8774, found.conf('common', 'control', 'api').api.port)
        tempest = configparser.ConfigParser()
        tempest.read(found.root / 'tempest.conf')
        self.assertEqual('6', tempest['compute']['min_compute_nodes'])
        self.assertEqual('True', tempest['service_available']['nova'])
        flavors = (PLUGIN / 'files' / 'flavors').read_text().splitlines()
        known = {line.split()[1] for line in flavors}
        used = {tempest['compute'][name] for name in ('flavor_ref', 'flavor_ref_alt')}
        self.assertEqual((2, set()), (len(used), used - known))

    def _has_its_own_bus_for_each_cell(self, found):
        buses = {found.conf(f'conductor-cell{n}').transport_url for n in (1, 2)}
        buses.add(found.conf('control').transport_url)
        self.assertEqual(3, len(buses))
        self.assertEqual(
            {'nova_lite_top', 'nova_lite_cell1', 'nova_lite_cell2'},
            set(found.calls('rpc_backend_add_vhost')),
        )
        self.assertNotIn('[database]', found.files()['compute-cell1.conf'])
        self.assertEqual(
            found.conf('conductor-cell2').transport_url, found.conf('compute-cell2').transport_url
        )

    def _lets_neutron_bind_ports(self, found):
        self.assertEqual('[ml2]\nmechanism_drivers = ovn,nova_lite\n', found.ml2.read_text())
        self.assertEqual(300, found.conf('common').vif_plugging_timeout)

    def _keeps_secrets(self, found):
        for path in found.etc.glob('*.conf'):
            self.assertEqual(0, stat.S_IMODE(path.stat().st_mode) & 0o007, path)
        for call in found.calls('run_process'):
            self.assertEqual([], [secret for secret in SECRETS if secret in call])


class StyleTest(testtools.TestCase):
    def _clean(self, *command):
        done = subprocess.run(
            [*command, *(str(PLUGIN / name) for name in SCRIPTS)], capture_output=True, text=True
        )
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)

    def test_bashate(self):
        # E005: devstack's names for two of the files have no suffix. E006: line length.
        bashate = os.path.join(os.path.dirname(sys.executable), 'bashate')
        self._clean(bashate, '--ignore=E005,E006', '--error=E')

    @testtools.skipUnless(shutil.which('shellcheck'), 'shellcheck is not installed')
    def test_shellcheck(self):
        # Other files define what these use, and use what these define.
        self._clean('shellcheck', '--shell=bash', '--exclude=SC1091,SC2034,SC2154')
