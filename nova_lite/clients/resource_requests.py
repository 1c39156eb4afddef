"""Resource requests of ports, and the providers chosen for them.

The network service shows a request as `resource_request` of the port: groups of resources, each of
which needs one provider. It gets the chosen providers as `allocation` in the profile of the port's
binding, {id of a group: provider uuid}. In the former format there is one group without an id, and
`allocation` is the provider's uuid; the group then has the port's id.
Source: reference/nova/scheduling 3.1.
"""

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import json
import typing

from nova_lite.clients import holdings
from nova_lite.clients import session
from nova_lite.objects import port_devices
from nova_lite.objects import request_spec
from nova_lite.objects import selection as selections

REQUEST, ALLOCATION, PROFILE = 'resource_request', 'allocation', port_devices.PROFILE
# Prefixes of the resource classes that network agents have.
CLASSES = ('NET_BW_', 'NET_PACKET_RATE_')
# The providers of the groups of one request for candidates: {suffix: [provider uuid]}.
Mappings: typing.TypeAlias = Mapping[str, Sequence[str]]
# {group id: provider uuid}, or the uuid in the former format.
Allocation: typing.TypeAlias = dict[str, str] | str


def groups(port: session.Fields) -> list[request_spec.RequestGroup]:
    """Return the groups of resources that a port requests."""
    return [
        request_spec.RequestGroup(
            suffix=group.get('id') or port['id'],
            resources=group['resources'],
            required_traits=group['required'],
        )
        for group in _plain_groups(port)
    ]


def _plain_groups(port: session.Fields) -> session.Jsons:
    asked = port.get(REQUEST) or {}
    if 'resources' in asked:
        return [asked]
    found: session.Jsons = asked.get('request_groups', [])
    return found


def of_requested(networks: object) -> list[session.Json]:
    """Return the ports with resource requests among requested networks, each with its id."""
    if not isinstance(networks, list):
        return []
    return [
        {'id': each['port_id'], REQUEST: each[REQUEST]} for each in networks if each.get(REQUEST)
    ]


def requested(ports: Iterable[session.Fields]) -> list[session.Json]:
    """Return the ports of a server as the requested networks that `of_requested` takes."""
    return [{'port_id': port['id'], REQUEST: port.get(REQUEST)} for port in ports]


def put_in(spec: request_spec.RequestSpec, ports: Iterable[session.Fields]) -> None:
    """Add the resource requests of ports to a request spec."""
    ports = list(ports)
    spec.requested_resources = [group for port in ports for group in groups(port)]
    subtrees = [(port.get(REQUEST) or {}).get('same_subtree', ()) for port in ports]
    spec.same_subtree = [','.join(names) for names in subtrees if len(names) > 1]


def mappings(selection: selections.Selection) -> Mappings:
    """Return {suffix of a group: providers} of a selected host."""
    found: Mappings = json.loads(selection.allocation_request or '{}').get('mappings', {})
    return found


def allocation(port: session.Fields, given: Mappings) -> Allocation | None:
    """Return the value of `allocation` for a port; None if nothing is allocated for it."""
    asked = port.get(REQUEST) or {}
    if 'resources' in asked:
        return given[port['id']][0] if port['id'] in given else None
    ids = [group['id'] for group in _plain_groups(port)]
    return {group: given[group][0] for group in ids if group in given} or None


def allocated(networks: object, selection: selections.Selection) -> typing.Any:
    """Return requested networks with the `allocation` of their ports on the selected host."""
    ports = {port['id']: port for port in of_requested(networks)}
    if not ports or not isinstance(networks, list):
        return networks
    given = mappings(selection)
    return [
        {**each, ALLOCATION: allocation(ports[each['port_id']], given)}
        if each.get('port_id') in ports
        else each
        for each in networks
    ]


def profile(former: session.Json | None, found: Allocation | None) -> session.Json:
    """Return the profile of a binding for another host: with an allocation, or with none.

    Values of the port's owner stay. The device of the former host is left out.
    """
    kept = port_devices.without(former)
    kept.pop(ALLOCATION, None)
    return kept if found is None else {**kept, ALLOCATION: found}


def is_of_ports(resource_class: str) -> bool:
    """Return whether only ports ask for resources of a class."""
    return resource_class.startswith(CLASSES)


def recorded(network_info: Iterable[session.Json]) -> dict[str, Allocation]:
    """Return {port id: its allocation} of ports for which something is allocated."""
    found = {vif['id']: (vif.get('profile') or {}).get(ALLOCATION) for vif in network_info}
    return {port_id: each for port_id, each in found.items() if each}


def amounts(port: session.Fields) -> holdings.Allocations:
    """Return {provider uuid: {resource class: amount}} that is allocated for a bound port."""
    found = (port.get(PROFILE) or {}).get(ALLOCATION)
    held: holdings.Allocations = {}
    for group in groups(port):
        provider = found.get(group.suffix) if isinstance(found, dict) else found
        if provider:
            holdings.add(held, {provider: group.resources})
    return held
