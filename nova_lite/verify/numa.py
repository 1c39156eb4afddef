"""Parts of nodes (CPUs, pages, PCI devices): of guests, of reports of hosts, and of requests."""

import collections
from collections.abc import Iterator
import dataclasses
import typing

from nova_lite import exception
from nova_lite import states
from nova_lite.db import rows
from nova_lite.lifecycle import placed_devices
from nova_lite.lifecycle.guests import constraints
from nova_lite.verify import findings
from nova_lite.verify import observed
from nova_lite.virt import topology

Finding = findings.Finding
_V = states.VmState
FAILED = (_V.ERROR, _V.BUILDING)


def held_once(snapshot: observed.Snapshot) -> Iterator[findings.Finding]:
    """I13: no dedicated CPU of a host is held by two guests, and no more pages than there are."""
    known = hosts(snapshot)
    for name, guests in parts_of(snapshot).items():
        owners: dict[int, str] = {}
        pages: collections.Counter[tuple[int, int]] = collections.Counter()
        for uuid, parts in guests.items():
            for cell in (cell for held in parts for cell in held.cells):
                for cpu in cell.dedicated:
                    other = owners.setdefault(cpu, uuid)
                    if other != uuid:
                        yield Finding(
                            'I13', f'CPU {cpu} of {name}', f'is held by guests {other} and {uuid}'
                        )
                if cell.page_kb:
                    pages[cell.node, cell.page_kb] += cell.pages
        for (number, size), count in pages.items():
            has = _pages(known.get(name), number, size)
            if has is not None and count > has:
                what = f'pages of {size} KiB on node {number} of {name}'
                yield Finding('I13', what, f'guests hold {count} of {has}')


def devices_held_once(snapshot: observed.Snapshot) -> Iterator[findings.Finding]:
    """I13: no PCI device of a host is held by two guests, nor with its physical function."""
    known = hosts(snapshot)
    for name, guests in parts_of(snapshot).items():
        host = known.get(name)
        parents = {device.address: device.parent for device in host.devices} if host else {}
        owners = {
            (address, uuid)
            for uuid, parts in guests.items()
            for held in parts
            for _alias, address in held.devices
        }
        of_address = dict(sorted(owners))
        for address, uuid in sorted(owners):
            subject = f'PCI device {address} of {name}'
            if of_address[address] != uuid:
                other = of_address[address]
                yield Finding('I13', subject, f'is held by guests {uuid} and {other}')
            parent = parents.get(address)
            if parent in of_address:
                other = of_address[parent]
                yield Finding('I13', subject, f'is held by {uuid}, its parent by {other}')
            if host is not None and address not in parents:
                yield Finding('I13', subject, f'is held by guest {uuid} and does not exist')


def recorded(snapshot: observed.Snapshot) -> Iterator[findings.Finding]:
    """I13: a node's record has the parts of it that its guests hold, and no others.

    A move holds its destination before its guest arrives.
    """
    there = parts_of(snapshot)
    passing = snapshot.busy() | {row.uuid for _cell, row in snapshot.instances() if row.task_state}
    for cell in snapshot.cells:
        for node in cell.nodes:
            if node.host in cell.down:
                continue
            name = node.hypervisor_hostname
            reported = _reported(node)
            found = there.get(name, {})
            for uuid in (reported.keys() | found.keys()) - passing:
                has, says = found.get(uuid, set()), reported.get(uuid, set())
                if has != says:
                    what = f'parts of {name} that guest {uuid} holds'
                    yield Finding('I13', what, f'are {_shown(has)}, on record {_shown(says)}')


def given(snapshot: observed.Snapshot) -> Iterator[findings.Finding]:
    """I13: a server at rest that asks for NUMA nodes or devices holds such parts of its host."""
    known = hosts(snapshot)
    there = parts_of(snapshot)
    for _cell, row in snapshot.resting():
        host = known.get(row.node)
        if host is None or row.vm_state in FAILED:
            continue
        guest = _guest(row)
        parts = there.get(row.node, {}).get(row.uuid, set())
        own = [held for held in parts if held.request == guest.request]
        if guest.on(host.virtual_classes).has_parts and not own:
            wanted = 'NUMA nodes' if guest.nodes else 'PCI devices'
            yield Finding('I13', f'server {row.uuid}', f'asks for {wanted}, has none on {row.node}')
        for held in own:
            for alias, address in _misfits(host, guest, held):
                what = f'holds PCI device {address} of {row.node}, which does not fit alias {alias}'
                yield Finding('I13', f'server {row.uuid}', what)


def _misfits(
    host: topology.Host, guest: constraints.Constraints, held: topology.Held
) -> Iterator[tuple[str, str]]:
    """Yield (alias, address) of held devices of the host that are not such as were asked for.

    Whether they can migrate live is not looked at, since the options of the host may change it.
    """
    devices = {device.address: device for device in host.devices}
    for alias, address in held.devices:
        specs = (spec for each in guest.devices if each.name == alias for spec in each.specs)
        device = devices.get(address)
        if device is not None and not any(
            dataclasses.replace(spec, live_migratable=None).fits(device) for spec in specs
        ):
            yield alias, address


def hosts(snapshot: observed.Snapshot) -> dict[str, topology.Host | None]:
    """Return {name of a node: its host as it reports it}; None: only a number of nodes is known."""
    return {node.hypervisor_hostname: _host(node) for cell in snapshot.cells for node in cell.nodes}


def _host(node: rows.Row) -> topology.Host | None:
    described = (node.numa or {}).get('host')
    return topology.Host.from_dict(described) if described else None


def _reported(node: rows.Row) -> dict[str, set[topology.Held]]:
    return {
        uuid: {topology.Held.from_dict(held) for held in parts}
        for uuid, parts in (node.numa or {}).get('guests', {}).items()
    }


def parts_of(snapshot: observed.Snapshot) -> dict[str, dict[str, set[topology.Held]]]:
    """Return {node: {guest: parts}}. A guest may be on a node twice, at both ends of a move."""
    found: dict[str, dict[str, set[topology.Held]]] = {}
    for guest in snapshot.guests:
        if guest.spec is not None and guest.spec.parts:
            found.setdefault(guest.node, {}).setdefault(guest.uuid, set()).update(guest.spec.parts)
    return found


def device_allocations(
    node: rows.Row, row: rows.Row, flavor: dict[str, typing.Any]
) -> dict[str, dict[str, int]]:
    """Return the allocations of devices that a server with a flavor holds on a node."""
    # Reading a host takes time.
    if not flavor.get('devices'):
        return {}
    numa = node.numa or {}
    parts = (numa.get('guests') or {}).get(row.uuid)
    host = _host(node)
    if not parts or host is None:
        return {}
    found = map(topology.Held.from_dict, parts)
    request = _guest(row, flavor).request
    return placed_devices.allocations(
        node.uuid, host.devices, placed_devices.addresses(found, request)
    )


def virtual_classes(node: rows.Row, flavor: dict[str, typing.Any]) -> frozenset[str]:
    """Return the resource classes of the virtual GPUs of a node that a flavor may ask for."""
    host = _host(node) if flavor.get('devices') else None
    return host.virtual_classes if host else frozenset()


def _guest(row: rows.Row, flavor: dict[str, typing.Any] | None = None) -> constraints.Constraints:
    try:
        return constraints.of(
            constraints.Asked.of(flavor or row.flavor, row.image_properties or {})
        )
    except exception.Invalid:
        return constraints.NONE


def _pages(host: topology.Host | None, number: int, size: int) -> int | None:
    """Return how many pages of a size a node of a host has for guests, or None if unknown."""
    for node in host.nodes if host else ():
        for pages in node.pages:
            if (node.id, pages.size_kb) == (number, size):
                return pages.total - pages.reserved
    return None


def _shown(parts: set[topology.Held]) -> list[list[int | str]]:
    """Return the CPUs that parts have, of each node, and the addresses of devices."""
    found: list[list[int | str]] = []
    for held in parts:
        found.extend(sorted(cell.dedicated) for cell in held.cells)
        if held.devices:
            found.append([address for _name, address in held.devices])
    return sorted(found, key=repr)
