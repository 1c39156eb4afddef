"""PCI devices of a host, and those that guests hold. Plain values."""

from collections.abc import Collection
from collections.abc import Iterable
import dataclasses
import hashlib
import re
from typing import Any
from typing import Self

import os_resource_classes as orc
import os_traits

# Kinds of devices: physical functions have virtual functions, and others have none. A virtual
# function with a vDPA device has the last kind.
KINDS = PCI, PF, VF, VDPA = 'type-PCI', 'type-PF', 'type-VF', 'vdpa'
# The kind of virtual GPUs, which are mediated devices. No alias names it.
MDEV = 'mdev'


# Fields of devices for placement, and for ports.
OF_PLACEMENT = 'resource_class', 'traits', 'unplaced', 'one_time_use'
OF_PORTS = 'for_ports', 'physical_network', 'trusted', 'remote_managed', 'card_serial_number'


@dataclasses.dataclass(frozen=True, slots=True)
class MdevType:
    """A type of virtual GPUs that a physical GPU can offer. count: number of these at most"""

    name: str
    count: int
    traits: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class Device:
    """A PCI device of a host, or a virtual GPU.

    address: DOMAIN:BUS:SLOT.FUNCTION, for a virtual GPU followed by /TYPE/NUMBER
    node: id of its NUMA node, None if unknown
    parent: address of the physical function of a virtual one, or of the physical GPU
    live_migratable: whether a guest that holds it can migrate live
    for_ports: whether ports of networks may have it
    physical_network: the network that it reaches, None for networks without a physical one
    trusted: whether it may be trusted to change its address
    remote_managed: whether the network service manages it from another machine
    card_serial_number: that of its card, if it is known
    resource_class, traits: those by which aliases and placement know it
    unplaced: whether placement does not know a device with a resource class
    one_time_use: whether it stays reserved in placement after a guest has got it
    mdev_types: the types of virtual GPUs that it can offer. Only drivers know it
    devname: the name of its network interface on the host. Only drivers know it
    """

    address: str
    vendor_id: str
    product_id: str
    kind: str = PCI
    node: int | None = None
    parent: str | None = None
    live_migratable: bool = False
    for_ports: bool = False
    physical_network: str | None = None
    trusted: bool = False
    remote_managed: bool = False
    card_serial_number: str | None = None
    resource_class: str | None = None
    traits: tuple[str, ...] = ()
    unplaced: bool = False
    one_time_use: bool = False
    mdev_types: tuple[MdevType, ...] = ()
    devname: str | None = None

    @property
    def is_placed(self) -> bool:
        """Return whether placement knows the device."""
        return self.resource_class is not None and not self.unplaced

    @property
    def provider(self) -> str:
        """Return the name of its resource provider: the address of the card, or of the GPU.

        That of a GPU is written as libvirt does.
        """
        if self.kind == MDEV:
            return gpu_provider(self.parent or '')
        return self.parent or self.address

    @property
    def mdev_type(self) -> str:
        """Return the type of a virtual GPU."""
        return mdev_type(self.address) or ''

    def to_dict(self) -> dict[str, Any]:
        """Return plain values. Those of ports and placement are left out if they are not set."""
        values = dataclasses.asdict(self)
        for name in (*OF_PORTS, *OF_PLACEMENT, 'mdev_types', 'devname'):
            if not values[name]:
                del values[name]
        return values

    @classmethod
    def from_dict(cls, value: dict[str, Any]) -> Self:
        return cls(**{**value, 'traits': tuple(value.get('traits', ()))})


def mdev_type(address: str) -> str | None:
    """Return the type of the virtual GPU with an address, None for another device."""
    _parent, *rest = address.split('/')
    return rest[0] if rest else None


def gpu_provider(address: str) -> str:
    """Return the name of the resource provider of a physical GPU with virtual ones."""
    return 'pci_' + re.sub('[:.]', '_', address)


def by_provider(devices: Iterable[Device]) -> dict[str, list[Device]]:
    """Return {name of a resource provider: its devices}."""
    found: dict[str, list[Device]] = {}
    for device in devices:
        found.setdefault(device.provider, []).append(device)
    return found


def class_of(vendor_id: str, product_id: str) -> str:
    """Return the resource class of devices to which the options give none."""
    return f'CUSTOM_PCI_{vendor_id}_{product_id}'.upper()


def class_named(given: str) -> str:
    """Return the resource class that an option names."""
    return _normalized(given, orc.STANDARDS)


def traits_of(given: str | None) -> tuple[str, ...]:
    """Return the traits in an option's list with commas."""
    names = (name.strip() for name in (given or '').split(','))
    return tuple(sorted({_normalized(name, os_traits.get_traits()) for name in names if name}))


def _normalized(name: str, standard: Collection[str]) -> str:
    """Return a name that placement accepts: a standard one, or one that begins with CUSTOM_."""
    upper = name.upper()
    if upper in standard:
        return upper
    return 'CUSTOM_' + re.sub('[^A-Z0-9_]', '_', upper.removeprefix('CUSTOM_'))


def mac_address(node: str, address: str) -> str:
    """Return the MAC address of a network card of a node. It is locally administered."""
    digest = hashlib.sha256(f'{node} {address}'.encode()).hexdigest()
    return ':'.join(('02', *(digest[at : at + 2] for at in range(0, 10, 2))))


def without(devices: tuple[Device, ...], held: Collection[str]) -> tuple[Device, ...]:
    """Return the devices that are free beside those that a guest holds. held: their addresses

    A physical function is in use while a guest holds one of its virtual functions, and the reverse.
    """
    used = {*held, *(device.parent for device in devices if device.address in held)}
    return tuple(
        device for device in devices if device.address not in used and device.parent not in held
    )
