"""[pci]device_spec: the PCI devices of hosts that guests can have, in nova's format.

Without the option guests can have all devices, and by one without entries ("[]") they have none.
"""

from collections.abc import Callable
from collections.abc import Iterable
import dataclasses
import fnmatch
import json
import re
import typing

from oslo_utils import strutils

from nova_lite import exception
from nova_lite.virt import pci

ANY = '*'
_IDS = 'vendor_id', 'product_id'
_ADDRESS = re.compile(r'([0-9a-fA-F*]+):([0-9a-fA-F*]+):([0-9a-fA-F*]+)\.([0-7*])')
# The parts of an address, and the greatest number of each.
_PARTS = {'domain': 0xFFFF, 'bus': 0xFF, 'slot': 0x1F, 'function': 0x7}
_PHYSICAL = 'physical_network'
_TRUTHS = 'live_migratable', 'trusted', 'remote_managed', 'one_time_use'
# Whether the hypervisor takes a device from its host. Simulated hosts do in any case.
_MANAGED = 'managed'
_PLACED = 'resource_class', 'traits'
_KEYS = (*_IDS, 'address', _PHYSICAL, *_TRUTHS, _MANAGED, *_PLACED)


class PciConfigInvalidSpec(exception.Invalid):
    msg = 'Invalid [pci]device_spec config: %(reason)s'


@dataclasses.dataclass(frozen=True)
class Spec:
    """Properties of devices, and the values that replace those of the driver.

    A device has the address if its physical function has it.
    resource_class: None means that of the vendor and the product
    """

    vendor_id: str
    product_id: str
    has_address: Callable[[str], bool]
    values: dict[str, typing.Any]
    resource_class: str | None = None
    traits: tuple[str, ...] = ()

    def fits(self, device: pci.Device) -> bool:
        return (
            self.vendor_id in (ANY, device.vendor_id)
            and self.product_id in (ANY, device.product_id)
            and any(self.has_address(each) for each in (device.address, device.parent) if each)
        )

    def apply(self, device: pci.Device) -> pci.Device:
        """Return the device as guests can have it."""
        return dataclasses.replace(device, **self.values) if self.values else device

    def place(self, device: pci.Device, *, placed: bool) -> pci.Device:
        """Return the device as aliases and placement know it. They do not know devices of ports.

        placed: whether placement knows it
        """
        if device.for_ports or not (placed or self.resource_class or self.traits):
            return device
        found = self.resource_class or pci.class_of(device.vendor_id, device.product_id)
        return dataclasses.replace(
            device, resource_class=found, traits=self.traits, unplaced=not placed
        )


def parse(lines: Iterable[str]) -> tuple[Spec, ...]:
    """Return the specs of the option; if it is unset, one of all devices.

    Raise PciConfigInvalidSpec.
    """
    lines = [*lines] or ['{}']
    found: list[Spec] = []
    for line in lines:
        try:
            entries = json.loads(line)
        except ValueError:
            raise PciConfigInvalidSpec(reason=f"Invalid entry: '{line}'") from None
        for entry in entries if isinstance(entries, list) else [entries]:
            if not isinstance(entry, dict):
                raise PciConfigInvalidSpec(reason=f"Invalid entry: '{entry}'; Expecting dict")
            found.append(_spec(entry))
    return tuple(found)


def offered(
    devices: tuple[pci.Device, ...], specs: tuple[Spec, ...], *, placed: bool = False
) -> tuple[pci.Device, ...]:
    """Return the devices that guests can have; the first spec that fits a device describes it.

    placed: whether placement knows the devices
    """
    found = ((next((s for s in specs if s.fits(device)), None), device) for device in devices)
    offers = ((spec, spec.apply(device)) for spec, device in found if spec is not None)
    return tuple(spec.place(device, placed=placed) for spec, device in offers)


def _spec(entry: dict[str, typing.Any]) -> Spec:
    unknown = sorted(entry.keys() - {*_KEYS})
    if unknown:
        raise PciConfigInvalidSpec(reason=f'{unknown[0]} is not supported')
    vendor_id, product_id = (_id(key, entry.get(key, ANY)) for key in _IDS)
    has_address = _address(entry.get('address', '*:*:*.*'))
    for key in _PLACED:
        if not isinstance(entry.get(key, ''), str):
            raise PciConfigInvalidSpec(reason=f'{key} {entry[key]!r} is not a string')
    given, traits = entry.get('resource_class'), pci.traits_of(entry.get('traits'))
    name = pci.class_named(given) if given else None
    return Spec(vendor_id, product_id, has_address, _values(entry), name, traits)


def _values(entry: dict[str, typing.Any]) -> dict[str, typing.Any]:
    """Return the values that an entry gives to devices."""
    found: dict[str, typing.Any] = {}
    if _PHYSICAL in entry:
        network = entry[_PHYSICAL]
        if not (network is None or (isinstance(network, str) and network)):
            raise PciConfigInvalidSpec(reason=f'{_PHYSICAL} {network!r} is not a name or null')
        found = {'for_ports': True, _PHYSICAL: network}
    for key in (*_TRUTHS, _MANAGED):
        if key in entry:
            try:
                found[key] = strutils.bool_from_string(entry[key], strict=True)
            except ValueError as error:
                raise PciConfigInvalidSpec(reason=f"Cannot parse tag '{key}': {error}") from None
    found.pop(_MANAGED, None)
    return found


def _id(key: str, value: object) -> str:
    if value == ANY:
        return ANY
    return f'{_number(key, str(value), 0xFFFF):04x}'


def _number(key: str, text: str, most: int) -> int:
    if not re.fullmatch('[0-9a-fA-F]+', text):
        raise PciConfigInvalidSpec(
            reason=f"property {key} ('{text}') does not parse as a hex number."
        )
    number = int(text, 16)
    if number > most:
        raise PciConfigInvalidSpec(
            reason=f'property {key} ({text}) is greater than the maximum allowable value ({most:X}).'
        )
    return number


def _address(value: object) -> Callable[[str], bool]:
    """Return a function that tells whether a device has the address of a spec."""
    if isinstance(value, dict):
        return _by_expressions(value)
    match = _ADDRESS.fullmatch(str(value))
    if match is None:
        raise PciConfigInvalidSpec(reason=f'address {value!r} is not DOMAIN:BUS:SLOT.FUNCTION')
    widths = 4, 2, 2, 1
    parts = [
        part if ANY in part else f'{_number(key, part, most):0{width}x}'
        for (key, most), part, width in zip(_PARTS.items(), match.groups(), widths, strict=True)
    ]
    pattern = '{}:{}:{}.{}'.format(*parts).lower()
    return lambda address: fnmatch.fnmatchcase(address, pattern)


def _by_expressions(value: dict[str, typing.Any]) -> Callable[[str], bool]:
    if value.keys() - _PARTS.keys():
        raise PciConfigInvalidSpec(reason=f'an address has the parts {", ".join(_PARTS)}')
    try:
        expressions = [re.compile(str(value.get(key, '.*')), re.IGNORECASE) for key in _PARTS]
    except re.error as error:
        raise PciConfigInvalidSpec(reason=f'address {value}: {error}') from None
    return lambda address: all(
        expression.fullmatch(part)
        for expression, part in zip(expressions, re.split('[:.]', address), strict=True)
    )
