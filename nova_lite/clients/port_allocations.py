"""Allocations of the ports of a server in placement, when a port is attached or detached.

The amounts follow from the server's ports, not from its allocations. So a repetition changes
nothing, whatever the former attempt has done. The server must not move at the same time.
"""

from collections.abc import Callable
import functools
import logging

from nova_lite import exception
from nova_lite.clients import client_set
from nova_lite.clients import holdings
from nova_lite.clients import offers
from nova_lite.clients import placement as placement_client
from nova_lite.clients import request_groups
from nova_lite.clients import resource_requests
from nova_lite.clients import session
from nova_lite.clients import subject

LOG = logging.getLogger(__name__)

TRIES = 4


def claim(
    placement: placement_client.Placement,
    ctxt: session.Ctxt,
    server: subject.Server,
    node: str,
    port: session.Fields,
) -> resource_requests.Allocation | None:
    """Allocate the resources of a port on a node (its uuid). Return the port's `allocation`.

    Raises PortResourcesNotAvailable.
    """
    lacking = exception.PortResourcesNotAvailable(port_id=port['id'], instance_id=server.uuid)
    try:
        offered = placement.candidates(ctxt, _query(port, node))
    except exception.Invalid as error:
        # No host of the cloud has a trait that the port requires, so placement does not know it.
        raise lacking from error
    for request in offered['allocation_requests']:
        if _change(placement, ctxt, server, functools.partial(_plus, request=request)):
            return resource_requests.allocation(port, request.get('mappings', {}))
    raise lacking


def _query(port: session.Fields, node: str) -> offers.Pairs:
    groups = resource_requests.groups(port)
    for group in groups:
        group.in_tree = node
    pairs = [pair for group in groups for pair in request_groups.pairs(group.suffix, group)]
    if len(groups) > 1:
        pairs.append(('group_policy', 'none'))
        pairs.append(('same_subtree', ','.join(sorted(group.suffix for group in groups))))
    return tuple(sorted(pairs))


def _plus(held: holdings.Holding, request: offers.AllocationRequest) -> holdings.Allocations:
    wanted = held.plus(request['allocations'])
    return {provider: part['resources'] for provider, part in wanted.items()}


def release(
    services: client_set.Clients,
    ctxt: session.Ctxt,
    server: subject.Server,
    node: str,
    *,
    but: str | None = None,
    unless: Callable[[], bool] = lambda: False,
) -> None:
    """Release allocations below a node (its uuid) that no port of a server needs.

    but: the id of a port that does not count
    unless: function that is called after the allocations were read; nothing is released if it
        returns true. Later claims are not released either
    Nothing is released while a port is bound to another host than the server's, because its
    binding does not show its needs on the node. Raises AllocationConflict.
    """
    owner = _consumer(server)
    for attempt in range(1, TRIES + 1):
        held = services.placement.holding(ctxt, server.uuid)
        if not are_of_ports(held.allocations) or unless():
            return
        kept = _needed(services, ctxt, server, but=but)
        if kept is None:
            return
        tree = {each.uuid for each in services.placement.providers.list(ctxt, in_tree=node)}
        wanted = _reduced(held, kept, tree)
        if wanted == held.allocations:
            return
        request = holdings.as_request(wanted)
        try:
            services.placement.replace(ctxt, owner, request, held.generation)
        except exception.AllocationConflict:
            if attempt == TRIES:
                raise
        else:
            return


def _needed(
    services: client_set.Clients, ctxt: session.Ctxt, server: subject.Server, *, but: str | None
) -> holdings.Allocations | None:
    """Return the amounts that a server's ports need; None if one is bound to another host."""
    needed: holdings.Allocations = {}
    for port in services.network.ports(ctxt, server.uuid):
        amounts = resource_requests.amounts(port) if port['id'] != but else {}
        if amounts and port['binding:host_id'] != server.host:
            LOG.warning(
                'Port %s is bound to host %s, but server %s is on host %s. The server keeps what '
                'it holds for its ports until it is moved or deleted.',
                port['id'],
                port['binding:host_id'],
                server.uuid,
                server.host,
            )
            return None
        holdings.add(needed, amounts)
    return needed


def are_of_ports(allocations: holdings.Allocations) -> bool:
    """Return whether any allocation has a resource class that only ports request."""
    return any(map(_of_ports, allocations.values()))


def _of_ports(resources: dict[str, int]) -> dict[str, int]:
    found = filter(resource_requests.is_of_ports, resources)
    return {name: resources[name] for name in found}


def _reduced(
    held: holdings.Holding, needed: holdings.Allocations, tree: set[str]
) -> holdings.Allocations:
    """Return the allocations, reduced in a tree to the amounts that ports need."""
    reduced = dict(held.allocations)
    for provider in tree & reduced.keys():
        for name, amount in _of_ports(reduced[provider]).items():
            least = min(amount, needed.get(provider, {}).get(name, 0))
            reduced[provider] = {**reduced[provider], name: least}
        left = {name: amount for name, amount in reduced[provider].items() if amount}
        reduced[provider] = left
    return {provider: resources for provider, resources in reduced.items() if resources}


def _change(
    placement: placement_client.Placement,
    ctxt: session.Ctxt,
    server: subject.Server,
    change: Callable[[holdings.Holding], holdings.Allocations],
) -> bool:
    """Replace a server's allocations by the result of `change`. Return False if not available.

    Raises AllocationConflict if other processes keep changing the server's allocations.
    """
    owner = _consumer(server)
    for attempt in range(1, TRIES + 1):
        held = placement.holding(ctxt, server.uuid)
        wanted = change(held)
        if wanted == held.allocations:
            return True
        try:
            request = holdings.as_request(wanted)
            return placement.replace(ctxt, owner, request, held.generation)
        except exception.AllocationConflict:
            if attempt == TRIES:
                raise
    raise exception.AllocationConflict(consumer=server.uuid)


def _consumer(server: subject.Server) -> holdings.Consumer:
    return holdings.Consumer(server.uuid, server.project_id, server.user_id)
