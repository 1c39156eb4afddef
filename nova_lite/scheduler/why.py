"""The answer to "Why not this host?", from stored decisions and the state of placement."""

import typing

from nova_lite import context
from nova_lite import exception
from nova_lite.scheduler import decide
from nova_lite.scheduler import decisions
from nova_lite.scheduler import explain
from nova_lite.scheduler import hosts

# Number of hosts for which placement is queried if the request names no host.
EXPLAINED = 20
# Maximum number of hosts in one answer.
SHOWN = 1000


def describe(
    world: decide.World,
    ctxt: context.RequestContext,
    record: decisions.Record,
    uuid: str,
    host: str | None = None,
) -> dict[str, typing.Any]:
    """Return the result of SchedulerAPI.why. Raise ComputeHostNotFound for an unknown `host`."""
    snapshot = world.states.get(world.states.version())
    states = sorted(snapshot.hosts.values(), key=lambda state: state.host)
    if host is not None:
        states = [state for state in states if state.host == host]
        if not states:
            raise exception.ComputeHostNotFound(
                f'Compute host {host} could not be found. Use a host that `openstack compute service '
                'list` shows.'
            )
    shown = [_fate(record, uuid, state) for state in states[:SHOWN]]
    unexplained = [
        (entry, state, record.wanted)
        for entry, state in zip(shown, states, strict=False)
        if entry['stage'] == decisions.PLACEMENT and record.wanted is not None
    ]
    names = {aggregate.uuid: aggregate.name for aggregate in snapshot.aggregates.all}
    for entry, state, wanted in unexplained[:EXPLAINED]:
        found = explain.explain(ctxt, world.placement.providers, state.uuid, wanted, names)
        entry['reason'] = '; '.join(found) or explain.without_reason(wanted, len(record.offered))
    return {
        'instance_uuid': uuid,
        'request_id': record.request_id,
        'at': record.at.isoformat(),
        'chosen': record.chosen.get(uuid),
        'alternates': record.alternates.get(uuid, []),
        'error': record.error,
        'request_filters': [list(note) for note in record.notes],
        'queries': ['&'.join(f'{key}={value}' for key, value in one) for one in record.queries],
        'hosts': shown,
        'more': max(0, len(states) - SHOWN),
    }


def _fate(record: decisions.Record, uuid: str, state: hosts.HostState) -> dict[str, typing.Any]:
    """Return the stage, the reason and the weights of one host."""
    stage, reason = _stage(record, uuid, state)
    weights = record.weights.get(uuid, {}).get(state.host)
    weight = None if weights is None else sum(weights.values())
    return {
        'host': state.host,
        'stage': stage,
        'reason': reason,
        'weight': weight,
        'weights': weights or {},
    }


def _stage(record: decisions.Record, uuid: str, state: hosts.HostState) -> tuple[str, str | None]:
    """Return the last stage that a host reached, and the reason of its refusal there."""
    if record.chosen.get(uuid) == state.host:
        return 'chosen', ''
    if state.host in record.alternates.get(uuid, ()):
        return 'alternate', ''
    if state.host in record.refusals.of_host:
        return record.refusals.of_host[state.host]
    if record.filtered:
        return decisions.REQUEST_FILTER, record.error
    if state.uuid not in record.offered:
        return decisions.PLACEMENT, 'not among the allocation candidates'
    return 'passed', _passed(record, uuid, state.host)


def _passed(record: decisions.Record, uuid: str, host: str) -> str:
    """Return why another host was chosen instead of one that all filters have passed."""
    weights = record.weights.get(uuid, {})
    chosen = record.chosen.get(uuid)
    if chosen is None or host not in weights or chosen not in weights:
        return 'others were better'
    if sum(weights[host].values()) == sum(weights[chosen].values()):
        return f'same weight as {chosen}, which came first'
    return 'others were better'
