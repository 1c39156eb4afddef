"""Connections to the clouds of a clouds.yaml, without settings of the environment."""

import typing

from keystoneauth1 import session
from openstack import connection
from openstack.config import loader
import requests

# The clouds of the administrator and of the user in clouds.yaml.
ADMIN = 'nova-lite'
DEMO = 'nova-lite-demo'


def connect(path: str, name: str = ADMIN, **options: typing.Any) -> connection.Connection:
    """Return a connection to the cloud `name` of the clouds.yaml at `path`.

    options: settings that replace those of the file
    """
    config = loader.OpenStackConfig(
        config_files=[path], load_envvars=False, session_constructor=_Session
    )
    return connection.Connection(config=config.get_one(name, **options))


class _Session(session.Session):
    """A session that ignores the proxy and the passwords of the environment."""

    def __init__(self, **options: typing.Any) -> None:
        plain = requests.Session()
        plain.trust_env = False
        super().__init__(session=plain, **options)
