"""States of the hosts of a cloud that has no records of servers: the study counts the servers."""

from collections.abc import Iterable
import dataclasses
import re

from oslo_config import cfg

from nova_lite import cells as deployment
from nova_lite import runtime
from nova_lite.clients import offers
from nova_lite.lifecycle.guests import constraints
from nova_lite.scheduler import host_states
from nova_lite.scheduler import hosts
from nova_lite.scheduler import scheduling_request


class TrackedHosts(host_states.HostStates):
    """The states of hosts, read once and then changed by the servers that the study places.

    A server counts as built at once, so it adds nothing to the operations of its host.
    """

    def __init__(
        self,
        conf: cfg.ConfigOpts,
        cells: deployment.Cells,
        states: Iterable[hosts.HostState],
        aggregates: hosts.Aggregates,
    ) -> None:
        super().__init__(conf, cells)
        self.snapshot = hosts.Snapshot(states, aggregates)

    def version(self) -> host_states.Version:
        """Return a value that does not change: a study changes neither aggregates nor hosts."""
        return ()

    def get(self, version: host_states.Version, *, since: float | None = None) -> hosts.Snapshot:
        """Return the states, which are always up to date."""
        return self.snapshot

    def invalidate(self) -> None:
        """Do nothing: the states cannot be read from records again."""

    def place(
        self,
        server_uuid: str,
        host: hosts.HostState,
        request: scheduling_request.Request,
        wanted: offers.AllocationRequest,
    ) -> None:
        """Count a server on a host until `withdraw`. wanted: its allocation request"""
        self.put(server_uuid, _placed(host, request, wanted))

    def put(self, server_uuid: str, placed: host_states.Placed) -> None:
        """Count a server on the host of `placed`."""
        self._pending[server_uuid] = placed
        self._count(placed, 1)

    def withdraw(self, server_uuid: str) -> None:
        """Stop counting a server."""
        placed = self._pending.pop(server_uuid, None)
        if placed is not None:
            self._count(placed, -1)

    def take(self, host: hosts.HostState, request: scheduling_request.Request) -> None:
        """Stop counting the servers of a request that the records have on a host."""
        if host.numa is not None:
            held = host.numa['guests'].items()
            guests = {uuid: parts for uuid, parts in held if uuid not in request.instance_uuids}
            numa = {**host.numa, 'guests': guests}
            host = dataclasses.replace(host, numa=numa, known_rooms=None)
            self.snapshot.replace(host)
        # Guests that come to the host may equal those that leave it.
        leaving = dataclasses.replace(_placed(host, request), guest=constraints.NONE)
        for _uuid in request.instance_uuids:
            self._count(leaving, -1)

    def _count(self, placed: host_states.Placed, count: int) -> None:
        before = self.snapshot.hosts[placed.host_uuid]
        after = placed.counted(before, count)
        after.num_io_ops = before.num_io_ops
        self.snapshot.replace(after)


def _placed(
    host: hosts.HostState,
    request: scheduling_request.Request,
    wanted: offers.AllocationRequest | None = None,
) -> host_states.Placed:
    return host_states.Placed(
        host.uuid,
        host.host,
        request.size,
        request.image_properties,
        moving=False,
        at=runtime.monotonic(),
        guest=request.guest,
        given=request.given(host.uuid, wanted),
    )


def in_order(states: Iterable[hosts.HostState]) -> list[hosts.HostState]:
    """Return states sorted by the names of the hosts; numbers in names are sorted by value.

    The order decides between hosts of equal weight. The order of records differs between clouds.
    """
    return [
        dataclasses.replace(state) for state in sorted(states, key=lambda each: _natural(each.host))
    ]


def _natural(name: str) -> list[tuple[int, str]]:
    return [
        (int(part), '') if part.isdecimal() else (-1, part) for part in re.split(r'(\d+)', name)
    ]
