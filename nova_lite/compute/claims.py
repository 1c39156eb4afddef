"""Claims: resources of the nodes of this process that guests use or will use.

Placement has decided already. The host checks its actual resources as well, because placement does
not know guests of failed moves, other remains, and builds with outdated answers. Nothing is stored:
the sum of a node is read from the driver.
"""

import collections
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
import typing

import os_resource_classes as orc

from nova_lite import exception
from nova_lite import runtime
from nova_lite.virt import driver as protocol
from nova_lite.virt import model

CLASSES = (orc.VCPU, orc.MEMORY_MB, orc.DISK_GB)

# {resource class: amount}, and {guest uuid: amounts} of a node.
Amounts: typing.TypeAlias = Mapping[str, float]
Held: typing.TypeAlias = dict[str, Amounts]


def amounts(spec: model.GuestSpec) -> Amounts:
    """Return {resource class: amount} of a guest's definition."""
    return {orc.VCPU: spec.vcpus, orc.MEMORY_MB: spec.memory_mb, orc.DISK_GB: spec.disk_gb}


class Claims:
    """The claims of all nodes of a driver."""

    def __init__(self, driver: protocol.Driver) -> None:
        self._driver = driver
        self._lock = runtime.Lock()
        self._nodes: dict[str, Held] = {}

    def claim(self, node: str, guest: str, wanted: Amounts, limits: Amounts) -> None:
        """Claim `wanted` ({class: amount}) for a guest, in place of its former claim.

        limits: {class: amount} that all claims of the node together may have
        Raises NoCapacity, without any change.
        """
        with self._lock:
            held = self._of(node)
            for name in CLASSES:
                used = sum(part[name] for owner, part in held.items() if owner != guest)
                if wanted[name] and used + wanted[name] > limits[name]:
                    raise exception.NoCapacity(
                        reason=f'{node} has {limits[name] - used:g} of {name} left, '
                        f'{wanted[name]} are needed'
                    )
            held[guest] = wanted

    def release(self, node: str, guest: str) -> None:
        """Release the claim of a guest, if there is one."""
        with self._lock:
            self._of(node).pop(guest, None)

    def release_old(self, node: str, guest: str, before: Held) -> None:
        """Release the claim of a guest unless it has changed. before: former result of `held`"""
        with self._lock:
            held = self._of(node)
            if guest in held and held[guest] is before.get(guest):
                del held[guest]

    def held(self, node: str) -> Held:
        """Return {guest: amounts} of the node's current claims, for `refresh`."""
        with self._lock:
            return dict(self._of(node))

    def settle(self, node: str, guest: str) -> None:
        """Set the claim of a guest to its resources on the node. Drop it if the guest is absent."""
        try:
            there = [self._driver.get_guest(node, guest)]
        except exception.GuestNotFound:
            there = []
        with self._lock:
            held = self._of(node)
            held.pop(guest, None)
            held.update(_claims_of(there))

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
            self._nodes[node] = found

    def used(self, node: str) -> Amounts:
        """Return {class: amount} of all claims of the node together."""
        with self._lock:
            total: collections.Counter[str] = collections.Counter()
            for part in self._of(node).values():
                total.update(part)
            return {name: total[name] for name in CLASSES}

    def _of(self, node: str) -> Held:
        if node not in self._nodes:
            self._nodes[node] = _claims_of(self._driver.list_guests(node))
        return self._nodes[node]


def _claims_of(guests: Iterable[model.Guest]) -> Held:
    """Return {guest: amounts}. Of a guest that is listed twice, the larger amounts count."""
    found: Held = {}
    for guest in guests:
        part = amounts(guest.spec)
        former = found.get(guest.uuid, part)
        found[guest.uuid] = {name: max(part[name], former[name]) for name in CLASSES}
    return found
