"""Settings of a program about the cloud: for its cases, and its configuration file."""

import configparser
import json
import pathlib
import sys

import yaml

from nova_lite.lab.launcher import client_connections

HOSTS = 4
IMAGE, FLAVOR, LARGER, NETWORK = 'cirros', 'm1.nano', 'm1.micro', 'private'
# Seconds that Masakari waits for one step of a recovery.
STEP_S = 90


def of(state_dir, directory):
    """Return the settings of the cases about the cloud of a state directory, a dictionary."""
    names = yaml.safe_load(pathlib.Path(state_dir, 'clouds.yaml').read_text())['clouds']
    cloud = client_connections.connect(f'{state_dir}/clouds.yaml')
    return {
        'admin': names['nova-lite']['auth'],
        'demo': names['nova-lite-demo']['auth'],
        'image': IMAGE,
        'image_id': cloud.image.find_image(IMAGE, ignore_missing=False).id,
        'flavor': FLAVOR,
        'flavor_alt': LARGER,
        'network': NETWORK,
        'network_id': cloud.network.find_network(NETWORK, ignore_missing=False).id,
        'hosts': [f'cell1-host{number + 1}' for number in range(HOSTS)],
        'state_dir': str(state_dir),
        'directory': str(directory),
        'results': str(directory / 'results.jsonl'),
        'configuration': str(directory / 'program.conf'),
        'nova_lite': [sys.executable, '-m', 'nova_lite.cmd.main'],
    }


def write(found):
    """Write the settings; return the path of the file."""
    path = pathlib.Path(found['directory'], 'settings.json')
    path.write_text(json.dumps(found, indent=2))
    return path


def configure(found, sections):
    """Write the configuration file of a program. sections: {section: {option: value}}"""
    parser = configparser.RawConfigParser(default_section=None)
    parser.read_dict(sections)
    with open(found['configuration'], 'w') as file:
        parser.write(file)


def documented(path):
    """Return the sections of a configuration file: {section: {option: value}}"""
    parser = configparser.RawConfigParser(default_section=None)
    parser.read_string(path.read_text())
    return {name: dict(parser[name]) for name in parser.sections()}


def login(auth):
    """Return the options of keystoneauth for a user of clouds.yaml."""
    return {
        'auth_type': 'password',
        'auth_url': auth['auth_url'],
        'username': auth['username'],
        'password': auth['password'],
        'project_name': auth['project_name'],
        'user_domain_name': 'Default',
        'project_domain_name': 'Default',
    }


def sqlite(found, name):
    """Return the URL of a new database in the directory of the program."""
    path = pathlib.Path(found['directory'], f'{name}.sqlite')
    path.unlink(missing_ok=True)
    return f'sqlite:///{path}'


def masakari(found):
    """Return the sections of Masakari's configuration."""
    auth = found['admin']
    return {
        'DEFAULT': {
            'os_privileged_user_name': auth['username'],
            'os_privileged_user_password': auth['password'],
            'os_privileged_user_tenant': auth['project_name'],
            'os_privileged_user_auth_url': auth['auth_url'],
            'os_user_domain_name': 'Default',
            'os_project_domain_name': 'Default',
            'verify_interval': 1,
            'wait_period_after_service_update': 1,
            'wait_period_after_evacuation': STEP_S,
            'wait_period_after_power_off': STEP_S,
            'wait_period_after_power_on': STEP_S,
        },
        'database': {'connection': sqlite(found, 'masakari')},
        'taskflow': {'connection': sqlite(found, 'taskflow')},
        'keystone_authtoken': {'auth_type': 'password'},
        'host_failure': {'evacuate_all_instances': True},
        'instance_failure': {'process_all_instances': True},
        'coordination': {'backend_url': f'file://{found["directory"]}/locks'},
    }
