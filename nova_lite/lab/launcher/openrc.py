"""The settings of clients as variables OS_*, from the clouds.yaml of a cloud.

This module imports no client, which halves the start of `nova-lite env`.
"""

import os
import typing
import urllib.parse

import yaml

from nova_lite import exception
from nova_lite.lab.console import arguments
from nova_lite.lab.console import messages
from nova_lite.lab.launcher import proxies
from nova_lite.lab.launcher import state_dir
from nova_lite.lab.launcher import which_cloud

# Variables of clients that override the cloud of OS_CLOUD or --os-cloud, or name another scope.
UNSET = (
    'OS_AUTH_URL',
    'OS_URL',
    'OS_ENDPOINT',
    'OS_USERNAME',
    'OS_USER_NAME',
    'OS_PASSWORD',
    'OS_PASSCODE',
    'OS_APPLICATION_CREDENTIAL_ID',
    'OS_APPLICATION_CREDENTIAL_NAME',
    'OS_APPLICATION_CREDENTIAL_SECRET',
    'OS_PROJECT_NAME',
    'OS_USER_DOMAIN_ID',
    'OS_USER_DOMAIN_NAME',
    'OS_PROJECT_DOMAIN_ID',
    'OS_PROJECT_DOMAIN_NAME',
    'OS_REGION_NAME',
    'OS_IDENTITY_API_VERSION',
    'OS_TOKEN',
    'OS_AUTH_TYPE',
    'OS_PROJECT_ID',
    'OS_TENANT_ID',
    'OS_TENANT_NAME',
    'OS_USER_ID',
    'OS_DOMAIN_ID',
    'OS_DOMAIN_NAME',
    'OS_DEFAULT_DOMAIN_ID',
    'OS_DEFAULT_DOMAIN_NAME',
    'OS_SYSTEM_SCOPE',
    'OS_TRUST_ID',
)


# A cloud of a clouds.yaml.
Cloud: typing.TypeAlias = dict[str, typing.Any]


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


def selection(path: str, name: str) -> dict[str, str]:
    """Return the variables that name the cloud `name` of a clouds.yaml. Raise Invalid.

    With these alone, the option --os-cloud of a client chooses another user of the file. If the
    environment has a proxy, no_proxy is one of the variables.
    """
    return _selection(path, name, _chosen(path, name))


def variables(path: str, name: str) -> dict[str, str]:
    """Return `selection` with the URL, the user and the password, for any client. Raise Invalid.

    Clients prefer these to the cloud of the option --os-cloud.
    """
    chosen = _chosen(path, name)
    return {
        **_selection(path, name, chosen),
        **{f'OS_{key.upper()}': value for key, value in chosen['auth'].items()},
        'OS_REGION_NAME': chosen['region_name'],
        'OS_IDENTITY_API_VERSION': str(chosen['identity_api_version']),
    }


def _chosen(path: str, name: str) -> Cloud:
    clouds = _clouds(path)
    if name not in clouds:
        known = ', '.join(clouds)
        text = f'{path} has no cloud {name}.{arguments.like(name, clouds)} Use one of: {known}'
        raise exception.Invalid(reason=text)
    return clouds[name]


def _selection(path: str, name: str, chosen: Cloud) -> dict[str, str]:
    host = urllib.parse.urlsplit(chosen['auth']['auth_url']).hostname or ''
    return {'OS_CLIENT_CONFIG_FILE': path, 'OS_CLOUD': name, **proxies.exempt([host])}


def _clouds(path: str) -> dict[str, Cloud]:
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
