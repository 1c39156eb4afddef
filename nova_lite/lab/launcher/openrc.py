"""The settings of clients as variables OS_*, from a cloud's clouds.yaml.

It imports no client: `nova-lite env` starts in half the time.
"""

import os
import urllib.parse

import yaml

from nova_lite import exception
from nova_lite.lab.launcher import proxies
from nova_lite.lab.launcher import state_dir

# Variables of former shells that would come before ours, or name another scope besides it.
UNSET = (
    'OS_TOKEN',
    'OS_AUTH_TYPE',
    'OS_PROJECT_ID',
    'OS_TENANT_ID',
    'OS_TENANT_NAME',
    'OS_USER_ID',
    'OS_DOMAIN_ID',
    'OS_DOMAIN_NAME',
    'OS_SYSTEM_SCOPE',
    'OS_TRUST_ID',
)


class NoClients(exception.Invalid):
    msg = (
        'The deployment of %(directory)s has no clouds.yaml there. Use the openrc file of its project, '
        'or put a clouds.yaml with a cloud called nova-lite into that directory.'
    )


def clouds_yaml(cloud):
    """Return the path of the clouds.yaml of a which_cloud.Cloud. Raise Invalid without it."""
    if not cloud.deployed:
        return state_dir.existing(cloud.directory, 'clouds.yaml')
    path = os.path.join(cloud.directory, 'clouds.yaml')
    if not os.path.exists(path):
        raise NoClients(directory=cloud.directory)
    return path


def variables(path, name):
    """Return {variable: value}, OS_* for the cloud called `name`. Raise Invalid without it.

    If the environment has a proxy, no_proxy is among them.
    """
    with open(path) as file:
        clouds = yaml.safe_load(file)['clouds']
    if name not in clouds:
        raise exception.Invalid(reason=f'{path} has no cloud {name}, only {", ".join(clouds)}')
    chosen = clouds[name]
    return {
        'OS_CLIENT_CONFIG_FILE': path,
        'OS_CLOUD': name,
        **{f'OS_{key.upper()}': value for key, value in chosen['auth'].items()},
        'OS_REGION_NAME': chosen['region_name'],
        'OS_IDENTITY_API_VERSION': str(chosen['identity_api_version']),
        **proxies.exempt([urllib.parse.urlsplit(chosen['auth']['auth_url']).hostname]),
    }
