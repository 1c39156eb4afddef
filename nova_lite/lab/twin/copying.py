"""Prediction of the time of a move, from the server's memory and the profile of its host."""

from collections.abc import Iterable
import dataclasses
import math

from nova_lite import states
from nova_lite.lab.maintenance import plan as plans
from nova_lite.lab.twin import departures
from nova_lite.scheduler import hosts as hosts_
from nova_lite.virt import model as virt
from nova_lite.virt.sim import cold
from nova_lite.virt.sim import precopy
from nova_lite.virt.sim import rules

Verb = virt.Verb
# What a move takes besides the work of its hosts: requests, and the looks at it.
OVERHEAD_S = 2.0


@dataclasses.dataclass(frozen=True)
class Rates:
    """Rates in MB/s that replace those of the profile; None: that of the profile."""

    bandwidth: float | None = None
    dirty: float | None = None


# The operations of hosts in a move, of which the source (0) or the destination (1) does each.
VERBS = {
    plans.How.LIVE: (
        *((Verb.CHECK_LIVE_MIGRATION, 1), (Verb.CHECK_LIVE_MIGRATION, 0)),
        *((Verb.PRE_LIVE_MIGRATION, 1), (Verb.LIVE_MIGRATE, 0), (Verb.POST_LIVE_MIGRATION, 1)),
    ),
    plans.How.COLD: (
        *((Verb.MIGRATE_OUT, 0), (Verb.FINISH_MIGRATION, 1), (Verb.CONFIRM_MIGRATION, 0)),
    ),
}


def seconds(
    profile: rules.Profile,
    server: departures.Server,
    how: plans.How,
    *,
    to: str,
    rates: Rates,
) -> float:
    """Return the seconds of a move off the host of a server; inf if its copy does not end.

    how: LIVE or COLD; to: name of the host to which it goes
    """
    hosts = server.host, to
    delays = sum(profile.behaviour(hosts[end]).delays[verb].mean for verb, end in VERBS[how])
    host = hosts[how is plans.How.COLD]
    return OVERHEAD_S + delays + _copy_s(profile, server, how, host=host, rates=rates)


def _copy_s(
    profile: rules.Profile,
    server: departures.Server,
    how: plans.How,
    *,
    host: str,
    rates: Rates,
) -> float:
    """Return the seconds of the copy alone. host: that whose parameters count"""
    flavor = server.spec.flavor
    spec = virt.GuestSpec(
        uuid=server.uuid,
        name=server.name,
        flavor=flavor.name,
        vcpus=flavor.vcpus,
        memory_mb=flavor.memory_mb,
        disk_gb=hosts_.Size.of(flavor, volume_backed=server.spec.is_bfv).disk_gb,
        title=server.name,
        metadata=server.row.metadata,
    )
    found = dict(profile.live_migration(host, spec))
    if rates.bandwidth is not None:
        found['bandwidth_mb_s'] = rates.bandwidth
    if how is not plans.How.LIVE:
        return cold.disk_copy_s(spec.disk_gb, found)
    paused = server.row.power_state == states.PowerState.PAUSED
    dirty = found['dirty_rate_mb_s'] if rates.dirty is None else rates.dirty
    parameters = precopy.Parameters(
        memory_mb=flavor.memory_mb,
        disk_mb=spec.disk_gb * 1024 * found['disk_fill'],
        bandwidth_mb_s=found['bandwidth_mb_s'],
        # As in the driver: a paused guest writes nothing.
        dirty_rate_mb_s=0 if paused else dirty,
        max_downtime_ms=found['max_downtime_ms'],
        auto_converge=found['auto_converge'],
        converges=None if paused else found['converges'],
    )
    return precopy.timeline(parameters).completed


def together(each: Iterable[tuple[str | None, float]], parallel: int, per_host: int) -> float:
    """Return the seconds of moves that begin in their order.

    each: (host that sends the copy of a running server, or None, seconds)
    parallel: moves in progress at the same time
    per_host: copies that a host sends at the same time, as max_concurrent_live_migrations
        says; 0 for any number. The others wait.
    """
    lanes = [0.0] * max(1, parallel)
    sending: dict[str, list[float]] = {}
    for host, duration in each:
        if math.isinf(duration):
            return duration
        lane = lanes.index(min(lanes))
        if host is None:
            lanes[lane] += duration
            continue
        slots = sending.setdefault(host, [0.0] * (per_host or len(lanes)))
        slot = slots.index(min(slots))
        lanes[lane] = slots[slot] = max(lanes[lane], slots[slot]) + duration
    return max(lanes)
