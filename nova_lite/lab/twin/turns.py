"""The order in which guests with NUMA nodes are booted, so that they get the nodes that they have.

A host chooses the nodes of each guest by what the guests before it hold. Guests of one host are
booted in turns, one in each, in an order in which its choices are those of the cloud. Guests with
devices come last: their nodes depend on the devices that placement chooses.
"""

from collections.abc import Iterable
from collections.abc import Iterator
import dataclasses

from nova_lite.lab.twin import numa
from nova_lite.lifecycle import fitting
from nova_lite.lifecycle.guests import constraints
from nova_lite.virt import topology

# Number of sets of guests of a host after which the search for an order ends.
TRIES = 200


@dataclasses.dataclass(frozen=True)
class Guest:
    """A guest with NUMA nodes. uuid: of its server; parts: what it holds, () if not known

    has_devices: whether its flavor asks for devices
    """

    uuid: str
    wanted: constraints.Constraints
    parts: tuple[numa.Part, ...]
    has_devices: bool = False

    def has_nodes_of(self, held: topology.Held) -> bool:
        """Return whether the nodes of the host that it has are those of a fit."""
        return [part.node for part in self.parts] == [cell.node for cell in held.cells]


@dataclasses.dataclass
class Order:
    """The guests of a host. turns: uuids in the order of their boots

    elsewhere: uuids of guests without devices that get other nodes
    without: uuids of those that do not fit
    """

    turns: list[str] = dataclasses.field(default_factory=list)
    elsewhere: list[str] = dataclasses.field(default_factory=list)
    without: list[str] = dataclasses.field(default_factory=list)


def arrange(host: topology.Host, ratios: fitting.Ratios, guests: Iterable[Guest]) -> Order:
    """Return the order of the guests of a host. Where no guest gets its nodes, the largest is next.

    An order in which all guests get their nodes is looked for with TRIES.
    """
    ordered = sorted(guests, key=lambda guest: (_size(guest), guest.uuid))
    plain = [guest for guest in ordered if not guest.has_devices]
    rooms, found = fitting.rooms(host), Order()
    exact = _Search(ratios).order(rooms, plain)
    for group in (plain if exact is None else exact, [g for g in ordered if g.has_devices]):
        rooms = _add(found, rooms, ratios, group)
    return found


def _add(
    found: Order, rooms: fitting.Rooms, ratios: fitting.Ratios, guests: Iterable[Guest]
) -> fitting.Rooms:
    """Add guests to an order. Return the rooms beside them."""
    left = list(guests)
    while left:
        first = None
        for guest, held in _fits(rooms, ratios, left):
            first = first or (guest, held)
            if guest.has_nodes_of(held):
                break
        else:
            if first is None:
                found.without += [guest.uuid for guest in left]
                return rooms
            guest, held = first
            if not guest.has_devices:
                found.elsewhere.append(guest.uuid)
        found.turns.append(guest.uuid)
        rooms = fitting.without(rooms, held)
        left.remove(guest)
    return rooms


def _fits(
    rooms: fitting.Rooms, ratios: fitting.Ratios, guests: Iterable[Guest]
) -> Iterator[tuple[Guest, topology.Held]]:
    """Yield the guests that fit, with the parts of the rooms that each one would get."""
    for guest in guests:
        held = fitting.fit(rooms, guest.wanted, ratios)
        if isinstance(held, topology.Held):
            yield guest, held


class _Search:
    """Looks for an order in which all guests of a host get their nodes."""

    def __init__(self, ratios: fitting.Ratios) -> None:
        self._ratios, self._tries = ratios, TRIES
        # Sets of uuids after which no order was found.
        self._failed: set[frozenset[str]] = set()

    def order(self, rooms: fitting.Rooms, left: list[Guest]) -> list[Guest] | None:
        """Return an order of the guests that are left; None if there is none, or no try is left."""
        if not left:
            return []
        key = frozenset(guest.uuid for guest in left)
        if key in self._failed or not self._tries:
            return None
        self._tries -= 1
        for guest, held in _fits(rooms, self._ratios, left):
            if guest.has_nodes_of(held):
                others = [each for each in left if each is not guest]
                found = self.order(fitting.without(rooms, held), others)
                if found is not None:
                    return [guest, *found]
        self._failed.add(key)
        return None


def _size(guest: Guest) -> tuple[int, int]:
    """Return numbers by which the largest guest is the first."""
    memory_mb = sum(node.memory_mb for node in guest.wanted.nodes)
    return -len(guest.wanted.dedicated), -memory_mb
