"""Choose PCI devices for a guest. Without I/O; equal questions get equal answers."""

import collections
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import typing

from nova_lite.lifecycle.guests import pci as guest_pci
from nova_lite.virt import pci

# Pairs of the name of a request and the address of a device.
Chosen: typing.TypeAlias = tuple[tuple[str, str], ...]
# The work for one guest on one host: devices that are tried, and sets of NUMA nodes, of which each
# counts as several tries.
MOST_TRIES = 10_000
TRIES_OF_SET = 10
UNFINISHED = f'no devices were found in {MOST_TRIES} tries, and there are more ways to choose them'


@dataclasses.dataclass(frozen=True)
class Near:
    """The NUMA nodes of the host that a guest uses.

    sockets: {id of a node: its socket} of all nodes of the host
    strict: whether the policy "preferred" allows devices on these nodes only
    """

    nodes: frozenset[int]
    sockets: Mapping[int, int]
    strict: bool = False

    def rank(self, place: int | None, policy: str) -> int | None:
        """Return how far a device is, 0 for near; None if the policy does not allow it.

        place: the NUMA node of the device, None if unknown
        """
        if place in self.nodes:
            return 0
        if policy == guest_pci.SOCKET:
            near = {self.sockets[node] for node in self.nodes}
            return 1 if place is not None and self.sockets.get(place) in near else None
        if policy == guest_pci.PREFERRED and not self.strict:
            return 1 if place is None else 2
        return 1 if policy == guest_pci.LEGACY and place is None else None


@dataclasses.dataclass(frozen=True)
class _Kind:
    """Free devices that can be exchanged for each other.

    ranks: how far they are, for each request; None if it may not have them
    own: the address of a physical function with free virtual functions, which is alone in its kind
    """

    ranks: tuple[int | None, ...]
    parent: str | None
    own: str | None
    addresses: tuple[str, ...]

    def excludes(self, other: '_Kind') -> bool:
        """Return whether devices of both cannot be in use at the same time."""
        return (self.own or '') == other.parent or (other.own or '') == self.parent


class Question:
    """The question which devices a guest gets. It may be asked for several sets of NUMA nodes.

    tries: those that are left
    """

    def __init__(self, free: Sequence[pci.Device], requests: Sequence[guest_pci.Request]) -> None:
        self._requests = requests
        self.tries = MOST_TRIES
        parents = {device.parent for device in free}
        found = collections.defaultdict[typing.Any, list[str]](list)
        for device in free:
            fits = tuple(request.fits(device) for request in requests)
            own = device.address if device.address in parents else None
            found[fits, device.node, device.parent, own].append(device.address)
        self._groups = dict(found)

    def choose(self, near: Near | None, *, keep: int = 0) -> Chosen | str:
        """Return devices, in the order of the requests, or the reason for a refusal.

        near: None if the guest has no NUMA nodes, so that any device will do
        keep: number of tries to leave
        """
        self.tries -= TRIES_OF_SET
        kinds = self._kinds(near)
        for index, request in enumerate(self._requests):
            number = sum(len(each.addresses) for each in kinds if each.ranks[index] is not None)
            if number < request.count:
                return _lack(request, number, near)
        if len(self._requests) == 1:
            return self._nearest(kinds)
        search = _Search(self._requests, kinds, self.tries - keep)
        found = search.run()
        self.tries -= search.tries
        return found

    def _kinds(self, near: Near | None) -> list[_Kind]:
        found = collections.defaultdict[typing.Any, list[str]](list)
        for (fits, place, parent, own), addresses in self._groups.items():
            ranks = tuple(
                (0 if near is None else near.rank(place, request.policy)) if allowed else None
                for request, allowed in zip(self._requests, fits, strict=True)
            )
            found[ranks, parent, own] += addresses
        return [
            _Kind(ranks, parent, own, tuple(sorted(addresses)))
            for (ranks, parent, own), addresses in found.items()
        ]

    def _nearest(self, kinds: Sequence[_Kind]) -> Chosen:
        """Return devices for the only request, physical functions with virtual ones last."""
        request = self._requests[0]
        order = sorted(
            (kind.ranks[0], kind.own is not None, address)
            for kind in kinds
            if kind.ranks[0] is not None
            for address in kind.addresses
        )
        return tuple((request.name, address) for *_rank, address in order[: request.count])


def choose(
    free: Sequence[pci.Device], requests: Sequence[guest_pci.Request], near: Near | None
) -> Chosen | str:
    """Return the devices for a guest, or the reason for a refusal. See `Question.choose`."""
    return Question(free, requests).choose(near)


def _lack(request: guest_pci.Request, number: int, near: Near | None) -> str:
    place = ''
    if near is not None:
        places = 'NUMA nodes ' + ', '.join(map(str, sorted(near.nodes)))
        place = f' for {places} by policy "{request.policy}"'
    return f'{number} devices {request.of} are free{place}, not {request.count}'


class _Search:
    """Tries devices for several requests, which may want the same ones.

    most: number of tries after which the search ends without a result
    tries: those that were made
    """

    def __init__(
        self, requests: Sequence[guest_pci.Request], kinds: Sequence[_Kind], most: int
    ) -> None:
        self._requests, self._kinds, self._most = requests, kinds, most
        self.tries = 0
        # A try among many kinds takes longer.
        self._cost = 1 + len(kinds) // 50
        indexes = range(len(requests))
        self._has = [
            [k for k, kind in enumerate(kinds) if kind.ranks[i] is not None] for i in indexes
        ]
        self._excluded = [
            [k for k, other in enumerate(kinds) if kind.excludes(other)] for kind in kinds
        ]
        numbers = [sum(len(kinds[k].addresses) for k in has) for has in self._has]
        roles = sorted({self._role(kind) for kind in kinds}, key=repr)
        self._roles = [roles.index(self._role(kind)) for kind in kinds]
        cards = collections.defaultdict[typing.Any, list[int]](list)
        for k in sorted(range(len(kinds)), key=lambda k: self._roles[k]):
            cards[kinds[k].own or kinds[k].parent or k].append(k)
        self._cards = list(cards.values())
        # The request with the least choice is first.
        self._order = sorted(indexes, key=lambda index: numbers[index] - requests[index].count)
        self._number = sum(request.count for request in requests)

    def run(self) -> Chosen | str:
        start = tuple(len(kind.addresses) for kind in self._kinds)
        if not self._may_suffice(0, start):
            return self._refusal()
        units = [index for index in self._order for _count in range(self._requests[index].count)]
        # For each unit: the numbers of devices that are left for it, and the kinds yet to try.
        stack = [(start, self._candidates(units[0], start))]
        chosen: list[int] = []
        dead: set[object] = set()
        while stack:
            unit = len(chosen)
            left, candidates = stack[-1]
            kind = next(candidates, None)
            if kind is None:
                dead.add(self._state(unit, left))
                stack.pop()
                del chosen[-1:]
                continue
            self.tries += self._cost
            if self.tries > self._most:
                return UNFINISHED
            unit, after = unit + 1, self._without(left, kind)
            if unit == len(units):
                return self._named(units, [*chosen, kind])
            if self._may_suffice(unit, after) and self._state(unit, after) not in dead:
                chosen.append(kind)
                stack.append((after, self._candidates(units[unit], after)))
        return self._refusal()

    @staticmethod
    def _role(kind: _Kind) -> tuple[object, ...]:
        return kind.ranks, kind.own is not None

    def _state(self, unit: int, left: tuple[int, ...]) -> object:
        """Return a value that is equal for states of which both, or none, have a solution.

        Cards with as many devices of the same roles can be exchanged.
        """
        cards = (tuple((self._roles[k], left[k]) for k in card if left[k]) for card in self._cards)
        return unit, tuple(sorted(cards))

    def _refusal(self) -> str:
        names = ', '.join(f'{each.count} {each.of}' for each in self._requests)
        return f'no devices are free for all of: {names}'

    def _without(self, left: tuple[int, ...], kind: int) -> tuple[int, ...]:
        """Return how many devices of each kind are left beside one more of a kind."""
        after = list(left)
        after[kind] -= 1
        for other in self._excluded[kind]:
            after[other] = 0
        return tuple(after)

    def _may_suffice(self, unit: int, left: tuple[int, ...]) -> bool:
        """Return whether enough devices are left for the units from `unit` on, roughly.

        It looks at each request alone, and at all together.
        """
        ends, usable = 0, set[int]()
        for index in self._order:
            ends += self._requests[index].count
            needed = min(ends - unit, self._requests[index].count)
            if needed > 0:
                if sum(left[kind] for kind in self._has[index]) < needed:
                    return False
                usable.update(self._has[index])
        return sum(left[kind] for kind in usable) >= self._number - unit

    def _candidates(self, index: int, left: tuple[int, ...]) -> Iterator[int]:
        """Yield the kinds that a request may have, the one to prefer first."""

        def key(kind: int) -> tuple[object, ...]:
            found = self._kinds[kind]
            return (
                found.ranks[index],
                found.own is not None and any(left[other] for other in self._excluded[kind]),
                sum(rank is not None for rank in found.ranks),
                found.addresses[-left[kind]],
            )

        return iter(sorted((kind for kind in self._has[index] if left[kind]), key=key))

    def _named(self, units: Sequence[int], chosen: Sequence[int]) -> Chosen:
        """Return the devices of a kind for each unit. Those with lower addresses go first."""
        rest = [iter(kind.addresses) for kind in self._kinds]
        found: dict[int, list[str]] = {}
        for index, kind in zip(units, chosen, strict=True):
            found.setdefault(index, []).append(next(rest[kind]))
        return tuple(
            (request.name, address)
            for index, request in enumerate(self._requests)
            for address in sorted(found[index])
        )
