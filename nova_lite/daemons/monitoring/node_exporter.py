"""Metrics of a simulated host itself, with the names of Prometheus's node_exporter.

The host is as busy as its guests make it: its own system uses no CPU time and no memory.
"""

from collections.abc import Iterable
from collections.abc import Mapping

import os_resource_classes as orc
from prometheus_client import core

from nova_lite import runtime
from nova_lite.daemons.monitoring import guests
from nova_lite.virt import driver as drivers

MIB = 2**20
CPU = 'node_cpu_seconds'
# {name, without `_total` for a counter: (help, labels)}
COUNTERS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    CPU: (
        'Time of a CPU of the host, by its mode: idle or user, which is of guests.',
        ('cpu', 'mode'),
    ),
}
GAUGES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    'node_memory_MemTotal_bytes': ('Memory of the host.', ()),
    'node_memory_MemAvailable_bytes': ('Memory of the host that its guests do not use.', ()),
    'node_boot_time_seconds': ('When the host was booted, in seconds since 1970 by its clock.', ()),
}


class CpuTimes:
    """The CPU time of a host since the first scrape, or since the host has booted again.

    Counters of guests move with the guests or end with them, and those of a host only increase.
    So each scrape adds what the guests used since the former one. A guest that has arrived since
    then counts from this scrape on.
    """

    def __init__(self) -> None:
        self._lock = runtime.Lock()
        self._boot: float | None = None
        self._at = self._busy = self._idle = 0.0
        self._used: dict[str, float] = {}

    def add(
        self, used: Mapping[str, float], *, now: float, boot: float, cpus: int
    ) -> tuple[float, float]:
        """Return (busy, idle) seconds of all CPUs together, after adding the time since last.

        used: {guest: its CPU time in seconds}; now, boot: seconds by a clock of the host
        Guests that would use more than all CPUs share them.
        """
        with self._lock:
            if boot != self._boot:
                self._boot, self._at, self._busy, self._idle = boot, now, 0.0, 0.0
                self._used = {}
            capacity = max(0.0, now - self._at) * cpus
            spent = sum(self._since(guest, seconds) for guest, seconds in used.items())
            busy = min(spent, capacity)
            self._busy += busy
            self._idle += capacity - busy
            self._at, self._used = max(now, self._at), dict(used)
            return self._busy, self._idle

    def _since(self, guest: str, seconds: float) -> float:
        """Return what a guest used since the former scrape; it may have booted again."""
        former = self._used.get(guest, seconds)
        return seconds - former if seconds >= former else seconds


class Host:
    """A collector of prometheus_client: a node of a driver."""

    __slots__ = ('_driver', '_node', '_times')

    def __init__(self, driver: drivers.Driver, node: str) -> None:
        self._driver, self._node, self._times = driver, node, CpuTimes()

    def collect(self) -> Iterable[core.Metric]:
        """Return the metrics. All CPUs of the host are equally busy."""
        inventory = self._driver.get_inventory(self._node)
        boot = self._driver.get_facts(self._node).booted_at
        used, used_mib = {}, 0
        for guest, found in guests.resident(self._driver, self._node):
            used[guest.uuid] = guests.cpu_seconds(found)
            used_mib += found['memory_details']['used']
        cpus = inventory[orc.VCPU].total
        busy, idle = self._times.add(used, now=runtime.boottime(), boot=boot, cpus=cpus)
        text, labels = COUNTERS[CPU]
        family = core.CounterMetricFamily(CPU, text, labels=labels)
        for cpu in range(cpus):
            family.add_metric((str(cpu), 'idle'), idle / cpus)
            family.add_metric((str(cpu), 'user'), busy / cpus)
        yield family
        total_mib = inventory[orc.MEMORY_MB].total
        values = (total_mib * MIB, max(0, total_mib - used_mib) * MIB, boot)
        for (name, (about, _labels)), value in zip(GAUGES.items(), values, strict=True):
            yield core.GaugeMetricFamily(name, about, value=value)
