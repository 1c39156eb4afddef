"""The services of a cloud that clouds.yaml names, for `nova-lite verify --nova --os-cloud`."""

from collections.abc import Callable
import functools

from keystoneauth1 import adapter
from keystoneauth1 import exceptions as auth_exceptions
from openstack import exceptions as sdk_exceptions

from nova_lite import exception
from nova_lite.lab.launcher import client_connections


class BadCloud(exception.Invalid):
    msg = '--os-cloud %(name)s cannot be used: %(reason)s. Name a cloud of clouds.yaml'


def adapters(name: str) -> Callable[[str], adapter.Adapter]:
    """Return a function that returns the adapter of a type of service. Raise BadCloud."""
    try:
        config = client_connections.connect_any(name).config
        config.get_session()  # raises the errors of the settings
    except (auth_exceptions.ClientException, sdk_exceptions.SDKException) as error:
        raise BadCloud(name=name, reason=str(error).rstrip('.')) from error
    return functools.partial(client_connections.adapter_of, config)
