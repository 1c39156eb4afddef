"""Metrics of a simulated host itself, with the names of Prometheus's node_exporter.

The host is as busy as its guests make it: its own system uses no CPU time and no memory.
"""

from collections.abc import Iterable
from collections.abc import Mapping

import os_resource_classes as orc
from prometheus_client import core

from nova_lite.daemons.monitoring import guests
from nova_lite.virt import driver as drivers

MIB, NS = 2**20, 10**9
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


class Host:
    """A collector of prometheus_client: a node of a driver."""

    __slots__ = ('_driver', '_node')

    def __init__(self, driver: drivers.Driver, node: str) -> None:
        self._driver, self._node = driver, node

    def collect(self) -> Iterable[core.Metric]:
        """Return the metrics. All CPUs of the host are equally busy."""
        inventory = self._driver.get_inventory(self._node)
        boot = self._driver.get_facts(self._node).booted_at
        used_mib = sum(
            found['memory_details']['used']
            for _guest, found in guests.resident(self._driver, self._node)
        )
        cpus, times = inventory[orc.VCPU].total, self._driver.get_host_cpu_stats(self._node)
        text, labels = COUNTERS[CPU]
        family = core.CounterMetricFamily(CPU, text, labels=labels)
        for cpu in range(cpus):
            family.add_metric((str(cpu), 'idle'), times.idle_ns / NS / cpus)
            family.add_metric((str(cpu), 'user'), times.user_ns / NS / cpus)
        yield family
        total_mib = inventory[orc.MEMORY_MB].total
        values = (total_mib * MIB, max(0, total_mib - used_mib) * MIB, boot)
        for (name, (about, _labels)), value in zip(GAUGES.items(), values, strict=True):
            yield core.GaugeMetricFamily(name, about, value=value)
