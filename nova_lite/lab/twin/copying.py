"""Prediction of the time of a move, from the server's memory and the profile of its host."""

import dataclasses
import math

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

    A server that does not run is cold migrated, and its disk is copied.
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
    if not server.is_on:
        return OVERHEAD_S
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


def together(each: list[float], parallel: int) -> float:
    """Return the seconds of moves that begin in their order, so many at a time."""
    lanes = [0.0] * max(1, parallel)
    for duration in each:
        if math.isinf(duration):
            return duration
        first = lanes.index(min(lanes))
        lanes[first] += duration
    return max(lanes)
