"""Claims: resources of the nodes of this process that guests use or will use.

Placement has decided already. The host checks its actual resources as well, because placement does
not know guests of failed moves, other remains, and builds with outdated answers, and because only
the host chooses CPUs and pages of NUMA nodes, and PCI devices. Nothing is stored: the sum of a node
is read from the driver.
"""

import collections
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
import dataclasses
import typing

import os_resource_classes as orc

from nova_lite import exception
from nova_lite import runtime
from nova_lite.lifecycle import fitting
from nova_lite.lifecycle import placed_devices
from nova_lite.lifecycle.guests import constraints
from nova_lite.lifecycle.guests import port_requests
from nova_lite.virt import driver as protocol
from nova_lite.virt import model
from nova_lite.virt import topology

CLASSES = (orc.VCPU, orc.MEMORY_MB, orc.DISK_GB)

# {resource class: amount}. VCPU does not count pinned CPUs.
Amounts: typing.TypeAlias = Mapping[str, float]


@dataclasses.dataclass(frozen=True)
class Claim:
    """The resources of one guest. A guest that moves within its node may hold parts twice."""

    amounts: Amounts
    numa: tuple[topology.Held, ...] = ()


# {guest uuid: claim} of a node.
Held: typing.TypeAlias = dict[str, Claim]


@dataclasses.dataclass(frozen=True)
class Ask:
    """A guest's request for parts of its host. host, ratios: those of the node

    given: the allocations by which it gets devices; None if it has none
    """

    guest: constraints.Constraints
    host: topology.Host
    ratios: fitting.Ratios
    given: placed_devices.Given | None = None


def amounts(spec: model.GuestSpec, *, pinned: int = 0) -> Amounts:
    """Return {resource class: amount} of a guest's definition. pinned: number of dedicated CPUs"""
    return {orc.VCPU: spec.vcpus - pinned, orc.MEMORY_MB: spec.memory_mb, orc.DISK_GB: spec.disk_gb}


class Claims:
    """The claims of all nodes of a driver.

    noted: called with the name of a node when the parts of it that its guests hold have changed
    """

    def __init__(
        self, driver: protocol.Driver, noted: Callable[[str], None] = lambda node: None
    ) -> None:
        self._driver = driver
        self._noted = noted
        self._lock = runtime.Lock()
        self._nodes: dict[str, Held] = {}
        # (guest, port) of devices that are being plugged, so that guests do not have them yet.
        self._plugging: set[tuple[str, str | None]] = set()

    def claim(
        self, node: str, guest: str, wanted: Amounts, limits: Amounts, *, ask: Ask | None = None
    ) -> None:
        """Claim `wanted` for a guest, in place of its former amounts.

        limits: {class: amount} that all claims of the node together may have
        Raises NoCapacity, without any change.
        """
        with self._lock:
            held = self._of(node)
            for name in CLASSES:
                used = sum(part.amounts[name] for owner, part in held.items() if owner != guest)
                if wanted[name] and used + wanted[name] > limits[name]:
                    raise exception.NoCapacity(
                        reason=f'{node} has {limits[name] - used:g} of {name} left, '
                        f'{wanted[name]} are needed'
                    )
            former = held[guest].numa if guest in held else ()
            numa = _with_nodes(node, held, former, ask)
            held[guest] = Claim(wanted, numa)
        self._note(node, former, numa)

    def with_nodes(
        self, node: str, spec: model.GuestSpec, guest: constraints.Constraints
    ) -> model.GuestSpec:
        """Return a guest's definition with the parts of the node that it has claimed."""
        parts = self._parts(node, spec.uuid)
        if not parts:
            return spec
        return _with_addresses(dataclasses.replace(spec, numa=_held_for(guest, parts)), parts)

    def with_ports(self, node: str, spec: model.GuestSpec) -> model.GuestSpec:
        """Return a guest's definition with the devices of its ports that it has claimed."""
        return _with_addresses(spec, self._parts(node, spec.uuid))

    def devices(self, node: str, guest: str, request: str) -> set[str]:
        """Return the addresses of devices that a guest has claimed. See Constraints.request"""
        return placed_devices.addresses(self._parts(node, guest), request)

    def port_devices(self, node: str, guest: str) -> dict[str, str]:
        """Return {port id: address of its device} of a guest's claim."""
        return topology.port_devices(self._parts(node, guest))

    def claim_port(self, node: str, guest: str, ask: Ask) -> str:
        """Claim a device for the port of a guest, the only one of `ask`. Return its address.

        A repetition finds the claimed device. Raise NoCapacity, or GuestNotFound.
        """
        (port,) = ask.guest.ports
        with self._lock:
            held = self._of(node)
            if guest not in held:
                raise exception.GuestNotFound(uuid=guest, node=node)
            former = held[guest].numa
            numa = _with_nodes(node, held, former, ask)
            if numa != former:
                held[guest] = dataclasses.replace(held[guest], numa=numa)
                self._plugging.add((guest, port.name))
        self._note(node, former, numa)
        return topology.port_devices(numa)[port.name]

    def settle_port(self, node: str, guest: str, port: str) -> None:
        """End the plugging of a port: release its device unless the guest has it."""
        try:
            there = self._driver.get_guest(node, guest).spec
        except exception.GuestNotFound:
            there = None
        with self._lock:
            self._plugging.discard((guest, port))
            claim = self._of(node).get(guest)
            if claim is None:
                return
            others = tuple(part for part in claim.numa if part.port != port)
            own = [part for part in there.parts if part.port == port] if there else []
            numa = (*others, *own)
            # A new claim even if it is equal: guests that were listed before do not have the port.
            self._of(node)[guest] = dataclasses.replace(claim, numa=numa)
        self._note(node, claim.numa, numa)

    def _parts(self, node: str, guest: str) -> tuple[topology.Held, ...]:
        with self._lock:
            claim = self._of(node).get(guest)
            return claim.numa if claim else ()

    def keep_nodes(self, node: str, spec: model.GuestSpec) -> model.GuestSpec:
        """Return a guest's new definition with the parts of the node that it holds."""
        parts = self._parts(node, spec.uuid)
        if not parts:
            return spec
        spec = _with_addresses(spec, parts)
        try:
            numa = self._driver.get_guest(node, spec.uuid).spec.numa
        except exception.GuestNotFound:
            return spec
        return dataclasses.replace(spec, numa=numa)

    def release(self, node: str, guest: str) -> None:
        """Release the claim of a guest, if there is one."""
        with self._lock:
            claim = self._of(node).pop(guest, None)
        self._note(node, claim.numa if claim else (), ())

    def release_old(self, node: str, guest: str, before: Held) -> None:
        """Release the claim of a guest unless it has changed. before: former result of `held`"""
        with self._lock:
            held, old = self._of(node), before.get(guest)
            if old is None or held.get(guest) is not old:
                return
            del held[guest]
        self._note(node, old.numa, ())

    def held(self, node: str) -> Held:
        """Return {guest: claim} of the node's current claims, for `refresh`."""
        with self._lock:
            return dict(self._of(node))

    def numa(self, node: str, *, occupied: bool) -> dict[str, list[topology.Json]]:
        """Return {guest: parts of the node} of the guests that hold some, as plain values.

        occupied: whether the driver has guests on the node
        """
        with self._lock:
            if not occupied and node not in self._nodes:
                return {}
            return {
                guest: [held.to_dict() for held in claim.numa]
                for guest, claim in sorted(self._of(node).items())
                if claim.numa
            }

    def settle(self, node: str, guest: str) -> None:
        """Set the claim of a guest to its resources on the node. Drop it if the guest is absent."""
        try:
            there = [self._driver.get_guest(node, guest)]
        except exception.GuestNotFound:
            there = []
        with self._lock:
            held = self._of(node)
            former = held.pop(guest, None)
            held.update(_claims_of(there))
            numa = held[guest].numa if guest in held else ()
        self._note(node, former.numa if former else (), numa)

    def refresh(
        self, node: str, guests: Iterable[model.Guest], keep: Collection[str], before: Held
    ) -> None:
        """Correct the claims by the guests that the driver has just listed.

        keep: guests whose claims do not change
        before: claims of the node before the guests were listed; newer claims do not change
        """
        with self._lock:
            found = _claims_of(guests)
            for guest, part in self._of(node).items():
                if guest in keep or part is not before.get(guest):
                    found[guest] = part
                elif guest in found:
                    found[guest] = self._with_plugging(guest, found[guest], part)
            former, self._nodes[node] = _numa_of(self._nodes[node]), found
            numa = _numa_of(found)
        self._note(node, former, numa)

    def _with_plugging(self, guest: str, found: Claim, former: Claim) -> Claim:
        """Return a claim with the devices of ports that are being plugged into the guest."""
        missing = tuple(
            part
            for part in former.numa
            if (guest, part.port) in self._plugging and part not in found.numa
        )
        return dataclasses.replace(found, numa=(*found.numa, *missing)) if missing else found

    def used(self, node: str) -> Amounts:
        """Return {class: amount} of all claims of the node together."""
        with self._lock:
            total: collections.Counter[str] = collections.Counter()
            for part in self._of(node).values():
                total.update(part.amounts)
            return {name: total[name] for name in CLASSES}

    def _of(self, node: str) -> Held:
        if node not in self._nodes:
            # A job that ends meanwhile is listed, or its guest has the device.
            jobs = self._driver.list_jobs(node)
            self._nodes[node] = held = _claims_of(self._driver.list_guests(node))
            for guest, part in _being_plugged(jobs):
                if guest in held and part not in held[guest].numa:
                    held[guest] = dataclasses.replace(held[guest], numa=(*held[guest].numa, part))
                    self._plugging.add((guest, part.port))
        return self._nodes[node]

    def _note(self, node: str, before: object, after: object) -> None:
        if before != after:
            self._noted(node)


def _with_nodes(
    node: str, held: Held, former: tuple[topology.Held, ...], ask: Ask | None
) -> tuple[topology.Held, ...]:
    """Return the former parts of a guest, and new ones unless they fit its request."""
    if ask is None:
        return former
    own, named = _held_for(ask.guest, former), {part.port for part in former}
    ports = tuple(port for port in ask.guest.ports if port.name not in named)
    guest = ask.guest.on(ask.host.virtual_classes)
    has_own = own is not None or not (guest.nodes or guest.devices)
    if has_own and not ports:
        return former
    parts = [part for claim in held.values() for part in claim.numa]
    rooms = fitting.rooms(ask.host, parts)
    if ask.given is not None:
        rooms = ask.given.limit(rooms, ports)
    if own is not None:
        found = fitting.fit_beside(rooms, ports, own)
    else:
        found = fitting.fit(rooms, dataclasses.replace(guest, ports=ports), ask.ratios)
    if isinstance(found, fitting.Misfit):
        raise exception.NoCapacity(reason=f'{node}: {found.reason}')
    found = dataclasses.replace(found, request=ask.guest.request)
    return (*former, *_divided(found, ports, with_own=not has_own))


def _divided(
    found: topology.Held, ports: Iterable[port_requests.PortRequest], *, with_own: bool
) -> Iterator[topology.Held]:
    """Yield the parts for a guest itself, and one for each of its ports."""
    names = {port.name for port in ports}
    if with_own:
        devices = tuple(pair for pair in found.devices if pair[0] not in names)
        yield dataclasses.replace(found, devices=devices)
    yield from (topology.Held.of_port(*pair) for pair in found.devices if pair[0] in names)


def _being_plugged(jobs: Iterable[model.Job]) -> Iterator[tuple[str, topology.Held]]:
    """Yield (guest, part) of devices of ports that running jobs plug into guests."""
    for job in jobs:
        address = job.device.data.get(model.PCI_ADDRESS) if job.device else None
        if job.device is not None and address is not None:
            yield job.guest, topology.Held.of_port(job.device.id, address)


def _with_addresses(spec: model.GuestSpec, parts: Iterable[topology.Held]) -> model.GuestSpec:
    """Return a guest's definition with the devices of its ports, according to its parts."""
    claimed = topology.port_devices(parts)
    if not claimed:
        return spec
    devices = tuple(
        dataclasses.replace(each, data={**each.data, model.PCI_ADDRESS: claimed[each.id]})
        if each.kind is model.DeviceKind.INTERFACE and each.id in claimed
        else each
        for each in spec.devices
    )
    return dataclasses.replace(spec, devices=devices)


def _held_for(
    guest: constraints.Constraints, numa: Iterable[topology.Held]
) -> topology.Held | None:
    """Return the parts that were chosen for a guest with these constraints, or None."""
    return next((held for held in numa if held.request == guest.request), None)


def _numa_of(held: Held) -> dict[str, tuple[topology.Held, ...]]:
    return {guest: claim.numa for guest, claim in held.items() if claim.numa}


def _claims_of(guests: Iterable[model.Guest]) -> Held:
    """Return {guest: claim}. Of a guest that is listed twice, the larger amounts count."""
    found: Held = {}
    for guest in guests:
        numa = guest.spec.numa
        part = amounts(guest.spec, pinned=numa.pinned if numa else 0)
        former = found.get(guest.uuid, Claim(part))
        found[guest.uuid] = Claim(
            {name: max(part[name], former.amounts[name]) for name in CLASSES},
            # A guest may use the same parts at both ends of its move.
            tuple(dict.fromkeys((*former.numa, *guest.spec.parts))),
        )
    return found
