"""The services of a cloud that clouds.yaml names, for `nova-lite verify --nova --os-cloud`."""

from collections.abc import Callable

from keystoneauth1 import adapter
from keystoneauth1 import exceptions as auth_exceptions
import openstack
from openstack import exceptions as sdk_exceptions

from nova_lite import exception


class BadCloud(exception.Invalid):
    msg = '--os-cloud %(name)s cannot be used: %(reason)s. Name a cloud of clouds.yaml'


def adapters(name: str) -> Callable[[str], adapter.Adapter]:
    """Return a function that returns the adapter of a type of service. Raise BadCloud."""
    try:
        config = openstack.connect(cloud=name).config
        session = config.get_session()
    except (auth_exceptions.ClientException, sdk_exceptions.SDKException) as error:
        raise BadCloud(name=name, reason=str(error).rstrip('.')) from error

    def of(kind: str) -> adapter.Adapter:
        return adapter.Adapter(
            session,
            service_type=kind,
            interface=config.get_interface(kind),
            region_name=config.get_region_name(kind),
            endpoint_override=config.get_endpoint(kind),
        )

    return of
