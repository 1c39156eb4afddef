"""Measures of simulated nodes: the CPU time of a node, and the counters of volumes.

Both follow from the usage of the guests (`usage`), as diagnostics do.
"""

from collections.abc import Callable
from collections.abc import Iterable
import typing

from nova_lite import runtime
from nova_lite.virt import model
from nova_lite.virt.sim import facts
from nova_lite.virt.sim import guest_rows
from nova_lite.virt.sim import rules
from nova_lite.virt.sim import store
from nova_lite.virt.sim import usage

FREQUENCY_MHZ = 2400
NS = 10**9
# A function of a node and a guest.
UsageOf: typing.TypeAlias = Callable[[str, model.GuestSpec], usage.Usage]


def count_cpu_time(
    opened: store.Store, node: str, behaviour: rules.Behaviour, usage_of: UsageOf
) -> model.CpuStats:
    """Count the time that guests have used since the last call. Return that of the node.

    Guests that have left since then are not counted. All guests together use no more than the
    CPUs of the node.
    """
    cpus = behaviour.capacity['vcpus']
    with opened.write() as tx:
        now = opened.now()
        _powered, booted_at = store.node_power(tx, node)
        last = store.cpu_time(tx, node)
        if last is None or last['booted_at'] != booted_at:
            began = counted_to = now - max(0.0, runtime.timestamp() - booted_at)
            user_s = 0.0
        else:
            began, counted_to, user_s = last['began'], last['counted_to'], last['user_s']
            now = max(now, counted_to)
        found = sum(
            _used_s(guest, counted_to, now, usage_of(node, guest.spec))
            for guest in guest_rows.of_node(tx, node)
        )
        user_s += min(found, cpus * (now - counted_to))
        store.put_cpu_time(
            tx, node, booted_at=booted_at, began=began, counted_to=now, user_s=user_s
        )
    return model.CpuStats(
        user_ns=int(user_s * NS),
        kernel_ns=0,
        idle_ns=int((cpus * (now - began) - user_s) * NS),
        iowait_ns=0,
        frequency_mhz=FREQUENCY_MHZ,
    )


def _used_s(guest: model.Guest, since: float, now: float, used: usage.Usage) -> float:
    """Return the seconds of CPU time that a guest has used from `since` on."""
    if guest.role is not model.Role.RESIDENT or guest.started_at is None:
        return 0.0
    started = min(guest.started_at, now)
    return guest.spec.vcpus * used.cpu.total(started, now, since=max(started, since))


def volumes(
    guests: Iterable[model.Guest], now: float, usage_of: UsageOf
) -> list[model.VolumeUsage]:
    """Return the counters of the volumes of the guests that run."""
    found = []
    for guest in guests:
        if guest.role is not model.Role.RESIDENT or guest.started_at is None:
            continue
        started, used = min(guest.started_at, now), usage_of(guest.node, guest.spec)
        for device in guest.spec.devices:
            if device.kind is model.DeviceKind.VOLUME:
                since = guest.since(device, now)
                counters = facts.disk(used, started, now, since=since)
                found.append(_volume(guest, device, counters, since=since, at=now))
    return found


def _volume(
    guest: model.Guest, device: model.Device, counters: model.Json, *, since: float, at: float
) -> model.VolumeUsage:
    return model.VolumeUsage(
        guest=guest.uuid,
        volume_id=device.id,
        since=since,
        at=at,
        reads=counters['read_requests'],
        read_bytes=counters['read_bytes'],
        writes=counters['write_requests'],
        write_bytes=counters['write_bytes'],
    )
