"""Find the conditions of a query that a provider does not meet, after the decision.

Placement returns the providers that fit, and no reasons for the others. This module compares the
current provider of a node with the conditions. It does not look at the devices below the node.
"""

import collections.abc
import typing

from nova_lite import context
from nova_lite import exception
from nova_lite.clients import providers as client
from nova_lite.clients import providers as providers_client
from nova_lite.objects import request_spec
from nova_lite.scheduler import query

Reasons: typing.TypeAlias = collections.abc.Iterator[str]


def explain(
    ctxt: context.RequestContext,
    providers: providers_client.Providers,
    uuid: str,
    wanted: query.ResourceRequest,
    names: dict[str, str] | None = None,
) -> list[str]:
    """Return sentences about the conditions of a ResourceRequest that a provider does not meet.

    providers: clients.providers.Providers; names: {aggregate uuid: name}
    """
    try:
        inventories, _generation = providers.inventories(ctxt, uuid)
        usages = providers.usages(ctxt, uuid)
        traits, _generation = providers.traits(ctxt, uuid)
        member_of, _generation = providers.aggregates(ctxt, uuid)
    except exception.ResourceProviderNotFound:
        return ['placement has no resource provider for the host']
    found: list[str] = []
    for suffix, group in wanted.groups.items():
        reasons = (
            *_amounts(group, inventories, usages),
            *_traits(group, wanted, traits),
            *_aggregates(group, member_of, names or {}),
            *_tree(group, uuid),
        )
        found.extend(f'{reason} (group {suffix})' if suffix else reason for reason in reasons)
    return found


def without_reason(wanted: query.ResourceRequest, offered: int) -> str:
    """Return a sentence about a provider that meets each condition and was not offered.

    offered: number of the providers that were offered
    """
    if len(wanted.groups) > 1:
        return 'unknown: it satisfies each request group, but perhaps not all of them together'
    if wanted.limit is not None and offered >= wanted.limit:
        return f'unknown: the query was limited to {wanted.limit} candidates'
    return 'placement did not return the host, but would do so now'


def _amounts(
    group: request_spec.RequestGroup,
    inventories: client.Inventories,
    usages: dict[str, int],
) -> Reasons:
    for resource, amount in sorted(group.resources.items()):
        inventory = inventories.get(resource)
        if not amount:
            continue
        if inventory is None:
            yield f'has no {resource}'
            continue
        capacity = (inventory['total'] - inventory['reserved']) * inventory['allocation_ratio']
        left = int(capacity) - usages.get(resource, 0)
        if amount > left:
            yield f'has {left} {resource} left, {amount} requested'
        elif not inventory['min_unit'] <= amount <= inventory['max_unit']:
            yield (
                f'allows from {inventory["min_unit"]} to {inventory["max_unit"]} {resource} to '
                f'one server, {amount} requested'
            )
        elif amount % inventory['step_size']:
            yield f'allows {resource} in steps of {inventory["step_size"]}'


def _traits(
    group: request_spec.RequestGroup, wanted: query.ResourceRequest, traits: set[str]
) -> Reasons:
    required, forbidden = set(group.required_traits), set(group.forbidden_traits)
    if not group.suffix:
        required.update(wanted.root_required)
        forbidden.update(wanted.root_forbidden)
    for name in sorted(required - traits):
        yield f'does not have the trait {name}'
    for name in sorted(forbidden & traits):
        yield f'has the forbidden trait {name}'


def _aggregates(
    group: request_spec.RequestGroup, member_of: set[str], names: dict[str, str]
) -> Reasons:
    for uuids in group.member_of:
        if not member_of & set(uuids.split(',')):
            yield f'is not in {" or ".join(names.get(one, one) for one in uuids.split(","))}'
    for uuid in sorted(member_of & set(group.forbidden_aggregates)):
        yield f'is in {names.get(uuid, uuid)}, which is forbidden for the server'


def _tree(group: request_spec.RequestGroup, uuid: str) -> Reasons:
    if group.in_tree and group.in_tree != uuid:
        yield 'another host was requested'
