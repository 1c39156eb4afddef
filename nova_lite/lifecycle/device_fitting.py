"""Choose PCI devices for a guest. Without I/O; equal questions get equal answers."""

import collections
from collections.abc import Mapping
from collections.abc import Sequence
import dataclasses
import typing

from nova_lite.lifecycle.guests import pci as guest_pci
from nova_lite.virt import pci

# Pairs of the name of a request and the address of a device.
Chosen: typing.TypeAlias = tuple[tuple[str, str], ...]
# Devices that are tried for one guest with several requests.
MOST_TRIES = 5000


@dataclasses.dataclass(frozen=True)
class Near:
    """The NUMA nodes of the host that a guest uses.

    sockets: {id of a node: its socket} of all nodes of the host
    strict: whether the policy "preferred" allows devices on these nodes only
    """

    nodes: frozenset[int]
    sockets: Mapping[int, int]
    strict: bool = False

    def rank(self, device: pci.Device, policy: str) -> int | None:
        """Return how far a device is, 0 for near; None if the policy does not allow it."""
        if device.node in self.nodes:
            return 0
        if policy == guest_pci.SOCKET:
            near = {self.sockets[node] for node in self.nodes}
            return 1 if device.node is not None and self.sockets.get(device.node) in near else None
        if policy == guest_pci.PREFERRED and not self.strict:
            return 1 if device.node is None else 2
        return 1 if policy == guest_pci.LEGACY and device.node is None else None


def choose(
    free: Sequence[pci.Device], requests: Sequence[guest_pci.Request], near: Near | None
) -> Chosen | str:
    """Return the devices for a guest, in the order of its requests, or the reason for a refusal.

    near: None if the guest has no NUMA nodes, so that any device will do
    """
    ranks = [_ranks(free, request, near) for request in requests]
    for request, found in zip(requests, ranks, strict=True):
        if len(found) < request.count:
            return _lack(request, len(found), near)
    if len(requests) == 1:
        request, found = requests[0], ranks[0]
        parents = {device.parent for device in free}
        order = sorted(found, key=lambda each: (found[each], each in parents, each))
        return tuple((request.name, address) for address in order[: request.count])
    return _Search(free, requests, ranks).run()


def _ranks(
    free: Sequence[pci.Device], request: guest_pci.Request, near: Near | None
) -> dict[str, int]:
    """Return {address: rank} of the devices that a request may have."""
    found = {}
    for device in free:
        if request.fits(device):
            rank = 0 if near is None else near.rank(device, request.policy)
            if rank is not None:
                found[device.address] = rank
    return found


def _lack(request: guest_pci.Request, number: int, near: Near | None) -> str:
    place = ''
    if near is not None:
        places = 'NUMA nodes ' + ', '.join(map(str, sorted(near.nodes)))
        place = f' for {places} by policy "{request.policy}"'
    return f'{number} devices of alias {request.name} are free{place}, not {request.count}'


class _Search:
    """Tries devices for several requests, which may want the same ones."""

    def __init__(
        self,
        free: Sequence[pci.Device],
        requests: Sequence[guest_pci.Request],
        ranks: Sequence[dict[str, int]],
    ) -> None:
        self._free, self._requests, self._ranks = tuple(free), requests, ranks
        # The request with the least choice is first.
        order = sorted(
            range(len(requests)), key=lambda index: len(ranks[index]) - requests[index].count
        )
        self._units = [index for index in order for _count in range(requests[index].count)]
        parents = {device.parent for device in free}
        # Devices of a kind can be exchanged.
        self._kinds = {
            device.address: (
                tuple(found.get(device.address) for found in ranks),
                device.parent,
                device.address if device.address in parents else None,
            )
            for device in free
        }
        self._dead: set[object] = set()
        self._tries = 0

    def run(self) -> Chosen | str:
        found = self._find(0, self._free)
        if found is None:
            names = ', '.join(f'{each.count} of alias {each.name}' for each in self._requests)
            return f'no devices are free for all of: {names}'
        addresses: dict[int, list[str]] = {}
        for index, address in zip(self._units, found, strict=True):
            addresses.setdefault(index, []).append(address)
        return tuple(
            (request.name, address)
            for index, request in enumerate(self._requests)
            for address in sorted(addresses[index])
        )

    def _find(self, unit: int, left: tuple[pci.Device, ...]) -> tuple[str, ...] | None:
        """Return addresses for the units from `unit` on, or None."""
        if unit == len(self._units):
            return ()
        state = unit, frozenset(collections.Counter(self._kinds[d.address] for d in left).items())
        if state in self._dead:
            return None
        for device in self._candidates(self._units[unit], left):
            self._tries += 1
            if self._tries > MOST_TRIES:
                return None
            rest = self._find(unit + 1, pci.without(left, device.address))
            if rest is not None:
                return device.address, *rest
        self._dead.add(state)
        return None

    def _candidates(self, index: int, left: tuple[pci.Device, ...]) -> list[pci.Device]:
        """Return a device of each kind that a request may have, the one to prefer first."""
        ranks, found = self._ranks[index], dict[object, pci.Device]()
        parents = {device.parent for device in left}
        for device in left:
            if device.address in ranks:
                found.setdefault(self._kinds[device.address], device)
        return sorted(
            found.values(),
            key=lambda device: (
                ranks[device.address],
                device.address in parents,
                sum(device.address in other for other in self._ranks),
                device.address,
            ),
        )
