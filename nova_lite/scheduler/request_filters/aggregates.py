"""Request filters that keep a request to aggregates, or out of them.

Source: reference/nova/scheduling 2 and 2.1.
"""

import collections.abc

from nova_lite import exception
from nova_lite.objects import request_spec
from nova_lite.scheduler import hosts
from nova_lite.scheduler import query
from nova_lite.scheduler.request_filters import base

PROJECT_KEY = 'filter_tenant_id'
TRAIT_KEY = 'trait:'
REQUIRED = 'required'


def require_tenant_aggregate(
    spec: request_spec.RequestSpec, deployment: base.Deployment
) -> str | None:
    """Require the aggregates that name the project, if any do."""
    if not deployment.options.limit_tenants_to_placement_aggregate:
        return None
    found = [
        aggregate
        for aggregate in deployment.aggregates.all
        if any(
            key.startswith(PROJECT_KEY) and value == spec.project_id
            for key, value in aggregate.metadata.items()
        )
    ]
    if found:
        return f'project {spec.project_id} is limited to {_require(spec, found)}'
    if deployment.options.placement_aggregate_required_for_tenants:
        raise exception.RequestFilterFailed(reason='No hosts available for tenant')
    return None


def map_az_to_placement_aggregate(
    spec: request_spec.RequestSpec, deployment: base.Deployment
) -> str | None:
    """Require an aggregate of the availability zone, if there is any."""
    zone = spec.availability_zone
    if not zone:
        return None
    found = deployment.aggregates.with_metadata(hosts.ZONE_KEY, zone)
    if not found:
        return None
    return f'zone {zone} is {_require(spec, found)}'


def isolate_aggregates(spec: request_spec.RequestSpec, deployment: base.Deployment) -> str | None:
    """Forbid aggregates that require a trait which the request does not have."""
    if not deployment.options.enable_isolated_aggregate_filtering:
        return None
    asked = query.build(spec).required_traits
    found = isolated(deployment.aggregates.all, asked)
    if not found:
        return None
    spec.destination().forbid_aggregates(aggregate.uuid for aggregate in found)
    return f'forbids {_names(found)}'


def isolated(
    aggregates: collections.abc.Iterable[hosts.Aggregate], asked: collections.abc.Iterable[str]
) -> list[hosts.Aggregate]:
    """Return the aggregates that are forbidden for a request with the traits `asked`.

    An aggregate requires a trait by the metadata `trait:NAME` = `required`.
    """
    return [
        aggregate
        for aggregate in aggregates
        if not required_traits(aggregate.metadata) <= set(asked)
    ]


def required_traits(metadata: dict[str, str]) -> set[str]:
    """Return the traits that an aggregate's metadata require of requests."""
    return {
        key.removeprefix(TRAIT_KEY)
        for key, value in metadata.items()
        if key.startswith(TRAIT_KEY) and value == REQUIRED
    }


def routed_networks_filter(
    spec: request_spec.RequestSpec, deployment: base.Deployment
) -> str | None:
    """Require hosts that reach a segment of each requested network."""
    if not deployment.options.query_placement_for_routed_network_aggregates:
        return None
    done = []
    for asked in spec.requested_networks:
        uuids = deployment.segment_aggregates(asked.get('network_id'), asked.get('port_id'))
        if uuids is None:
            continue
        what = asked.get('port_id') or asked.get('network_id')
        if not uuids:
            raise exception.RequestFilterFailed(
                reason=f'No aggregates found for the segments of {what}'
            )
        spec.destination().require_aggregates(sorted(uuids))
        done.append(f'{what} is in {", ".join(sorted(uuids))}')
    return '; '.join(done) or None


def _require(spec: request_spec.RequestSpec, found: list[hosts.Aggregate]) -> str:
    spec.destination().require_aggregates([aggregate.uuid for aggregate in found])
    return _names(found)


def _names(found: list[hosts.Aggregate]) -> str:
    return ', '.join(f'{aggregate.name} ({aggregate.uuid})' for aggregate in found)
