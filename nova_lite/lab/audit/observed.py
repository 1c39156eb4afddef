"""A snapshot of a nova: plain rows and JSON, as one reading has found them."""

from collections.abc import Collection
from collections.abc import Iterator
from collections.abc import Mapping
import dataclasses
import datetime
import functools
import typing

import sqlalchemy as sa

from nova_lite import states

Row: typing.TypeAlias = sa.Row[typing.Any]
Json: typing.TypeAlias = dict[str, typing.Any]
# Amounts by resource class.
Amounts: typing.TypeAlias = Mapping[str, int]

PLACEMENT, NEUTRON, CINDER = 'placement', 'neutron', 'cinder'
COMPUTE = 'nova-compute'
OVER = states.MIGRATION_OVER
FINISHED = states.MigrationStatus.FINISHED
# A server in these states may lack allocations, ports or volumes.
UNSETTLED = (states.VmState.ERROR, states.VmState.BUILDING)


@dataclasses.dataclass
class Cell:
    """The rows of a cell's database that are not deleted. id, uuid, name: of its mapping

    instances: {uuid: row}, hidden ones too; amounts: {uuid: those that its flavor asks for}
    fates: {uuid: 'deleted' or 'archived'} of servers that others name and `instances` lacks
    devices: rows of block_device_mapping; down: hosts whose compute service is not up
    """

    id: int
    uuid: str
    name: str
    instances: dict[str, Row]
    amounts: dict[str, Amounts] = dataclasses.field(default_factory=dict)
    fates: dict[str, str] = dataclasses.field(default_factory=dict)
    migrations: Collection[Row] = ()
    devices: Collection[Row] = ()
    services: Collection[Row] = ()
    nodes: Collection[Row] = ()
    down: frozenset[str] = frozenset()

    @functools.cached_property
    def node_uuids(self) -> dict[tuple[str, str], str]:
        """Return the uuids of compute nodes by (host, node)."""
        return {(node.host, node.hypervisor_hostname): node.uuid for node in self.nodes}

    @functools.cached_property
    def computes(self) -> set[str]:
        """Return the hosts that have a compute service."""
        return {service.host for service in self.services if service.binary == COMPUTE}


class Provider(typing.NamedTuple):
    """A provider of placement in the tree of a compute node. root: uuid of the tree's root

    aggregates: uuids; empty for a provider that is not a root
    """

    name: str
    root: str
    aggregates: frozenset[str] = frozenset()


@dataclasses.dataclass
class Placement:
    """The resources of compute nodes in placement.

    providers: {uuid: Provider}; allocations: {consumer: {provider uuid: amounts}}
    shares_disks: whether some provider shares its resources with other trees
    """

    providers: dict[str, Provider] = dataclasses.field(default_factory=dict)
    allocations: dict[str, dict[str, Amounts]] = dataclasses.field(default_factory=dict)
    shares_disks: bool = False


@dataclasses.dataclass
class Volumes:
    """Volumes and attachments in Cinder. statuses: {volume id: status}; attachments: JSON"""

    statuses: dict[str, str] = dataclasses.field(default_factory=dict)
    attachments: list[Json] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Snapshot:
    """Everything that one reading has found.

    mappings, build_requests: {server uuid: row}; specs: server uuids
    host_mappings: {host: cell id}; aggregates: (row, its hosts) of each
    asked: names of the services that were asked. The fields of other services are empty.
    """

    now: datetime.datetime
    cells: list[Cell]
    mappings: dict[str, Row] = dataclasses.field(default_factory=dict)
    build_requests: dict[str, Row] = dataclasses.field(default_factory=dict)
    specs: Collection[str] = frozenset()
    host_mappings: dict[str, int] = dataclasses.field(default_factory=dict)
    aggregates: list[tuple[Row, set[str]]] = dataclasses.field(default_factory=list)
    asked: Collection[str] = frozenset()
    placement: Placement = dataclasses.field(default_factory=Placement)
    ports: list[Json] = dataclasses.field(default_factory=list)
    volumes: Volumes = dataclasses.field(default_factory=Volumes)

    @functools.cached_property
    def by_id(self) -> dict[int, Cell]:
        """Return the cells by the ids of their mappings."""
        return {cell.id: cell for cell in self.cells}

    @functools.cached_property
    def visible(self) -> dict[str, list[tuple[Cell, Row]]]:
        """Return {server uuid: [(cell, row), ...]} of the servers that users see."""
        found: dict[str, list[tuple[Cell, Row]]] = {}
        for cell in self.cells:
            for uuid, row in cell.instances.items():
                if not row.hidden:
                    found.setdefault(uuid, []).append((cell, row))
        return found

    @functools.cached_property
    def open_migrations(self) -> dict[str, list[Row]]:
        """Return {server uuid: migrations that have not ended, finished ones included}."""
        found: dict[str, list[Row]] = {}
        for cell in self.cells:
            for row in cell.migrations:
                if row.status not in OVER:
                    found.setdefault(row.instance_uuid, []).append(row)
        return found

    @functools.cached_property
    def expected(self) -> set[str]:
        """Return the servers that may own something: visible, hidden, or not built yet."""
        unbuilt = {
            uuid
            for uuid, row in self.mappings.items()
            if row.cell_id is None and not row.queued_for_delete
        }
        return unbuilt.union(self.build_requests, *(cell.instances for cell in self.cells))

    def resting(self) -> Iterator[tuple[Cell, Row]]:
        """Yield (cell, row) of each server on a host that neither a task nor a move changes."""
        for uuid, records in self.visible.items():
            moves = self.open_migrations.get(uuid, ())
            if any(move.status != FINISHED for move in moves):
                continue
            for cell, row in records:
                if row.host and not row.task_state and row.vm_state not in UNSETTLED:
                    yield cell, row

    def age_s(self, row: Row) -> float:
        """Return the seconds since the last change of a row."""
        changed: datetime.datetime = row.updated_at or row.created_at or self.now
        return (self.now - changed).total_seconds()
