"""The cloud that a command means: by options, by NOVA_LITE_STATE, by OS_*, or the default one.

The generated matrix sets each of these to no cloud, to the one and to the other.
"""

import itertools
import json
import os

import fixtures
from keystoneauth1 import loading
import testtools
import yaml

from nova_lite.lab.launcher import openrc
from nova_lite.lab.launcher import os_variables
from nova_lite.lab.launcher import state_dir
from tests.fixtures import commands

URL = 'http://127.0.0.1:{}/identity/v3'
# It asks no daemon of a cloud that is stopped.
LINE = ('status',)


class WhichCloudTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.base = self.useFixture(fixtures.TempDir()).path
        self.set(XDG_STATE_HOME=self.base)
        self.places = {
            'default': self.made(state_dir.unnamed(), 1),
            'one': self.made(os.path.join(self.base, 'one'), 2),
            'other': self.made(os.path.join(self.base, 'other'), 3),
        }
        # Their clients' files are of users, beside other clouds.
        self.foreign = os.path.join(self.base, 'config', 'clouds.yaml')
        self.write(self.foreign, clouds(one=2, other=3, production=99))
        # A name that other programs use as well.
        self.write(os.path.join(os.path.dirname(self.foreign), 'secrets.json'), '{}')

    def set(self, **values):
        """Set variables; None removes one."""
        for name, value in values.items():
            self.useFixture(fixtures.EnvironmentVariable(name, value))

    def write(self, path, text):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w') as file:
            file.write(text)

    def made(self, directory, port):
        """Make what `nova-lite up` leaves; return the directory."""
        self.write(os.path.join(directory, 'metadata-secret'), 'x')
        self.write(os.path.join(directory, 'etc', 'control.conf'), '[api]\n')
        self.write(os.path.join(directory, 'clouds.yaml'), clouds(**{'nova-lite': port}))
        return directory

    def run_in(self, variables, *options, line=LINE):
        """Return (exit code, first line of standard error) of a command in an environment."""
        names = (state_dir.VARIABLE, *os_variables.VARIABLES)
        self.set(**{**dict.fromkeys(names), **variables})
        code, _out, errors = commands.run_named(*line, *options)
        return code, errors.partition('\n')[0]

    def assert_uses(self, name, shown):
        self.assertTrue(shown[1].startswith(f'Cloud in {self.places[name]}, stopped'), shown)

    def assert_refused(self, shown, *texts):
        self.assertEqual(2, shown[0])
        for text in (*texts, '--state-dir', 'nova-lite env'):
            self.assertIn(text, shown[1])

    def test_what_deletes_wants_a_name(self):
        """The variable of clients does not do: who sets it works with that cloud."""
        place = self.places['one']
        clients = {os_variables.FILE: os.path.join(place, 'clouds.yaml')}
        for line in (('up', '--fresh', '--detach'), ('stop', '--delete')):
            code, text = self.run_in(clients, line=line)
            self.assertEqual(2, code, line)
            for each in (place, os_variables.FILE, '--state-dir'):
                self.assertIn(each, text)
        self.assertTrue(state_dir.is_cloud(place))
        named = {**clients, state_dir.VARIABLE: place}
        self.assertNotIn('This would delete', self.run_in(named, line=('stop', '--delete'))[1])

    def test_every_combination(self):
        """An option wins; two variables must agree; one counts; else it is the default cloud."""
        clouds = (None, 'one', 'other')
        for option, state, clients in itertools.product(clouds, repeat=3):
            variables = {}
            if state:
                variables[state_dir.VARIABLE] = self.places[state]
            if clients:
                path = os.path.join(self.places[clients], 'clouds.yaml')
                variables[os_variables.FILE] = path
            options = ('--state-dir', self.places[option]) if option else ()
            shown = self.run_in(variables, *options)
            if not option and state and clients and state != clients:
                self.assert_refused(shown, self.places[state], self.places[clients])
            else:
                self.assert_uses(option or state or clients or 'default', shown)

    def test_files_of_users(self):
        """The default cloud, or that of NOVA_LITE_STATE, unless clients would use another."""
        for state, cloud, is_same in (
            ('one', None, True),
            ('one', 'one', True),
            ('one', 'other', False),
            ('one', 'production', False),
            (None, 'one', False),
            (None, None, False),
        ):
            variables = {os_variables.FILE: self.foreign, os_variables.CLOUD: cloud}
            variables[state_dir.VARIABLE] = self.places.get(state)
            shown = self.run_in(variables)
            if is_same:
                self.assert_uses(state or 'default', shown)
            else:
                place = self.places[state or 'default']
                self.assert_refused(shown, place, os_variables.FILE, *filter(None, [cloud]))

    def test_urls(self):
        rows = (
            ('one', 'http://localhost:2/identity/v3/', True),
            ('one', URL.format(3), False),
            (None, URL.format(1), True),
            (None, 'https://keystone.example.org:5000/v3', False),
            (None, 'not a url [', False),
        )
        for name, (state, url, is_same) in itertools.product(os_variables.URLS, rows):
            variables = {name: url}
            variables[state_dir.VARIABLE] = self.places.get(state)
            shown = self.run_in(variables)
            if is_same:
                self.assert_uses(state or 'default', shown)
            else:
                self.assert_refused(shown, self.places[state or 'default'], url)

    def test_a_name_that_no_file_has(self):
        home = os.path.join(self.base, 'home')
        self.set(HOME=home)
        variables = {os_variables.CLOUD: 'production'}
        self.assert_uses('default', self.run_in(variables))
        self.write(os.path.join(home, '.config/openstack/clouds.yaml'), clouds(production=99))
        self.assert_refused(self.run_in(variables), 'OS_CLOUD=production', ':99')

    def test_env_unsets_what_clients_prefer(self):
        """All options of plugins for users and passwords, credentials, tokens and endpoints."""
        options = [
            option
            for name in ('password', 'v3applicationcredential', 'v3totp', 'token', 'admin_token')
            for option in loading.get_plugin_loader(name).get_options()
        ]
        names = {each.name for option in options for each in (option, *option.deprecated)}
        found = {f'OS_{name.upper().replace("-", "_")}' for name in names}
        self.assertEqual(set(), found - {*openrc.UNSET})
        self.assertLess({'OS_DOMAIN_ID', 'OS_PROJECT_NAME', 'OS_TRUST_ID'}, found)

    def test_env_makes_them_agree(self):
        """Its variables, from any environment, let each command use the cloud that it read."""
        former = {
            state_dir.VARIABLE: self.places['other'],
            os_variables.FILE: os.path.join(self.places['one'], 'clouds.yaml'),
        }
        self.set(**former)
        code, out, _errors = commands.run('env', '--state-dir', self.places['one'], '--json')
        self.assertEqual(0, code)
        found = json.loads(out)
        self.assertEqual(self.places['one'], found[state_dir.VARIABLE])
        self.assert_uses('one', self.run_in({**former, **found}))

    def test_a_directory_of_the_other_kind(self):
        deployed = os.path.join(self.base, 'deployed')
        self.write(os.path.join(deployed, 'control.conf'), '[DEFAULT]\n')
        for options, text in (
            (('--state-dir', deployed), f'{deployed} has the configuration of a deployment. '),
            (('--config-dir', self.places['one']), f'Use --state-dir {self.places["one"]}'),
            (('--config-dir', os.path.join(self.places['one'], 'etc')), 'Use --state-dir'),
            (('--config-dir', os.path.join(self.base, 'none')), 'is no directory'),
        ):
            code, error = self.run_in({}, *options)
            self.assertEqual(2, code)
            self.assertIn(text, error)


def clouds(**ports):
    """Return the text of a clouds.yaml. ports: of the identity services of its clouds"""
    found = {
        name: {
            'auth': {'auth_url': URL.format(port), 'username': 'admin'},
            'region_name': 'RegionOne',
            'identity_api_version': '3',
        }
        for name, port in ports.items()
    }
    return yaml.safe_dump({'clouds': found})
