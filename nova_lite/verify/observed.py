"""The observed state of a cloud: every record, allocation, port, volume and guest."""

import collections
from collections.abc import Iterator
from collections.abc import Sequence
import dataclasses
import datetime

from nova_lite import states
from nova_lite.clients import resource_requests
from nova_lite.clients import session
from nova_lite.db import rows
from nova_lite.saga import cleaning
from nova_lite.saga import journal
from nova_lite.virt.sim import census


def is_going(row: rows.Row) -> bool:
    """Return whether a server is being deleted, or is soft-deleted."""
    return row.deleted_at is not None or row.task_state == states.TaskState.DELETING


@dataclasses.dataclass
class CellSnapshot:
    """The rows of one cell's database.

    open_events: events that have not ended, with action and instance_uuid of their actions
    shares: shares that are attached to servers
    eventless: actions that have not ended and have no event
    down: hosts whose compute service is not up
    former_hosts: names of hosts in records that have no service
    """

    name: str
    id: int
    instances: Sequence[rows.Row]
    migrations: Sequence[rows.Row]
    block_devices: Sequence[rows.Row]
    nodes: Sequence[rows.Row]
    services: Sequence[rows.Row] = ()
    open_events: Sequence[rows.Row] = ()
    eventless: Sequence[rows.Row] = ()
    shares: Sequence[rows.Row] = ()
    down: frozenset[str] = frozenset()
    former_hosts: frozenset[str] = frozenset()

    def devices(self) -> dict[str, list[rows.Row]]:
        """Return {server uuid: [row of a block device, ...]}"""
        found = collections.defaultdict(list)
        for device in self.block_devices:
            found[device.instance_uuid].append(device)
        return found


@dataclasses.dataclass(frozen=True)
class Provider:
    """A resource provider in placement. inventories: {resource class: inventory}

    root: uuid of the provider at the top of its tree
    """

    name: str
    inventories: dict[str, session.Json]
    traits: frozenset[str]
    aggregates: frozenset[str]
    root: str | None = None


@dataclasses.dataclass
class Snapshot:
    """The state of a cloud at (nearly) one time.

    allocations: {consumer: {provider uuid: {class: amount}}}
    providers: {uuid: Provider}
    guests: census rows
    ports, attachments, volumes, volume_snapshots: in the neighbours' representations
    ownerless_drives: [(uuid of a deleted guest, node with its config drive), ...]
    share_locks: locks that attachments of shares have placed on shares and access rules
    server_images: images of servers, as from `clients.image.of`
    bindings: {id of a port of a server: [(host, status), ...]}
    port_allocations: {id of a port of a server: {host: `allocation` of its binding there}}
    withdrawn: build requests of servers that were deleted, or are not accepted yet, whose
        reservations will be released
    limits: {project: {resource: limit}}
    queues: [(bus, name, number of consumers or None), ...] of daemons that are up
    unowned_queues: [(bus, name), ...] of hosts whose compute service was deleted
    isolated_aggregates: whether the scheduler keeps servers out of them
    """

    now: datetime.datetime
    mappings: dict[str, rows.Row]
    build_requests: dict[str, rows.Row]
    specs: dict[str, session.Json]
    sagas: Sequence[rows.Row]
    groups: dict[str, tuple[rows.Row, set[str]]]
    aggregates: list[tuple[rows.Row, set[str]]]
    cells: list[CellSnapshot]
    allocations: dict[str, dict[str, dict[str, int]]]
    guests: list[census.Row]
    ports: session.Jsons
    attachments: session.Jsons
    host_mappings: Sequence[rows.Row] = ()
    providers: dict[str, Provider] = dataclasses.field(default_factory=dict)
    volumes: session.Jsons = dataclasses.field(default_factory=list)
    volume_snapshots: session.Jsons = dataclasses.field(default_factory=list)
    server_images: session.Jsons = dataclasses.field(default_factory=list)
    share_locks: session.Jsons = dataclasses.field(default_factory=list)
    bindings: dict[str, list[tuple[str, str]]] = dataclasses.field(default_factory=dict)
    port_allocations: dict[str, dict[str, resource_requests.Allocation]] = dataclasses.field(
        default_factory=dict
    )
    limits: dict[str, dict[str, int]] = dataclasses.field(default_factory=dict)
    queues: list[tuple[str, str, int | None]] = dataclasses.field(default_factory=list)
    unowned_queues: list[tuple[str, str]] = dataclasses.field(default_factory=list)
    ownerless_drives: list[tuple[str, str]] = dataclasses.field(default_factory=list)
    server_errors: list[str] = dataclasses.field(default_factory=list)
    isolated_aggregates: bool = False
    withdrawn: dict[str, rows.Row] = dataclasses.field(default_factory=dict)

    def instances(self) -> Iterator[tuple[CellSnapshot, rows.Row]]:
        """Yield (cell snapshot, row) of every server record that is not deleted."""
        for cell in self.cells:
            for row in cell.instances:
                yield cell, row

    def visible(self) -> dict[str, list[tuple[CellSnapshot, rows.Row]]]:
        """Return {uuid: [(cell snapshot, row), ...]} without hidden copies."""
        found = collections.defaultdict(list)
        for cell, row in self.instances():
            if not row.hidden:
                found[row.uuid].append((cell, row))
        return found

    def busy(self) -> set[str]:
        """Return the uuids of the servers with a saga, or for which a saga holds a device.

        `unfinished.owed` checks how long a saga may hold a device.
        """
        return {
            saga.instance_uuid
            for saga in self.sagas
            if saga.active_for or (saga.state == journal.CLEANING and cleaning.HELD in saga.data)
        }

    def resting(self) -> Iterator[tuple[CellSnapshot, rows.Row]]:
        """Yield (cell snapshot, row) of servers on a host without a task or saga."""
        busy = self.busy()
        for cell, row in self.instances():
            if row.host and not row.hidden and not row.task_state and row.uuid not in busy:
                yield cell, row
