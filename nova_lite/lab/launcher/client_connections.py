"""Connections to the clouds of a clouds.yaml, without settings of the environment."""

from keystoneauth1 import session
from openstack import connection
from openstack.config import loader
import requests

# The administrator's.
ADMIN = 'nova-lite'
# The user's.
DEMO = 'nova-lite-demo'


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
