"""Metrics of the guests of a host, with the names and labels of prometheus-libvirt-exporter.

The values are those of the diagnostics of servers. Metrics that simulated guests cannot have are
left out.
"""

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import typing

from prometheus_client import core

from nova_lite import states
from nova_lite.daemons.monitoring import guests
from nova_lite.virt import driver as drivers
from nova_lite.virt import model

Power = states.PowerState
MIB = 2**20
PORT_CHARS = 11
# {state: (its number in libvirt, its description)}
STATES = {
    Power.NOSTATE: (0, 'no state'),
    Power.RUNNING: (1, 'the domain is running'),
    Power.PAUSED: (3, 'the domain is paused by user'),
    Power.SHUTDOWN: (5, 'the domain is shut off'),
    Power.CRASHED: (6, 'the domain is crashed'),
    Power.SUSPENDED: (7, 'the domain is suspended by guest power management'),
}
_DISK = ('domain', 'target_device')
# {name, without `_total` for a counter: (help, labels)}
GAUGES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    'libvirt_domains': ('Number of guests of the host.', ()),
    'libvirt_domain_openstack_info': (
        'The server that a guest belongs to.',
        ('domain', 'instance_name', 'instance_id', 'flavor_name'),
    ),
    'libvirt_domain_info_state': ('Number of the state in libvirt.', ('domain', 'state_desc')),
    'libvirt_domain_info_virtual_cpus': ('Number of virtual CPUs.', ('domain',)),
    'libvirt_domain_info_maximum_memory_bytes': ('Memory of the flavor.', ('domain',)),
    'libvirt_domain_info_memory_usage_bytes': ('Memory that the host gives.', ('domain',)),
    'libvirt_domain_memory_stats_available_bytes': ('Memory that the guest has.', ('domain',)),
    'libvirt_domain_memory_stats_unused_bytes': (
        'Memory that the guest does not use.',
        ('domain',),
    ),
    'libvirt_domain_memory_stats_used_percent': ('Share of the memory in use.', ('domain',)),
}
COUNTERS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    'libvirt_domain_info_cpu_time_seconds': ('CPU time of all virtual CPUs.', ('domain',)),
    'libvirt_domain_vcpu_time_seconds': ('CPU time of a virtual CPU.', ('domain', 'vcpu')),
    **{
        f'libvirt_domain_block_stats_{way}_{what}': (f'{what.title()} of a disk.', _DISK)
        for way in ('read', 'write')
        for what in ('bytes', 'requests')
    },
    **{
        f'libvirt_domain_interface_stats_{way}_{what}': (f'{what.title()} of an interface.', _DISK)
        for way in ('receive', 'transmit')
        for what in ('bytes', 'packets', 'errors', 'drops')
    },
}
# {beginning of the name: beginning of the key in the diagnostics}
WAYS = {'receive': 'rx', 'transmit': 'tx'}
KEYS = {'bytes': 'octets', 'packets': 'packets', 'errors': 'errors', 'drops': 'drop'}
# (name of a metric, values of its labels, value)
Sample: typing.TypeAlias = tuple[str, Sequence[str], float]


class Guests:
    """A collector of prometheus_client: the guests of a node of a driver."""

    __slots__ = ('_driver', '_node')

    def __init__(self, driver: drivers.Driver, node: str) -> None:
        self._driver, self._node = driver, node

    def collect(self) -> Iterable[core.Metric]:
        """Return the metrics of all guests that the node would run."""
        families: dict[str, core.GaugeMetricFamily | core.CounterMetricFamily] = {
            **{name: core.GaugeMetricFamily(name, *about) for name, about in _of(GAUGES)},
            **{name: core.CounterMetricFamily(name, *about) for name, about in _of(COUNTERS)},
        }
        for name, labels, value in self._samples():
            families[name].add_metric(labels, value)
        return families.values()

    def _samples(self) -> Iterator[Sample]:
        count = 0
        for guest, found in guests.resident(self._driver, self._node):
            count += 1
            yield from of_guest(guest, found)
        yield 'libvirt_domains', (), count


def _of(
    table: Mapping[str, tuple[str, Sequence[str]]],
) -> Iterator[tuple[str, tuple[str, None, Sequence[str]]]]:
    for name, (text, labels) in table.items():
        yield name, (text, None, labels)


def of_guest(guest: model.Guest, found: model.Json) -> Iterator[Sample]:
    """Yield the samples of a guest. found: its diagnostics, in the form since 2.48"""
    spec = guest.spec
    domain, memory = spec.name, found['memory_details']
    number, description = STATES[guest.power_state]
    total, used = memory['maximum'] * MIB, memory['used'] * MIB
    times = [each['time'] / 1e9 for each in found['cpu_details']]
    info = (domain, spec.title, spec.uuid, spec.flavor)
    yield 'libvirt_domain_openstack_info', info, 1
    yield 'libvirt_domain_info_state', (domain, description), number
    yield 'libvirt_domain_info_virtual_cpus', (domain,), found['num_cpus']
    yield 'libvirt_domain_info_maximum_memory_bytes', (domain,), total
    yield 'libvirt_domain_info_memory_usage_bytes', (domain,), total
    yield 'libvirt_domain_memory_stats_available_bytes', (domain,), total
    yield 'libvirt_domain_memory_stats_unused_bytes', (domain,), total - used
    yield 'libvirt_domain_memory_stats_used_percent', (domain,), 100 * used / total if total else 0
    yield 'libvirt_domain_info_cpu_time_seconds', (domain,), sum(times)
    for index, seconds in enumerate(times):
        yield 'libvirt_domain_vcpu_time_seconds', (domain, str(index)), seconds
    for index, disk in enumerate(found['disk_details']):
        device = (domain, f'vd{_letters(index)}')
        for way in ('read', 'write'):
            for what in ('bytes', 'requests'):
                yield f'libvirt_domain_block_stats_{way}_{what}', device, disk[f'{way}_{what}']
    ports = [each.id for each in spec.devices if each.kind is model.DeviceKind.INTERFACE]
    for port, nic in zip(ports, found['nic_details'], strict=False):
        device = (domain, f'tap{port[:PORT_CHARS]}')
        for way, prefix in WAYS.items():
            for what, key in KEYS.items():
                name = f'libvirt_domain_interface_stats_{way}_{what}'
                yield name, device, nic[f'{prefix}_{key}']


def _letters(index: int) -> str:
    """Return a, b, …, z, aa, ab, …"""
    rounds, rest = divmod(index, 26)
    return (_letters(rounds - 1) if rounds else '') + chr(ord('a') + rest)
