"""PCI devices of a host, and those that guests hold. Plain values."""

from collections.abc import Collection
import dataclasses
from typing import Any
from typing import Self

# Kinds of devices: physical functions have virtual functions, and others have none. A virtual
# function with a vDPA device has the last kind.
KINDS = PCI, PF, VF, VDPA = 'type-PCI', 'type-PF', 'type-VF', 'vdpa'


# Fields of devices for ports.
OF_PORTS = 'for_ports', 'physical_network', 'trusted', 'remote_managed', 'card_serial_number'


@dataclasses.dataclass(frozen=True, slots=True)
class Device:
    """A PCI device of a host.

    address: DOMAIN:BUS:SLOT.FUNCTION; node: id of its NUMA node, None if unknown
    parent: address of the physical function of a virtual one
    live_migratable: whether a guest that holds it can migrate live
    for_ports: whether ports of networks may have it
    physical_network: the network that it reaches, None for networks without a physical one
    trusted: whether it may be trusted to change its address
    remote_managed: whether the network service manages it from another machine
    card_serial_number: that of its card, if it is known
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

    def to_dict(self) -> dict[str, Any]:
        """Return plain values. Those of ports are left out if they are not set."""
        values = dataclasses.asdict(self)
        for name in OF_PORTS:
            if not values[name]:
                del values[name]
        return values

    @classmethod
    def from_dict(cls, value: dict[str, Any]) -> Self:
        return cls(**value)


def without(devices: tuple[Device, ...], held: Collection[str]) -> tuple[Device, ...]:
    """Return the devices that are free beside those that a guest holds. held: their addresses

    A physical function is in use while a guest holds one of its virtual functions, and the reverse.
    """
    used = {*held, *(device.parent for device in devices if device.address in held)}
    return tuple(
        device for device in devices if device.address not in used and device.parent not in held
    )
