"""The settings of clients as variables OS_*, from the clouds.yaml of a cloud.

This module imports no client, which halves the start of `nova-lite env`.
"""

import os
import typing
import urllib.parse

import yaml

from nova_lite import exception
from nova_lite.lab.console import messages
from nova_lite.lab.launcher import proxies
from nova_lite.lab.launcher import state_dir
from nova_lite.lab.launcher import which_cloud

# Variables from before that would override the new ones, or name another scope.
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


def clouds_yaml(cloud: which_cloud.Cloud) -> str:
    """Return the path of the clouds.yaml of a cloud. Raise Invalid if it does not exist."""
    if not cloud.deployed:
        return state_dir.existing(cloud.directory, 'clouds.yaml')
    path = os.path.join(cloud.directory, 'clouds.yaml')
    if not os.path.exists(path):
        raise NoClients(directory=cloud.directory)
    return path


def variables(path: str, name: str) -> dict[str, str]:
    """Return {variable: value} for the cloud `name` of a clouds.yaml. Raise Invalid.

    If the environment has a proxy, no_proxy is one of the variables.
    """
    clouds = _clouds(path)
    if name not in clouds:
        raise exception.Invalid(reason=f'{path} has no cloud {name}, only {", ".join(clouds)}')
    chosen = clouds[name]
    return {
        'OS_CLIENT_CONFIG_FILE': path,
        'OS_CLOUD': name,
        **{f'OS_{key.upper()}': value for key, value in chosen['auth'].items()},
        'OS_REGION_NAME': chosen['region_name'],
        'OS_IDENTITY_API_VERSION': str(chosen['identity_api_version']),
        **proxies.exempt([urllib.parse.urlsplit(chosen['auth']['auth_url']).hostname or '']),
    }


def _clouds(path: str) -> dict[str, typing.Any]:
    """Return {name: cloud} of a clouds.yaml. Raise Unreadable."""
    try:
        with open(path, encoding='utf-8') as file:
            found = yaml.safe_load(file)
    except (OSError, UnicodeError) as error:
        reason = messages.cause(error)
    except yaml.YAMLError:
        reason = 'it is not YAML'
    else:
        clouds = found.get('clouds') if isinstance(found, dict) else None
        if isinstance(clouds, dict) and all('auth' in each for each in clouds.values()):
            return clouds
        reason = 'it has no clouds'
    up = state_dir.command('up', os.path.dirname(path))
    raise state_dir.Unreadable(path=path, reason=reason, up=up)
