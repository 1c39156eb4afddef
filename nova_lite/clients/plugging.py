"""Ports that a host still has to plug, for which builds and moves wait.

The status of a port in the network service is authoritative, and survives restarts of both
services. An event reports a change earlier.
"""

from collections.abc import Iterable
from collections.abc import Mapping

from nova_lite import exception
from nova_lite.clients import network as networks
from nova_lite.clients import session

ACTIVE, ERROR = 'ACTIVE', 'ERROR'
# The name of the event, and its statuses.
EVENT = 'network-vif-plugged'
COMPLETED, FAILED = 'completed', 'failed'


def down(network_info: Iterable[session.Json]) -> list[str]:
    """Return the ids of the ports that no host has plugged yet."""
    return [vif['id'] for vif in network_info if not vif.get('active', True)]


def with_events(network_info: session.Jsons, events: Mapping[str, str]) -> session.Jsons:
    """Return network_info after events. events: {port id: status of the event}

    Raises VirtualInterfaceCreateException if a port could not be plugged.
    """
    failed = [port_id for port_id in down(network_info) if events.get(port_id) == FAILED]
    _require_none(failed)
    return [
        {**vif, 'active': True} if events.get(vif['id']) == COMPLETED else vif
        for vif in network_info
    ]


def reread(
    network: networks.Network, ctxt: session.Ctxt, server_uuid: str, network_info: session.Jsons
) -> session.Jsons:
    """Return network_info with the current status of the ports.

    A deleted port counts as plugged. Raises VirtualInterfaceCreateException if a port could not
    be plugged.
    """
    ports = {port['id']: port for port in network.ports(ctxt, server_uuid)}
    enabled = {each for each, port in ports.items() if port.get('admin_state_up', True)}
    failed = [each for each in down(network_info) if ports.get(each, {}).get('status') == ERROR]
    _require_none(failed)
    waits = {each for each in enabled if ports[each].get('status') != ACTIVE}
    return [vif if vif['id'] in waits else {**vif, 'active': True} for vif in network_info]


def _require_none(failed: list[str]) -> None:
    if failed:
        raise exception.VirtualInterfaceCreateException(
            reason=f'the network service could not plug port {", ".join(failed)}'
        )


def timed_out(network_info: session.Jsons, seconds: float) -> exception.NovaLiteError:
    """Return the error for ports that were not plugged in time."""
    ports = ', '.join(down(network_info))
    return exception.VirtualInterfaceCreateException(
        reason=f'port {ports} was not plugged within {seconds:.0f} s'
    )
