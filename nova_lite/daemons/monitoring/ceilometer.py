"""Metrics of the guests of a host, with the names of the Prometheus exporter of Ceilometer's agent.

Programs that judge guests by their load, such as Watcher, ask Prometheus for these names. Labels of
projects and users are left out, because hosts do not know them.
"""

from collections.abc import Iterable
from collections.abc import Mapping

from prometheus_client import core

from nova_lite import states
from nova_lite.daemons.monitoring import guests
from nova_lite.virt import driver as drivers

_COMMON = ('counter', 'type', 'unit', 'resource', 'resource_name', 'flavor_name')
# {name: (help, labels)}; `type` and `unit` of each are in UNITS
GAUGES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    'ceilometer_cpu': (
        'CPU time of all virtual CPUs, in nanoseconds. It only increases.',
        ('cpu', *_COMMON),
    ),
    'ceilometer_memory_usage': (
        'Memory that the guest uses, in MiB, which Ceilometer calls MB.',
        ('memory', *_COMMON),
    ),
}
UNITS = {
    'ceilometer_cpu': ('cpu', 'cpu', 'ns'),
    'ceilometer_memory_usage': ('memory.usage', 'usage', 'MB'),
}


class Guests:
    """A collector of prometheus_client: the guests of a node of a driver that are not off."""

    __slots__ = ('_driver', '_node')

    def __init__(self, driver: drivers.Driver, node: str) -> None:
        self._driver, self._node = driver, node

    def collect(self) -> Iterable[core.Metric]:
        """Return the metrics. Ceilometer has none of a guest that is shut off."""
        families = {
            name: core.GaugeMetricFamily(name, text, labels=labels)
            for name, (text, labels) in GAUGES.items()
        }
        for guest, found in guests.resident(self._driver, self._node):
            if guest.power_state is states.PowerState.SHUTDOWN:
                continue
            spec = guest.spec
            about = (spec.uuid, f'{spec.title}:{spec.name}', spec.flavor)
            values = {
                'ceilometer_cpu': guests.cpu_seconds(found) * 1e9,
                'ceilometer_memory_usage': found['memory_details']['used'],
            }
            for name, value in values.items():
                families[name].add_metric((spec.uuid, *UNITS[name], *about), value)
        return families.values()
