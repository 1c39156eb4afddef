"""PCI devices of a host, and those that guests hold. Plain values."""

from collections.abc import Collection
import dataclasses
from typing import Any
from typing import Self

# Kinds of devices: physical functions have virtual functions, and others have none.
KINDS = PCI, PF, VF = 'type-PCI', 'type-PF', 'type-VF'


@dataclasses.dataclass(frozen=True, slots=True)
class Device:
    """A PCI device of a host.

    address: DOMAIN:BUS:SLOT.FUNCTION; node: id of its NUMA node, None if unknown
    parent: address of the physical function of a virtual one
    live_migratable: whether a guest that holds it can migrate live
    """

    address: str
    vendor_id: str
    product_id: str
    kind: str = PCI
    node: int | None = None
    parent: str | None = None
    live_migratable: bool = False

    def to_dict(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

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
