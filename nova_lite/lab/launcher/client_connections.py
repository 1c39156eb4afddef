"""Connections to the clouds of a clouds.yaml.

openstacksdk is imported by the first connection: the start of a cloud makes none.
"""

import typing

from keystoneauth1 import adapter
import requests

from nova_lite.clients import connections

if typing.TYPE_CHECKING:
    from openstack import connection
    from openstack.config import cloud_region

# The clouds of the administrator and of the user in clouds.yaml.
ADMIN = 'nova-lite'
DEMO = 'nova-lite-demo'


def connect(path: str, name: str = ADMIN, **options: typing.Any) -> 'connection.Connection':
    """Return a connection to the cloud `name` of the clouds.yaml at `path`.

    The settings of the environment are ignored.
    options: settings that replace those of the file
    """
    from openstack import connection
    from openstack.config import loader

    config = loader.OpenStackConfig(
        config_files=[path], load_envvars=False, session_constructor=_Session
    )
    return connection.Connection(config=config.get_one(name, **options))


def connect_any(name: str | None) -> 'connection.Connection':
    """Return a connection to a cloud that the environment describes, None for that of OS_*.

    Raise ClientException of keystoneauth1, SDKException.
    """
    from openstack import connection
    from openstack.config import loader

    config = loader.OpenStackConfig(session_constructor=connections.Session)
    return connection.Connection(config=config.get_one(name))


def adapter_of(config: 'cloud_region.CloudRegion', kind: str) -> adapter.Adapter:
    """Return an adapter of a type of service. Adapters of the SDK have versions in their paths.

    Raise ClientException of keystoneauth1, SDKException.
    """
    return adapter.Adapter(
        config.get_session(),
        service_type=kind,
        interface=config.get_interface(kind),
        region_name=config.get_region_name(kind),
        endpoint_override=config.get_endpoint(kind),
    )


class _Session(connections.Session):
    """A session that ignores the proxy and the passwords of the environment."""

    def __init__(self, **options: typing.Any) -> None:
        plain = requests.Session()
        plain.trust_env = False
        super().__init__(session=plain, **options)
