"""[pci]device_spec: the PCI devices of hosts that guests can have, in nova's format.

Without the option guests can have all devices, and by one without entries ("[]") they have none.
"""

from collections.abc import Iterable
from collections.abc import Mapping
import dataclasses
import json
import typing

from oslo_utils import strutils

from nova_lite.compute import device_addresses
from nova_lite.virt import pci

ANY = device_addresses.ANY
PciConfigInvalidSpec = device_addresses.PciConfigInvalidSpec
_IDS = 'vendor_id', 'product_id'
_ADDRESS, _NAME = 'address', 'devname'
_PHYSICAL = 'physical_network'
_REMOTE = 'remote_managed'
_ONCE = 'one_time_use'
_TRUTHS = 'live_migratable', 'trusted', _REMOTE, _ONCE
# Whether the hypervisor takes a device from its host. Simulated hosts do in any case.
_MANAGED = 'managed'
_PLACED = 'resource_class', 'traits'
_KEYS = (*_IDS, _ADDRESS, _NAME, _PHYSICAL, *_TRUTHS, _MANAGED, *_PLACED)


@dataclasses.dataclass(frozen=True)
class Spec:
    """Properties of devices, and the values that replace those of the driver.

    devname: the network interface of the device, or of its physical function, in place of addresses
    resource_class: None means that of the vendor and the product
    """

    vendor_id: str
    product_id: str
    addresses: device_addresses.Addresses
    values: dict[str, typing.Any]
    devname: str | None = None
    resource_class: str | None = None
    traits: tuple[str, ...] = ()

    def fits(self, device: pci.Device, interfaces: Mapping[str, str]) -> bool:
        """Return whether the spec describes a device.

        interfaces: {network interface of the host: address of its device}
        """
        return (
            self.vendor_id in (ANY, device.vendor_id)
            and self.product_id in (ANY, device.product_id)
            and self._is_at(device, interfaces)
        )

    def is_missing(self, devices: tuple[pci.Device, ...]) -> bool:
        """Return whether a host lacks the one device that must be there: a remotely managed one."""
        if not (self.values.get(_REMOTE) and (self.devname or self.addresses.is_exact)):
            return False
        interfaces = _interfaces(devices)
        return not any(self._is_at(device, interfaces) for device in devices)

    def _is_at(self, device: pci.Device, interfaces: Mapping[str, str]) -> bool:
        if self.devname is None:
            return self.addresses.fits(device)
        address = interfaces.get(self.devname)
        return address is not None and address in (device.address, device.parent)

    def apply(self, device: pci.Device) -> pci.Device:
        """Return the device as guests can have it. Only drivers know its network interface."""
        return dataclasses.replace(device, devname=None, **self.values)

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


def parse(lines: Iterable[str], *, placed: bool = False) -> tuple[Spec, ...]:
    """Return the specs of the option; if it is unset, one of all devices.

    Raise PciConfigInvalidSpec.
    placed: whether placement knows the devices
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
    if not placed and any(spec.values.get(_ONCE) for spec in found):
        raise PciConfigInvalidSpec(reason=f'{_ONCE} needs [pci]report_in_placement')
    named = next((spec.devname for spec in found if spec.devname), None)
    if placed and named:
        raise PciConfigInvalidSpec(
            reason=f"[pci]report_in_placement does not support devname, and there is '{named}'. "
            'Use the address of the device'
        )
    return tuple(found)


def offered(
    devices: tuple[pci.Device, ...], specs: tuple[Spec, ...], *, placed: bool = False
) -> tuple[pci.Device, ...]:
    """Return the devices that guests can have; the first spec that fits a device describes it.

    placed: whether placement knows the devices
    """
    names = _interfaces(devices)
    found = ((next((s for s in specs if s.fits(d, names)), None), d) for d in devices)
    offers = ((spec, spec.apply(device)) for spec, device in found if spec is not None)
    return tuple(spec.place(device, placed=placed) for spec, device in offers)


def check_present(devices: tuple[pci.Device, ...], specs: tuple[Spec, ...]) -> None:
    """Raise PciConfigInvalidSpec if a host lacks a remotely managed device that a spec names."""
    if any(spec.is_missing(devices) for spec in specs):
        reason = f'A device specified as "{_REMOTE}" is not actually present on the host'
        raise PciConfigInvalidSpec(reason=reason)


def _interfaces(devices: tuple[pci.Device, ...]) -> dict[str, str]:
    return {device.devname: device.address for device in devices if device.devname}


def _spec(entry: dict[str, typing.Any]) -> Spec:
    unknown = sorted(entry.keys() - {*_KEYS})
    if unknown:
        raise PciConfigInvalidSpec(reason=f'{unknown[0]} is not supported')
    vendor_id, product_id = (_id(key, entry.get(key, ANY)) for key in _IDS)
    if entry.get(_NAME) and entry.get(_ADDRESS):
        raise PciConfigInvalidSpec(reason=f'an entry can have {_NAME} or {_ADDRESS}, but not both')
    for key in (*_PLACED, _NAME):
        if not isinstance(entry.get(key) or '', str):
            raise PciConfigInvalidSpec(reason=f'{key} {entry[key]!r} is not a string')
    given, traits = entry.get('resource_class'), pci.traits_of(entry.get('traits'))
    name = pci.class_named(given) if given else None
    addresses = device_addresses.read(entry.get(_ADDRESS))
    interface = entry.get(_NAME) or None
    return Spec(vendor_id, product_id, addresses, _values(entry), interface, name, traits)


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
    return f'{device_addresses.number(key, str(value), 0xFFFF):04x}'
