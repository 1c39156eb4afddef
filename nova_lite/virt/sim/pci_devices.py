"""The PCI devices of a simulated host, as its profile describes them."""

import dataclasses
import re

from nova_lite.virt import pci
from nova_lite.virt.sim import strict_yaml

VENDOR, PRODUCT, ADDRESS, COUNT = 'vendor_id', 'product_id', 'address', 'count'
NODE, KIND, FUNCTIONS, LIVE = 'numa_node', 'dev_type', 'functions', 'live_migratable'
PHYSICAL, SERIAL = 'physical_network', 'card_serial_number'
TRUSTED, REMOTE = 'trusted', 'remote_managed'
OF_PORTS = PHYSICAL, SERIAL, TRUSTED, REMOTE
TYPES, NAME, TRAITS = 'mdev_types', 'name', 'traits'
# The name of a network interface. As systemd names them, virtual functions add v and their number.
INTERFACE = 'devname'
INTERFACES, LONGEST_INTERFACE = r'[^\s/:]+', 15
ADDRESSES = r'[0-9a-f]{4}:[0-9a-f]{2}:[01][0-9a-f]\.[0-7]'
MOST, MOST_FUNCTIONS = 256, 128
# The name of a type of virtual GPUs is a part of their addresses.
TYPE = '[A-Za-z0-9._-]{1,64}'
# The bus of the first device without an address.
FIRST_BUS = 0x20


def read(item: strict_yaml.Reader) -> tuple[pci.Device, ...]:
    """Return the PCI devices of a host. Raise ProfileError."""
    places = item.sequence()
    given = {place.value.get(ADDRESS) for place in places if isinstance(place.value, dict)}
    free = (address for address in _buses() if address not in given)
    found: list[pci.Device] = []
    for place in places:
        place.mapping(
            required=(VENDOR, PRODUCT),
            optional=(ADDRESS, COUNT, NODE, KIND, FUNCTIONS, LIVE, TYPES, INTERFACE, *OF_PORTS),
        )
        for key in (ADDRESS, INTERFACE):
            place.expect(not (place.has(key) and place.has(COUNT)), f'has {key} and {COUNT}')
        for _number in range(place.at(COUNT).integer(1, MOST) if place.has(COUNT) else 1):
            address = _address(place) if place.has(ADDRESS) else next(free)
            found.extend(_devices(place, address))
        item.expect(len(found) <= MOST * 8, f'has more than {MOST * 8} devices')
    for key in (ADDRESS, INTERFACE):
        values = [value for device in found if (value := getattr(device, key)) is not None]
        item.expect(len({*values}) == len(values), f'has two devices with one {key}')
    return tuple(sorted(found, key=lambda device: device.address))


def _buses() -> list[str]:
    return [f'{domain:04x}:{bus:02x}:00.0' for domain in (0, 1) for bus in range(FIRST_BUS, 256)]


def _devices(item: strict_yaml.Reader, address: str) -> list[pci.Device]:
    """Return a device, and its virtual functions if it has some."""
    kind = item.at(KIND).choice((pci.PCI, pci.PF)) if item.has(KIND) else pci.PCI
    first = pci.Device(
        address=address,
        vendor_id=_number(item, VENDOR),
        product_id=_number(item, PRODUCT),
        kind=kind,
        node=item.at(NODE).integer(0, 63) if item.has(NODE) else None,
        live_migratable=_truth(item, LIVE),
        for_ports=item.has(PHYSICAL),
        physical_network=_network(item),
        trusted=_truth(item, TRUSTED),
        remote_managed=_truth(item, REMOTE),
        card_serial_number=item.at(SERIAL).string() if item.has(SERIAL) else None,
        mdev_types=_types(item.at(TYPES)) if item.has(TYPES) else (),
        devname=_interface(item.at(INTERFACE)) if item.has(INTERFACE) else None,
    )
    item.expect(kind == pci.PCI or not item.has(TYPES), f'{TYPES} belong to {pci.PCI}')
    item.expect(
        item.has(PHYSICAL) or not any(item.has(key) for key in OF_PORTS),
        f'{", ".join(OF_PORTS[1:])} belong to a device with {PHYSICAL}',
    )
    item.expect(item.has(FUNCTIONS) == (kind == pci.PF), f'{FUNCTIONS} belong to {pci.PF}')
    return [first, *(_functions(item.at(FUNCTIONS), first) if item.has(FUNCTIONS) else ())]


def _functions(item: strict_yaml.Reader, parent: pci.Device) -> list[pci.Device]:
    """Return the virtual functions of a physical one."""
    item.mapping(required=(COUNT, PRODUCT), optional=(KIND, LIVE))
    kind = item.at(KIND).choice((pci.VF, pci.VDPA)) if item.has(KIND) else pci.VF
    stem = parent.address.rsplit(':', 1)[0]
    count = item.at(COUNT).integer(1, MOST_FUNCTIONS)
    name = parent.devname
    item.expect(
        name is None or len(f'{name}v{count - 1}') <= LONGEST_INTERFACE,
        f'{INTERFACE}s of {FUNCTIONS} would have more than {LONGEST_INTERFACE} characters',
    )
    return [
        dataclasses.replace(
            parent,
            # The slots from 1 on, in each eight functions.
            address=f'{stem}:{1 + number // 8:02x}.{number % 8}',
            product_id=_number(item, PRODUCT),
            kind=kind,
            parent=parent.address,
            live_migratable=_truth(item, LIVE),
            devname=None if name is None else f'{name}v{number}',
        )
        for number in range(count)
    ]


def _types(item: strict_yaml.Reader) -> tuple[pci.MdevType, ...]:
    """Return the types of virtual GPUs that a physical GPU can offer."""
    found = []
    for entry in item.sequence():
        entry.mapping(required=(NAME, COUNT), optional=(TRAITS,))
        name = entry.at(NAME).string()
        entry.at(NAME).expect(re.fullmatch(TYPE, name), 'must be of A-Z, a-z, 0-9, ".", "_", "-"')
        names = entry.at(TRAITS).traits() if entry.has(TRAITS) else ()
        found.append(pci.MdevType(name, entry.at(COUNT).integer(1, MOST_FUNCTIONS), names))
    item.expect(found, 'has no types')
    item.expect(len({each.name for each in found}) == len(found), 'has a type twice')
    return tuple(found)


def _interface(place: strict_yaml.Reader) -> str:
    name = place.string()
    fits = re.fullmatch(INTERFACES, name) and len(name) <= LONGEST_INTERFACE
    place.expect(fits, f'must have at most {LONGEST_INTERFACE} characters, no space, "/" or ":"')
    return name


def _truth(item: strict_yaml.Reader, key: str) -> bool:
    return item.at(key).boolean() if item.has(key) else False


def _network(item: strict_yaml.Reader) -> str | None:
    if not item.has(PHYSICAL) or item.at(PHYSICAL).value is None:
        return None
    return item.at(PHYSICAL).string()


def _address(item: strict_yaml.Reader) -> str:
    place = item.at(ADDRESS)
    text = place.string()
    place.expect(re.fullmatch(ADDRESSES, text), 'must be DOMAIN:BUS:SLOT.FUNCTION in hex digits')
    return text


def _number(item: strict_yaml.Reader, key: str) -> str:
    place = item.at(key)
    text = place.string()
    place.expect(re.fullmatch('[0-9a-f]{4}', text), 'must be 4 hex digits in quotation marks')
    return text
