"""The settings of clients from a cloud's clouds.yaml, and from nothing else."""

import urllib.parse

from keystoneauth1 import session
from openstack import connection
from openstack.config import loader
import requests
import yaml

from nova_lite import exception
from nova_lite.launcher import proxies

# The administrator's.
ADMIN = 'nova-lite'
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


def connect(path, name=ADMIN, **options):
    """Return a Connection to the cloud called `name` in the file at `path`."""
    config = loader.OpenStackConfig(
        config_files=[path], load_envvars=False, session_constructor=_session
    )
    return connection.Connection(config=config.get_one(name, **options))


def _session(**options):
    # The environment may have a proxy, and passwords for hosts.
    plain = requests.Session()
    plain.trust_env = False
    return session.Session(session=plain, **options)


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
        'OS_IDENTITY_API_VERSION': chosen['identity_api_version'],
        **proxies.exempt([urllib.parse.urlsplit(chosen['auth']['auth_url']).hostname]),
    }
