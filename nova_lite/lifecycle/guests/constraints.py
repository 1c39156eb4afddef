"""Constraints of a guest by its flavor and its image together."""

from collections.abc import Collection
import dataclasses
import functools

from nova_lite.lifecycle.guests import asked
from nova_lite.lifecycle.guests import devices
from nova_lite.lifecycle.guests import images
from nova_lite.lifecycle.guests import memory
from nova_lite.lifecycle.guests import nodes
from nova_lite.lifecycle.guests import pci
from nova_lite.lifecycle.guests import pinning
from nova_lite.lifecycle.guests import port_requests
from nova_lite.objects import guest_numa
from nova_lite.objects import port_devices

Asked = asked.Asked
SPECS = 'hw:', 'resources', 'trait'
# Other properties count only against a flavor.
PROPERTIES = 'hw_cpu_', 'hw_mem_', 'hw_numa_', 'hw_locked_memory', 'trait'


@dataclasses.dataclass(frozen=True)
class Constraints:
    """Properties of a guest, besides its sizes, that its host must provide.

    nodes: NUMA nodes, empty if any will do
    page_size: in KiB, or small, large, any
    dedicated, realtime: numbers of the guest's CPUs
    mem_encryption: its model
    devices: requests of the flavor for PCI devices; ports: those of ports
    """

    nodes: tuple[guest_numa.Node, ...] = ()
    page_size: str | int | None = None
    locked_memory: bool = False
    mem_encryption: str | None = None
    cpu_policy: str | None = None
    cpu_thread_policy: str | None = None
    emulator_threads_policy: str | None = None
    dedicated: frozenset[int] = frozenset()
    realtime: frozenset[int] | None = None
    devices: tuple[pci.Request, ...] = ()
    ports: tuple[port_requests.PortRequest, ...] = ()

    @property
    def has_parts(self) -> bool:
        """Return whether the guest holds parts of its host: of NUMA nodes, or devices."""
        return bool(self.nodes or self.devices or self.ports)

    def on(self, classes: Collection[str]) -> 'Constraints':
        """Return the constraints as they concern a host. See pci.Request.concerns"""
        if all(each.concerns(classes) for each in self.devices):
            return self
        own = tuple(each for each in self.devices if each.concerns(classes))
        return dataclasses.replace(self, devices=own)

    @functools.cached_property
    def requested(self) -> tuple[pci.Request, ...]:
        """Return all requests for PCI devices."""
        return (*self.devices, *self.ports)

    @property
    def topology(self) -> tuple[object, ...]:
        """Return the nodes with their pages and CPUs, which a rebuild must keep."""
        if not self.nodes:
            return ()
        policies = self.cpu_policy, self.cpu_thread_policy, self.emulator_threads_policy
        return self.nodes, self.page_size, *policies, self.dedicated

    @functools.cached_property
    def request(self) -> str:
        """Return a name of the parts: equal topologies and requests have equal names.

        A rebuild does not change it. Devices of ports have names of their own.
        """
        name = repr([sorted(e) if isinstance(e, frozenset) else e for e in self.topology])
        devices = [each.kept for each in self.devices]
        return f'{name}, devices {devices}' if devices else name


NONE = Constraints()


def of(guest: Asked) -> Constraints:
    """Return the constraints of a guest. Raise Invalid if flavor and image contradict."""
    images.check(guest.properties)
    if not _may_constrain(guest):
        return NONE
    devices.check_topology(guest)
    devices.check_serial_ports(guest)
    devices.check_switches(guest)
    mem_encryption = memory.encryption(guest)
    number = nodes.count(guest)
    policy = pinning.policy(guest)
    threads = pinning.threads(guest, policy)
    emulator = pinning.emulator_threads(guest, policy)
    realtime = pinning.realtime(guest, policy, emulator)
    dedicated = pinning.dedicated(guest, policy, realtime)
    pages = memory.page_size(guest)
    locked = memory.is_locked(guest, pages)
    device_policy = pci.policy(guest)
    if number is None and (pages or policy in pinning.PINNED or guest.spec('pmem')):
        number = 1
    return Constraints(
        nodes=() if number is None else nodes.of(guest, number),
        page_size=pages,
        locked_memory=locked,
        mem_encryption=mem_encryption,
        cpu_policy=policy,
        cpu_thread_policy=threads,
        emulator_threads_policy=emulator,
        dedicated=dedicated,
        realtime=realtime,
        devices=pci.requests(guest, device_policy),
        ports=port_requests.requests(guest.ports, device_policy),
    )


def _may_constrain(guest: Asked) -> bool:
    """Return whether there is a key that the rules read. Most guests have none."""
    return (
        bool(guest.devices)
        or any(key.startswith(SPECS) for key in guest.specs)
        or any(key.startswith(PROPERTIES) for key in guest.properties)
        or any(port.get(port_devices.KEY) for port in guest.ports)
    )
