"""Fit a guest's NUMA nodes and PCI devices into those of a host.

Without I/O; equal questions get equal answers. Each node of a guest gets a node of the host for
itself, so the fit is a matching of both, found by augmenting paths. Its time grows with the third
power of the number of nodes at most. Devices restrict it to sets of nodes that must be used.
"""

from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
import dataclasses
import itertools
import typing

from nova_lite.lifecycle import device_fitting
from nova_lite.lifecycle.guests import constraints
from nova_lite.lifecycle.guests import memory
from nova_lite.lifecycle.guests import pci as guest_pci
from nova_lite.lifecycle.guests import pinning
from nova_lite.objects import guest_numa
from nova_lite.virt import pci
from nova_lite.virt import topology

Core: typing.TypeAlias = tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class Ratios:
    """Allocation ratios of shared CPUs, and of memory that need not be in pages of one size.

    packs: whether guests get the fullest nodes instead of the emptiest
    """

    cpu: float = 1.0
    ram: float = 1.0
    packs: bool = False


@dataclasses.dataclass(frozen=True)
class Room:
    """A node of a host, and the parts of it that guests hold.

    free: dedicated CPUs that no guest holds
    shared, memory_mb, pages: shared CPUs, MiB and {KiB: number of pages} that guests hold
    """

    node: topology.Node
    free: frozenset[int]
    shared: int = 0
    memory_mb: int = 0
    pages: typing.Mapping[int, int] = dataclasses.field(default_factory=dict)

    def with_cell(self, cell: topology.Cell) -> 'Room':
        """Return the room with one more guest."""
        pages = self.pages
        if cell.page_kb:
            pages = {**pages, cell.page_kb: pages.get(cell.page_kb, 0) + cell.pages}
        return Room(
            self.node,
            self.free - cell.dedicated,
            self.shared + cell.shared,
            self.memory_mb + cell.memory_mb,
            pages,
        )


@dataclasses.dataclass(frozen=True)
class Rooms:
    """The rooms of a host's NUMA nodes, and its PCI devices that no guest holds."""

    nodes: tuple[Room, ...]
    devices: tuple[pci.Device, ...] = ()


@dataclasses.dataclass(frozen=True)
class Misfit:
    """Why a guest does not fit into a host."""

    reason: str


Cells: typing.TypeAlias = tuple[topology.Cell, ...]


def rooms(host: topology.Host, guests: Iterable[topology.Held] = ()) -> Rooms:
    """Return the rooms of a host beside its guests."""
    found = Rooms(tuple(Room(node, node.dedicated) for node in host.nodes), host.devices)
    for held in guests:
        found = without(found, held)
    return found


def without(left: Rooms, held: topology.Held) -> Rooms:
    """Return the rooms beside one more guest. The host may have had more nodes before."""
    cells = {cell.node: cell for cell in held.cells}
    nodes = tuple(
        room.with_cell(cells[room.node.id]) if room.node.id in cells else room
        for room in left.nodes
    )
    addresses = {address for _name, address in held.devices}
    return Rooms(nodes, pci.without(left.devices, addresses) if addresses else left.devices)


def fit(left: Rooms, guest: constraints.Constraints, ratios: Ratios) -> topology.Held | Misfit:
    """Return the parts of the rooms that a guest holds, or the reason why it does not fit."""
    if len(guest.nodes) > len(left.nodes):
        return Misfit(f'has {len(left.nodes)} NUMA nodes, not {len(guest.nodes)}')
    if guest.requested and not guest.nodes:
        return _held(guest, (), device_fitting.choose(left.devices, guest.requested, None))
    matching = _Matching(left, guest, ratios)
    cells = matching.run()
    if isinstance(cells, Misfit):
        return cells
    if not guest.requested:
        return topology.Held(cells, guest.request)
    return _with_devices(left, guest, matching, cells)


def fit_beside(
    left: Rooms, requests: Sequence[guest_pci.Request], own: topology.Held
) -> topology.Held | Misfit:
    """Return devices of the rooms for a guest that has parts already, or the reason."""
    near = None
    if own.cells:
        sockets = {room.node.id: room.node.socket for room in left.nodes}
        near = device_fitting.Near(frozenset(cell.node for cell in own.cells), sockets)
    return _held(constraints.NONE, (), device_fitting.choose(left.devices, requests, near))


def _held(
    guest: constraints.Constraints, cells: Cells, devices: device_fitting.Chosen | str
) -> topology.Held | Misfit:
    if isinstance(devices, str):
        return Misfit(devices)
    return topology.Held(cells, guest.request, devices)


def _with_devices(
    left: Rooms, guest: constraints.Constraints, matching: '_Matching', first: Cells
) -> topology.Held | Misfit:
    """Return the parts of the rooms for a guest with NUMA nodes and devices, or the reason.

    first: parts of nodes, which are taken if they are near to devices
    """
    sockets = {room.node.id: room.node.socket for room in left.nodes}
    question = device_fitting.Question(left.devices, guest.requested)
    found = question.choose(device_fitting.Near(frozenset(sockets), sockets))
    if isinstance(found, str):
        return Misfit(found)
    is_preferred = guest_pci.PREFERRED in {request.policy for request in guest.requested}
    for strict in (True, False) if is_preferred else (False,):
        # A preference that cannot be met leaves half of the tries.
        keep = device_fitting.MOST_TRIES // 2 if strict else 0
        reason = ''
        for nodes in itertools.chain([None], _node_sets(left, guest, sockets)):
            if question.tries <= keep:
                reason = device_fitting.UNFINISHED
                break
            cells = first if nodes is None else matching.run(nodes)
            if isinstance(cells, Misfit):
                question.tries -= device_fitting.TRIES_OF_SET
                continue
            used = frozenset(cell.node for cell in cells)
            found = question.choose(device_fitting.Near(used, sockets, strict), keep=keep)
            if not isinstance(found, str):
                return topology.Held(cells, guest.request, found)
            reason = reason or found
    return Misfit(reason)


def _node_sets(
    left: Rooms, guest: constraints.Constraints, sockets: typing.Mapping[int, int]
) -> Iterator[tuple[int, ...]]:
    """Yield the sets of nodes that may be near to devices, those with many devices first."""
    numbers = dict.fromkeys(sockets, 0)
    for device in left.devices:
        wanted = {request.policy for request in guest.requested if request.fits(device)}
        if device.node is None or not wanted:
            continue
        by_socket = guest_pci.SOCKET in wanted
        for node, socket in sockets.items():
            if node == device.node or (by_socket and socket == sockets.get(device.node)):
                numbers[node] += 1
    order = sorted((node for node in numbers if numbers[node]), key=lambda node: -numbers[node])
    for size in range(1, len(guest.nodes) + 1):
        yield from itertools.combinations(order, size)


class _Matching:
    """Assigns rooms to a guest's nodes. A node whose rooms are all taken moves another node."""

    def __init__(self, left: Rooms, guest: constraints.Constraints, ratios: Ratios) -> None:
        self._guest, self._ratios = guest, ratios
        # The emptiest node comes first, so that guests spread, or the fullest one. Nodes with
        # devices are left to guests that want these.
        pinned, sign = bool(guest.dedicated), 1 if ratios.packs else -1
        rare = set() if guest.requested else {device.node for device in left.devices}
        self._left = sorted(
            left.nodes,
            key=lambda room: (
                room.node.id in rare,
                sign * len(room.free) if pinned else 0,
                sign * (room.node.memory_mb - room.memory_mb),
                room.node.id,
            ),
        )
        self._owners: list[int | None] = []
        self._cells: dict[tuple[int, int], topology.Cell | str] = {}

    def run(self, nodes: Collection[int] = ()) -> Cells | Misfit:
        """Return the parts for the guest's nodes, with those of all host nodes in `nodes`."""
        self._owners = [None] * len(self._left)
        for place, room in enumerate(self._left):
            if room.node.id in nodes and not self._use(place, set()):
                return Misfit(f'node {room.node.id} cannot be used')
        for index in range(len(self._guest.nodes)):
            if index not in self._owners and not self._assign(index, set()):
                return Misfit(self._reason(index))
        found: dict[int, topology.Cell] = {}
        for place, owner in enumerate(self._owners):
            if owner is not None:
                cell = self._cell(owner, place)
                if isinstance(cell, topology.Cell):
                    found[owner] = cell
        return tuple(found[index] for index in range(len(found)))

    def _use(self, place: int, seen: set[int]) -> bool:
        """Give a place to a node of the guest; one that has a place already is given back."""
        for index in range(len(self._guest.nodes)):
            if index in seen or not self._fits(index, place):
                continue
            seen.add(index)
            if index not in self._owners or self._use(self._owners.index(index), seen):
                self._owners[place] = index
                return True
        return False

    def _assign(self, index: int, seen: set[int]) -> bool:
        for place, owner in enumerate(self._owners):
            if owner is None and self._fits(index, place):
                self._owners[place] = index
                return True
        for place, owner in enumerate(self._owners):
            if owner is None or place in seen or not self._fits(index, place):
                continue
            seen.add(place)
            if self._assign(owner, seen):
                self._owners[place] = index
                return True
        return False

    def _fits(self, index: int, place: int) -> bool:
        return isinstance(self._cell(index, place), topology.Cell)

    def _cell(self, index: int, place: int) -> topology.Cell | str:
        found = self._cells.get((index, place))
        if found is None:
            found = _place(self._left[place], self._guest, index, self._ratios)
            self._cells[index, place] = found
        return found

    def _reason(self, index: int) -> str:
        reasons = [
            f'node {room.node.id}: {reason}'
            for place, room in enumerate(self._left)
            if isinstance(reason := self._cell(index, place), str)
        ]
        if len(reasons) == len(self._left):
            return f'no room for NUMA node {index} of the guest ({"; ".join(sorted(reasons))})'
        return f'no node is left for NUMA node {index} of the guest beside its other nodes'


def _place(
    room: Room, guest: constraints.Constraints, index: int, ratios: Ratios
) -> topology.Cell | str:
    """Return the part of a room for a node of the guest, or the missing resource as a reason."""
    wanted = guest.nodes[index]
    page_kb = _page_size(room, wanted, guest.page_size, ratios)
    if isinstance(page_kb, str):
        return page_kb
    dedicated = [cpu for cpu in wanted.cpus if cpu in guest.dedicated]
    shared, has = len(wanted.cpus) - len(dedicated), len(room.node.shared)
    if shared and (shared > has or room.shared + shared > ratios.cpu * has):
        left = max(0, min(has, int(ratios.cpu * has) - room.shared))
        return f'{left} shared CPUs are free, not {shared}'
    extra = guest.emulator_threads_policy == pinning.ISOLATE and index == 0
    pins: tuple[tuple[int, int], ...] = ()
    reserved, threads = Core(), 1
    if dedicated or extra:
        chosen = _pin(room, len(dedicated), extra, guest.cpu_thread_policy)
        if chosen is None:
            policy = f' with threads by "{guest.cpu_thread_policy}"' * bool(guest.cpu_thread_policy)
            return f'{len(room.free)} dedicated CPUs are free, not {len(dedicated) + extra}{policy}'
        cpus, reserved, threads = chosen
        pins = tuple(zip(dedicated, cpus, strict=True))
    return topology.Cell(
        node=room.node.id,
        cpus=wanted.cpus,
        memory_mb=wanted.memory_mb,
        page_kb=page_kb,
        pins=pins,
        reserved=reserved,
        threads=threads,
    )


def _page_size(
    room: Room, wanted: guest_numa.Node, size: str | int | None, ratios: Ratios
) -> int | str | None:
    """Return the KiB of the pages for a node of the guest (None: any), or a reason for refusal."""
    node, needed_kb = room.node, wanted.memory_mb * topology.KIB_PER_MIB
    if wanted.memory_mb > node.memory_mb:
        return f'it has {node.memory_mb} MiB, not {wanted.memory_mb}'
    if size is None:
        left = int(ratios.ram * node.memory_mb) - room.memory_mb
        if room.memory_mb + wanted.memory_mb > ratios.ram * node.memory_mb:
            return f'{max(0, left)} MiB are free, not {wanted.memory_mb}'
        smallest = node.pages[0]
        if smallest.total * smallest.size_kb < needed_kb:
            return f'it has {smallest.total} pages of {smallest.size_kb} KiB'
        return None
    for pages in _eligible(node.pages, size):
        free = pages.total - pages.reserved - room.pages.get(pages.size_kb, 0)
        if not needed_kb % pages.size_kb and free * pages.size_kb >= needed_kb:
            return pages.size_kb
    name = f'{size} KiB' if isinstance(size, int) else f'size "{size}"'
    return f'it lacks free pages of {name} for {wanted.memory_mb} MiB'


def _eligible(pages: tuple[topology.Pages, ...], size: str | int) -> Iterable[topology.Pages]:
    """Return the pages that a request allows, the largest first."""
    if size == memory.SMALL:
        return pages[:1]
    if size == memory.LARGE:
        return reversed(pages[1:])
    if size == memory.ANY:
        return reversed(pages)
    return (each for each in pages if each.size_kb == size)


def _pin(
    room: Room, number: int, extra: bool, policy: str | None
) -> tuple[list[int], tuple[int, ...], int] | None:
    """Return (CPUs for a guest's CPUs, CPUs held besides, CPUs used of each core), or None.

    extra: whether a CPU for emulator threads is needed as well
    """
    if len(room.free) < number + extra:
        return None
    free, left, whole = room.free, list[Core](), list[Core]()
    for core in room.node.dedicated_cores:
        if free.issuperset(core):
            whole.append(core)
            left.append(core)
        elif not free.isdisjoint(core):
            left.append(tuple(cpu for cpu in core if cpu in free))
    # Cores of which little is left are used up first.
    left.sort(key=len)
    idle: list[int] = []
    threads = 1
    if policy == pinning.ISOLATE:
        if len(whole) < number:
            return None
        chosen = [core[0] for core in whole[:number]]
        idle = [cpu for core in whole[:number] for cpu in core[1:]]
    else:
        threads, fitting = _share_cores(left, number, policy)
        if not threads:
            return None
        used = fitting[: -(-number // threads)]
        chosen = [cpu for core in used for cpu in core[:threads]][:number]
    if extra:
        taken = {*chosen, *idle}
        spare = next((cpu for core in left for cpu in core if cpu not in taken), None)
        if spare is None:
            return None
        idle.append(spare)
    return chosen, tuple(idle), 1 if number % threads else threads


def _share_cores(left: list[Core], number: int, policy: str | None) -> tuple[int, list[Core]]:
    """Return how many CPUs to use of each core, and the cores; (0, []) if there are too few.

    Several threads of a core are used where that is possible, and must be used by "require".
    """
    required = policy == pinning.REQUIRE
    # The largest cores are the last ones.
    most = min(len(left[-1]) if left else 1, max(number, 2 if required else 1))
    for threads in range(most, 1, -1):
        fitting = [core for core in left if len(core) >= threads]
        if len(fitting) * threads >= number:
            return threads, fitting
    if required and number:
        return 0, []
    return 1, [(cpu,) for core in left for cpu in core]
