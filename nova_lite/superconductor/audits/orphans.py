"""Orphans: delete allocations on compute nodes whose server or migration does not exist.

`placement audit` lists them. The super-conductor deletes them by itself, as nova's
computes do for servers that they know to be deleted. Allocations that never belonged to a
server or migration of this cloud are only reported.
Source: nova's periodic update of resources; reference/nova/moves, allocations.
"""

import collections
from collections.abc import Iterable
from collections.abc import Sequence
import dataclasses
import typing

from oslo_log import log
import sqlalchemy as sa

from nova_lite import cells as deployment
from nova_lite import context
from nova_lite import exception
from nova_lite import states
from nova_lite.clients import placement as placements
from nova_lite.clients import providers
from nova_lite.db import rows
from nova_lite.db import transactions
from nova_lite.db.api import build_requests
from nova_lite.db.api import instance_mappings
from nova_lite.db.api import sagas
from nova_lite.db.cell import compute_nodes
from nova_lite.db.cell import instances
from nova_lite.db.cell import migrations
from nova_lite.moves import world as worlds

LOG = log.getLogger(__name__)

# {uuid of a resource provider: uuid of the root of its tree}
Roots: typing.TypeAlias = dict[str, str | None]


@dataclasses.dataclass
class Records:
    """Nodes, consumers and providers, to find allocations that no record explains.

    nodes: {uuid: compute node}; owners: {consumer: {node uuid, ...}}
    roots: {uuid of a provider: uuid of the node in whose tree it is}
    changing: servers with a build, a task or a saga, which may have any allocations
    """

    nodes: dict[str, rows.Row]
    owners: dict[str, set[str | None]]
    changing: set[str]
    roots: Roots

    def node_of(self, provider: str) -> rows.Row | None:
        """Return the compute node that a provider belongs to, or None."""
        return self.nodes.get(self.roots.get(provider) or provider)

    def accounts_for(self, consumer: str, node: rows.Row) -> bool:
        """Return whether a server or move explains the consumer's allocations on the node."""
        return consumer in self.changing or node.uuid in self.owners.get(consumer, ())


def roots_of(listed: Sequence[providers.Provider]) -> Roots:
    """Return {uuid of a resource provider: uuid of the root of its tree}."""
    return {each.uuid: each.root for each in listed}


def read_records(api_db: transactions.Database, cells: deployment.Cells, roots: Roots) -> Records:
    """Return the Records of all cells. Read placement before calling this function."""
    accepted = api_db.read(build_requests.every)
    moving = api_db.read(sagas.every, active=True)
    changing = {row.instance_uuid for row in (*accepted, *moving)}
    found = Records({}, collections.defaultdict(set), changing, roots)
    for cell in cells.every(cell0=False):
        nodes, servers, moves = cell.db.read(_read)
        by_name = {(node.host, node.hypervisor_hostname): node.uuid for node in nodes}
        found.nodes.update({node.uuid: node for node in nodes})
        for row in servers:
            found.owners[row.uuid].add(by_name.get((row.host, row.node)))
            if row.task_state or row.vm_state == states.VmState.BUILDING:
                found.changing.add(row.uuid)
        for move in moves:
            ends = (
                by_name.get((move.source_compute, move.source_node)),
                by_name.get((move.dest_compute, move.dest_node)),
            )
            found.owners[move.uuid].update(ends)
            found.owners[move.instance_uuid].update(ends)
    return found


def _read_move(connection: sa.Connection, uuid: str) -> tuple[rows.Row | None, rows.Row | None]:
    move = migrations.find(connection, uuid)
    return move, move and instances.find(connection, move.instance_uuid)


def _read(
    connection: sa.Connection,
) -> tuple[Sequence[rows.Row], Sequence[rows.Row], Sequence[rows.Row]]:
    return (
        compute_nodes.every(connection),
        instances.places(connection),
        migrations.holding(connection),
    )


def held(
    placement: placements.Placement, provider_uuid: str
) -> list[tuple[str, str, dict[str, int]]]:
    """Return [(provider uuid, consumer, resources)] of everything on a provider."""
    try:
        found = placement.providers.allocations(context.admin(), provider_uuid)
    except exception.ResourceProviderNotFound:
        return []  # The provider was deleted after it was listed.
    return [(provider_uuid, consumer, resources) for consumer, resources in sorted(found.items())]


class Consumers:
    """The consumers of providers. They are read again only if a provider's generation changes.

    Placement raises the generation of a provider when it gains allocations. With the same
    generation all consumers of a provider are known, and some of the known may be gone.
    """

    def __init__(self, placement: placements.Placement) -> None:
        self._placement = placement
        # {uuid of a provider: (generation in the list, consumers)}
        self._known: dict[str, tuple[int, list[str]]] = {}

    def read(self, listed: Sequence[providers.Provider]) -> list[tuple[str, str]]:
        """Return [(provider uuid, consumer)] of the providers in a new list."""
        known = {}
        for each in listed:
            generation, consumers = self._known.get(each.uuid, (None, []))
            if generation != each.generation:
                consumers = [consumer for _, consumer, _ in held(self._placement, each.uuid)]
            known[each.uuid] = each.generation, consumers
        self._known = known
        return [(uuid, consumer) for uuid, (_, found) in known.items() for consumer in found]

    def forget(self, uuids: Iterable[str]) -> None:
        """Drop the known consumers of providers: the next call of `read` reads them again."""
        for uuid in uuids:
            self._known.pop(uuid, None)


class Audit:
    """The periodic audit. world: see `world.World`

    The claim of work that is just starting looks like an orphan until its record exists. So
    an allocation is deleted only if two audits in a row find it.
    """

    def __init__(self, world: worlds.World) -> None:
        self._world = world
        self._suspects: set[tuple[str, str]] = set()
        self._roots: Roots = {}
        self._consumers = Consumers(world.placement)

    def run(self) -> None:
        """Delete the orphans that the audit before has also found."""
        try:
            found = self._find()
        except exception.Unavailable as error:
            LOG.info('Cannot audit allocations: %s. Retrying at the next audit.', error)
            return
        for provider, consumer in sorted(found & self._suspects):
            self._give_up(provider, consumer)
        self._suspects = found

    def _find(self) -> set[tuple[str, str]]:
        """Return {(provider uuid, consumer)} of all orphans."""
        cells = self._world.cells.every(cell0=False)
        nodes = {node.uuid for cell in cells for node in cell.db.read(compute_nodes.every)}
        listed = self._world.placement.providers.list(context.admin())
        self._roots = roots_of(listed)
        everything = self._consumers.read([each for each in listed if each.root in nodes])
        records = self._records()
        found = {
            (provider, consumer)
            for provider, consumer in everything
            if (node := records.node_of(provider)) and not records.accounts_for(consumer, node)
        }
        # The known consumers may be out of date. The next audit, which deletes, reads them again.
        self._consumers.forget(provider for provider, _consumer in found)
        return found

    def _records(self) -> Records:
        return read_records(self._world.api_db, self._world.cells, self._roots)

    def _give_up(self, provider: str, consumer: str) -> None:
        try:
            move, server = self._move(consumer)
            if move is None and self._world.api_db.read(instance_mappings.find, consumer) is None:
                LOG.warning(
                    'Consumer %s is unknown and has allocations on provider %s', consumer, provider
                )
            elif server is not None and self._stands(server, provider):
                self._hand_over(consumer, server.uuid, provider)
            elif self._world.placement.release(
                context.admin(),
                consumer,
                {provider},
                unless=lambda: self._is_explained(provider, consumer),
            ):
                LOG.warning(
                    'Deleted orphaned allocations of consumer %s on provider %s', consumer, provider
                )
        except exception.NovaLiteError as error:
            LOG.warning(
                'Cannot correct allocations of consumer %s on provider %s: %s',
                consumer,
                provider,
                error,
            )

    def _move(self, consumer: str) -> tuple[rows.Row | None, rows.Row | None]:
        """Return (migration, its server); each is None if it does not exist."""
        for cell in self._world.cells.every(cell0=False):
            found = cell.db.read(_read_move, consumer)
            if found[0] is not None:
                return found
        return None, None

    def _is_explained(self, provider: str, consumer: str) -> bool:
        """Return whether a record explains the allocation by now."""
        records = self._records()
        node = records.node_of(provider)
        return node is None or records.accounts_for(consumer, node)

    def _stands(self, server: rows.Row, provider: str) -> bool:
        """Return whether the server of an ended move is on the node and has no allocation there."""
        if server.deleted or server.hidden:
            return False
        records = self._records()
        node = self._roots.get(provider)
        if server.uuid in records.changing or node not in records.owners.get(server.uuid, ()):
            return False
        held = self._world.placement.holding(context.admin(), server.uuid)
        return node not in held.allocations

    def _hand_over(self, move: str, server: str, provider: str) -> None:
        """Move allocations back to a server from an undone migration."""
        explained = self._records().owners.get(server, set()) - {self._roots.get(provider)}
        self._world.placement.move_allocations(context.admin(), move, server, keep=explained)
        LOG.warning('Server %s: moved the allocations of its migration %s back to it', server, move)
