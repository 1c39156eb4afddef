"""Host states of all enabled cells, read together and reused for a short time.

Servers that were placed but are not in their cell's records yet also count. So a new reading does
not forget them. Source: reference/nova/scheduling 5.
"""

import collections.abc
import dataclasses
import functools
import typing

from oslo_config import cfg
import sqlalchemy as sa

from nova_lite import cells as deployment
from nova_lite import runtime
from nova_lite.clients import offers
from nova_lite.db import rows
from nova_lite.db import types
from nova_lite.db.api import aggregates
from nova_lite.db.api import stamps
from nova_lite.db.cell import compute_nodes
from nova_lite.db.cell import host_usage
from nova_lite.db.cell import services
from nova_lite.lifecycle import placed_devices
from nova_lite.lifecycle.guests import constraints
from nova_lite.scheduler import hosts
from nova_lite.scheduler import scheduling_request

# The type of versions, which change with everything that hosts and candidates depend on.
Version: typing.TypeAlias = tuple[int, ...]
# (host, hypervisor node)
Node: typing.TypeAlias = tuple[str, str]


STAMPS = (stamps.AGGREGATES, stamps.CELLS, stamps.HOSTS)
# Seconds until a placed server must be in its cell's records.
PENDING_S = 30
# Data are reused for EFFORT times the time that they took, but no longer than LONGEST_S. For data
# about MANY hosts or more it is EFFORT_FOR_MANY.
EFFORT, EFFORT_FOR_MANY = 5, 20
LONGEST_S = 10
MANY = 200
IMAGE_OPTION = 'image_props_weight_multiplier'


@dataclasses.dataclass(frozen=True)
class Placed:
    """A server that was assigned to a host and that the cell's records do not show yet.

    given: its allocations, see hosts.Coming
    """

    host_uuid: str
    host: str
    size: hosts.Size
    image_properties: hosts.ImageProperties
    moving: bool
    at: float
    guest: constraints.Constraints = constraints.NONE
    given: placed_devices.Given | None = None

    def counted(self, host: hosts.HostState, count: int) -> hosts.HostState:
        """Return a copy of a host with the server on it; with count=-1 without it."""
        return host.with_server(
            self.size, self.image_properties, self.guest, given=self.given, count=count
        )


def kept_s(
    configured: float, took: float, *, hosts: int = 0, longest_s: float = LONGEST_S
) -> float:
    """Return for how many seconds data are reused that came after `took` seconds.

    configured: seconds for which all data are reused; 0: none are. Data that took long are reused
        longer. So those about many hosts take one part in EFFORT_FOR_MANY + 1 of the time
    hosts: number of hosts that the data are about; longest_s: for data about many hosts
    """
    if not configured:
        return 0.0
    if hosts >= MANY:
        return max(configured, min(EFFORT_FOR_MANY * took, longest_s))
    return max(configured, min(EFFORT * took, LONGEST_S))


class HostStates:
    """Keeps the newest snapshot. Safe to use from several threads."""

    def __init__(self, conf: cfg.ConfigOpts, cells: deployment.Cells) -> None:
        self.conf = conf
        self.cells = cells
        self._lock = runtime.Lock()
        self._reading = runtime.Lock()
        self._snapshot: hosts.Snapshot | None = None
        self._keep_s = 0.0
        self._aggregates: tuple[Version | None, hosts.Aggregates] = (None, hosts.Aggregates())
        self._pending: dict[str, Placed] = {}

    def version(self) -> Version:
        """Return a value that changes with aggregates, cells and the state of hosts."""
        found = self.cells.api_db.read(stamps.every)
        self.cells.follow(found)
        return tuple(found.get(name, 0) for name in STAMPS)

    def get(self, version: Version, *, since: float | None = None) -> hosts.Snapshot:
        """Return a snapshot of this version, or a newer one.

        since: monotonic seconds; snapshots that were read before are not used
        """
        current = self._usable(version, since)
        if current is not None:
            return current
        old = self._snapshot
        stale_will_do = since is None and old is not None and old.version == version
        if old is None or not stale_will_do:
            self._reading.acquire()
        elif not self._reading.acquire(blocking=False):
            return old  # Another thread reads, and only that thread waits for a slow cell.
        try:
            return self._usable(version, since) or self._read(version)
        finally:
            self._reading.release()

    def _usable(self, version: Version, since: float | None) -> hosts.Snapshot | None:
        current = self._snapshot
        if current is None or current.version != version:
            return None
        if since is not None:
            return current if current.taken >= since else None
        return current if runtime.monotonic() - current.taken < self._keep_s else None

    def invalidate(self) -> None:
        """Drop the snapshot, so that hosts are read again before the next decision."""
        self._snapshot = None

    # ---- placed servers without a record of it ----

    def place(
        self,
        server_uuid: str,
        host: hosts.HostState,
        request: scheduling_request.Request,
        wanted: offers.AllocationRequest,
    ) -> None:
        """Count a server on a host from now on, so that concurrent decisions see it.

        wanted: the allocation request that is claimed for it
        """
        self.withdraw(server_uuid)
        placed = Placed(
            host.uuid,
            host.host,
            request.size,
            request.image_properties,
            request.current_host is not None,
            runtime.monotonic(),
            request.guest,
            request.given(host.uuid, wanted),
        )
        with self._lock:
            self._pending[server_uuid] = placed
            if self._snapshot is not None:
                _add(self._snapshot, placed)

    def withdraw(self, server_uuid: str) -> None:
        """Stop counting a server whose host has refused it."""
        with self._lock:
            placed = self._pending.pop(server_uuid, None)
            if placed is not None and self._snapshot is not None:
                _add(self._snapshot, placed, -1)

    def pending(self, uuids: collections.abc.Iterable[str]) -> dict[str, Placed]:
        """Return {server uuid: Placed} of those of `uuids` that no record shows yet."""
        with self._lock:
            return {uuid: self._pending[uuid] for uuid in uuids if uuid in self._pending}

    # ---- reading ----

    def _read(self, version: Version) -> hosts.Snapshot:
        taken = runtime.monotonic()
        known = self._read_aggregates(version)
        with self._lock:
            pending = list(self._pending)
        options: dict[str, typing.Any] = {
            'pending': pending,
            'image_properties': self._wants_image_properties(known),
            'down_time_s': self.conf.service_down_time,
        }
        cells = self.cells.every(cell0=False, disabled=False)
        found: list[hosts.HostState] = []
        missing: dict[str, str] = {}
        on_record: dict[str, set[str]] = {}
        over: set[str] = set()
        for cell, reading in self.cells.scatter(read_cell, cells=cells, **options).items():
            if not isinstance(reading, Reading):
                missing[cell.uuid] = cell.name
                continue
            found.extend(_states(self.conf, cell.uuid, reading, known))
            on_record.update(reading.on_record)
            over |= reading.over
        snapshot = hosts.Snapshot(found, known, taken=taken, version=version, missing=missing)
        with self._lock:
            self._settle(on_record, over, taken)
            for placed in self._pending.values():
                _add(snapshot, placed)
            took = runtime.monotonic() - taken
            reuse_s = self.conf.scheduler.host_state_reuse_s
            self._keep_s = kept_s(reuse_s, took, hosts=len(found))
            self._snapshot = snapshot
        return snapshot

    def _read_aggregates(self, version: Version) -> hosts.Aggregates:
        """Return the aggregates, which change only with the version."""
        if self._aggregates[0] != version:
            found = self.cells.api_db.read(aggregates.every)
            self._aggregates = (version, hosts.Aggregates(found))
        return self._aggregates[1]

    def _wants_image_properties(self, known: hosts.Aggregates) -> bool:
        return bool(self.conf.filter_scheduler[IMAGE_OPTION]) or any(
            IMAGE_OPTION in aggregate.metadata for aggregate in known.all
        )

    def _settle(self, on_record: dict[str, set[str]], over: set[str], taken: float) -> None:
        """Stop counting servers that are in the records by now, or whose task has ended.

        taken: monotonic seconds at the begin of the reading; servers placed later are not changed
        """
        for uuid, placed in list(self._pending.items()):
            if placed.at > taken:
                continue
            recorded = on_record.get(uuid, ())
            arrived = placed.host in recorded if placed.moving else bool(recorded)
            if arrived or uuid in over or taken - placed.at > PENDING_S:
                del self._pending[uuid]


def _add(snapshot: hosts.Snapshot, placed: Placed, count: int = 1) -> None:
    host = snapshot.hosts.get(placed.host_uuid)
    if host is not None:
        snapshot.replace(placed.counted(host, count))


# ---- one cell ----------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Reading:
    """The records of one cell, read in one transaction.

    used: {(host, node): [servers, vcpus, MiB, GiB]}; busy: {host: count}
    on_record: {server uuid: {host, ...}} of the pending servers that have a host
    over: pending servers that were deleted or no longer have a task, so that their placement is
        not needed
    """

    nodes: collections.abc.Sequence[rows.Row]
    services: dict[str, rows.Row]
    used: dict[Node, list[int]]
    busy: dict[str, int]
    images: dict[Node, hosts.Counted] | None
    on_record: dict[str, set[str]]
    over: set[str]


def read_cell(
    connection: sa.Connection,
    *,
    pending: collections.abc.Collection[str] = (),
    image_properties: bool = False,
    down_time_s: float = 0.0,
) -> Reading:
    """Read the records of a cell from which its hosts' states are made.

    pending: uuids of servers to look for; image_properties: whether to count them
    down_time_s: as in services.is_up
    """
    moves = host_usage.moving(connection)
    on_record = {
        uuid: {host} for uuid, host in host_usage.hosts_of(connection, pending).items() if host
    }
    for uuid, host, _node, _flavor in moves:
        if uuid in pending:
            on_record.setdefault(uuid, set()).add(host)
    return Reading(
        nodes=compute_nodes.with_texts(connection),
        services={row.host: row for row in services.brief(connection, down_time_s)},
        used=host_usage.by_node(connection, moves),
        busy=host_usage.busy_by_host(connection),
        images=host_usage.image_properties(connection) if image_properties else None,
        on_record=on_record,
        over=host_usage.over(connection, pending),
    )


def _states(
    conf: cfg.ConfigOpts, cell_uuid: str, reading: Reading, known: hosts.Aggregates
) -> collections.abc.Iterator[hosts.HostState]:
    """Yield a HostState for each node of a cell whose service has ever reported."""
    decoded = functools.cache(types.loads)
    for node in reading.nodes:
        service = reading.services.get(node.host)
        if service is None:
            continue
        key = node.host, node.hypervisor_hostname
        count, vcpus, memory_mb, disk_gb = reading.used.get(key, (0, 0, 0, 0))
        images = None if reading.images is None else reading.images.get(key, {})
        yield hosts.HostState(
            host=node.host,
            node=node.hypervisor_hostname,
            uuid=node.uuid,
            cell_uuid=cell_uuid,
            host_ip=node.host_ip,
            vcpus_total=node.vcpus,
            memory_mb=node.memory_mb,
            local_gb=node.local_gb,
            cpu_allocation_ratio=node.cpu_allocation_ratio,
            ram_allocation_ratio=node.ram_allocation_ratio,
            disk_allocation_ratio=node.disk_allocation_ratio,
            reserved_memory_mb=node.reserved_memory_mb,
            vcpus_used=vcpus,
            memory_mb_used=memory_mb,
            local_gb_used=disk_gb,
            num_instances=count,
            num_io_ops=reading.busy.get(node.host, 0),
            failed_builds=node.failed_builds,
            hypervisor_type=node.hypervisor_type,
            hypervisor_version=node.hypervisor_version,
            cpu_info=decoded(node.cpu_info),
            supported_instances=tuple(decoded(node.supported_instances)),
            stats=decoded(node.stats),
            metrics={metric['name']: metric['value'] for metric in decoded(node.metrics)},
            up=service.read_at is None or services.is_up(service, conf.service_down_time),
            silent=service.read_at and services.silence(service, conf.service_down_time),
            disabled=service.disabled,
            disabled_reason=service.disabled_reason,
            version=service.version,
            mapped=node.mapped,
            aggregates=known.of_host(node.host),
            metadata=known.metadata_of(node.host),
            image_properties=images,
            numa=node.numa,
        )
