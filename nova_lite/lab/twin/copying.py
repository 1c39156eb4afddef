"""Prediction of the time of a move, from the server's memory and the profile of its host."""

from collections.abc import Iterable
import dataclasses
import math

from nova_lite.lab.maintenance import plan as plans
from nova_lite.lab.twin import model as models
from nova_lite.virt import model as virt
from nova_lite.virt.sim import precopy
from nova_lite.virt.sim import rules

# What a move takes besides its copy: requests, the checks of both hosts, and the looks at it.
OVERHEAD_S = 2.0


@dataclasses.dataclass(frozen=True)
class Rates:
    """Rates in MB/s that replace those of the profile; None: that of the profile."""

    bandwidth: float | None = None
    dirty: float | None = None


def seconds(profile: rules.Profile, server: models.Server, rates: Rates) -> float:
    """Return the seconds of a move off the host of a server; inf if its copy does not end.

    The disk of a server that is cold migrated is copied.
    """
    flavor = server.spec.flavor
    spec = virt.GuestSpec(
        uuid=server.uuid,
        name=server.name,
        flavor=flavor.name,
        vcpus=flavor.vcpus,
        memory_mb=flavor.memory_mb,
        disk_gb=flavor.root_gb,
        title=server.name,
    )
    found = profile.live_migration(server.host, spec)
    bandwidth = rates.bandwidth or found['bandwidth_mb_s']
    disk_mb = 0.0 if server.spec.is_bfv else flavor.root_gb * 1024 * found['disk_fill']
    if server.how is not plans.How.LIVE:
        return float(OVERHEAD_S + disk_mb / bandwidth)
    parameters = precopy.Parameters(
        memory_mb=flavor.memory_mb,
        disk_mb=disk_mb,
        bandwidth_mb_s=bandwidth,
        dirty_rate_mb_s=found['dirty_rate_mb_s'] if rates.dirty is None else rates.dirty,
        max_downtime_ms=found['max_downtime_ms'],
        auto_converge=found['auto_converge'],
        converges=found['converges'],
    )
    return OVERHEAD_S + precopy.timeline(parameters).completed


def together(each: Iterable[tuple[str, float]], parallel: int, per_host: int) -> float:
    """Return the seconds of moves that begin in their order.

    each: (host that the server leaves, seconds); parallel: moves in progress at the same time
    per_host: copies that a host sends at the same time, as max_concurrent_live_migrations
        says; 0 for any number. The others wait.
    """
    lanes = [0.0] * max(1, parallel)
    sending: dict[str, list[float]] = {}
    for host, duration in each:
        if math.isinf(duration):
            return duration
        slots = sending.setdefault(host, [0.0] * (per_host or len(lanes)))
        lane, slot = lanes.index(min(lanes)), slots.index(min(slots))
        lanes[lane] = slots[slot] = max(lanes[lane], slots[slot]) + duration
    return max(lanes)
