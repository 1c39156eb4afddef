"""PCI devices in placement: resource providers below those of hosts.

A provider has the devices of one address: a device, the functions of a card, or the virtual GPUs of
a physical one. Its uuid follows from that of the node and its name, see `clients.nested`.
"""

import collections
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
import dataclasses
import typing

from nova_lite import runtime
from nova_lite.lifecycle import fitting
from nova_lite.lifecycle.guests import port_requests
from nova_lite.virt import pci
from nova_lite.virt import topology

# {provider uuid: {resource class: amount}}
Allocations: typing.TypeAlias = Mapping[str, Mapping[str, int]]


@dataclasses.dataclass(frozen=True)
class Given:
    """The allocations of a guest, by which it gets devices of a node.

    node: the uuid of the node
    virtual, physical: whether the allocations decide which virtual GPUs, and which other devices
        the guest gets. A host chooses those that are not allocated
    """

    node: str
    allocations: Allocations
    virtual: bool = True
    physical: bool = True

    @classmethod
    def of(cls, node: str, devices: Iterable[pci.Device], allocations: Allocations) -> typing.Self:
        """Return the allocations of a guest that has some of the devices of a node."""
        names = {name for resources in allocations.values() for name in resources}
        kinds = {device.kind == pci.MDEV for device in devices if device.resource_class in names}
        return cls(node, allocations, virtual=True in kinds, physical=False in kinds)

    def decides(self, device: pci.Device) -> bool:
        """Return whether a guest only gets such a device by its allocations."""
        return self.virtual if device.kind == pci.MDEV else self.physical

    def has(self, device: pci.Device) -> bool:
        """Return whether the guest has allocated devices of the provider of this one."""
        key = _key(self.node, device)
        return key is not None and key[1] in self.allocations.get(key[0], {})

    def limit(
        self, rooms: fitting.Rooms, ports: Iterable[port_requests.PortRequest] = ()
    ) -> fitting.Rooms:
        """Return the rooms with only those devices that the guest has allocated, or ports may get.

        Devices of a provider can be exchanged for each other. Devices that placement does not know
        are for ports: an alias that fits them as well does not get them.
        ports: requests of the ports that get devices now
        """
        left = collections.Counter[tuple[str, str]]()
        for provider, resources in self.allocations.items():
            left.update({(provider, name): amount for name, amount in resources.items()})
        found = []
        for device in rooms.devices:
            key = _key(self.node, device)
            if not self.decides(device):
                found.append(device)
            elif key is None:
                if any(port.fits(device) for port in ports):
                    found.append(device)
            elif left[key]:
                left[key] -= 1
                found.append(device)
        return dataclasses.replace(rooms, devices=tuple(found))


def _key(node: str, device: pci.Device) -> tuple[str, str] | None:
    """Return (provider, resource class) of a device of a node; None if placement lacks it."""
    if device.resource_class is None or not device.is_placed:
        return None
    return runtime.uuid_of(node, device.provider), device.resource_class


def providers(node: str, devices: Iterable[pci.Device]) -> set[str]:
    """Return the uuids of the providers of devices of a node (its uuid)."""
    return {key[0] for key in (_key(node, device) for device in devices) if key is not None}


def mdev_types(devices: Iterable[pci.Device], given: Given | None) -> set[str]:
    """Return the types of those virtual GPUs among `devices` that a guest may get.

    given: its allocations, None if it has none on devices
    """
    found = [device for device in devices if device.kind == pci.MDEV]
    if given is not None and given.virtual:
        found = [device for device in found if given.has(device)]
    return {device.mdev_type for device in found}


def allocations(
    node: str, devices: Iterable[pci.Device], addresses: Collection[str]
) -> dict[str, dict[str, int]]:
    """Return the allocations of a guest that holds the devices with these addresses."""
    found: dict[str, dict[str, int]] = {}
    for device in devices:
        key = _key(node, device) if device.address in addresses else None
        if key is not None:
            resources = found.setdefault(key[0], {})
            resources[key[1]] = resources.get(key[1], 0) + 1
    return found


def addresses(parts: Iterable[topology.Held], request: str) -> set[str]:
    """Return the addresses of devices that were chosen for a request. See Constraints.request"""
    return {address for held in parts if held.request == request for _, address in held.devices}
