"""Memberships: correct the aggregates of compute nodes' providers in placement.

The API changes its database and placement one after the other. A failure between the two
leaves them different, and the scheduler's request filters use placement. The audit corrects
placement. `placement sync_aggregates` does so on demand.
Source: reference/nova/scheduling 10.
"""

from collections.abc import Sequence
import datetime
import itertools

from oslo_log import log
import sqlalchemy as sa

from nova_lite import cells as cells_module
from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite.clients import providers as provider_client
from nova_lite.db import rows
from nova_lite.db import transactions
from nova_lite.db.api import aggregates
from nova_lite.db.api import stamps
from nova_lite.db.cell import compute_nodes
from nova_lite.moves import world as worlds

LOG = log.getLogger(__name__)

# Uuids in the address of one request to placement.
UUIDS_AT_ONCE = 100
# How long the uuid of a deleted aggregate is kept. No request to add a host to the aggregate in
# placement may take longer.
DELETED_KEPT = datetime.timedelta(days=1)


def sync(
    api_db: transactions.Database,
    providers: provider_client.Providers,
    node: rows.Row,
    *,
    removes: bool = True,
) -> tuple[set[str], set[str]]:
    """Add a node's provider, in placement, to the aggregates of its host in the database.

    node: record of the compute node, or its names
    removes: whether to remove the provider from our aggregates in which its host is not
    Returns two sets of aggregate uuids: those that were added and those that were removed.
    Aggregates that are not ours are not changed.
    Raises ResourceProviderNotFound, ProviderConflict.
    """
    joined: set[str] = set()
    left: set[str] = set()
    attempts: list[tuple[set[str], set[str], set[str]]] = []

    def as_recorded(current: set[str]) -> set[str]:
        # The record is read after placement. If placement changes in between, the provider's
        # generation makes the write fail, and both are read again.
        ours, wanted = api_db.read(_of_host, node.host)
        result = (current - ours if removes else current) | wanted
        attempts.append((current, result, wanted))
        return result

    while True:
        providers.change_aggregates(context.admin(), node.uuid, as_recorded)
        current, result, wanted = attempts[-1]
        joined |= result - current
        left |= current - result
        # A request that changed nothing in placement may have changed the record since.
        if api_db.read(aggregates.uuids_of_host, node.host) == wanted:
            return joined, left


def _of_host(connection: sa.Connection, host: str) -> tuple[set[str], set[str]]:
    return aggregates.uuids(connection), aggregates.uuids_of_host(connection, host)


class Audit:
    """The periodic audit. world: see `world.World`

    Each run asks placement once for the members of each aggregate.
    """

    def __init__(self, world: worlds.World) -> None:
        self._world = world

    def run(self) -> None:
        """Repair the memberships of all nodes, those in deleted aggregates as well."""
        try:
            self._run()
        except exception.NovaLiteError as error:
            LOG.warning('Cannot audit aggregates: %s. Retrying at the next audit.', error)

    def _run(self) -> None:
        if not self._world.api_db.read(aggregates.uuids):
            return
        nodes, is_whole = self._nodes()
        deleted = self._world.api_db.read(aggregates.deleted)
        leaving = self._members(sorted(deleted)) & nodes.keys()
        differing = leaving | self._differing(nodes)
        repaired = [uuid for uuid in sorted(differing) if self._repair(nodes[uuid])]
        if repaired:
            # Schedulers drop their answers and query placement again.
            self._world.api_db.write(stamps.bump, stamps.AGGREGATES)
        if is_whole and not leaving:
            limit = runtime.naive_now() - DELETED_KEPT
            old = [uuid for uuid, deleted_at in deleted.items() if deleted_at < limit]
            if old:
                self._world.api_db.write(aggregates.forget_deleted, old)

    def _nodes(self) -> tuple[dict[str, rows.Row], bool]:
        """Return ({uuid: names of the node} of all cells that answer, whether all do)"""
        cells = self._world.cells.every(cell0=False)
        answers, silent = cells_module.split(
            self._world.cells.scatter(compute_nodes.names, cells=cells)
        )
        nodes = {node.uuid: node for node in itertools.chain.from_iterable(answers.values())}
        return nodes, not silent

    def _members(self, uuids: Sequence[str]) -> set[str]:
        """Return the uuids of the providers that are in any of the aggregates."""
        found: set[str] = set()
        for first in range(0, len(uuids), UUIDS_AT_ONCE):
            some = 'in:' + ','.join(uuids[first : first + UUIDS_AT_ONCE])
            listed = self._world.placement.providers.list(context.admin(), member_of=some)
            found.update(provider.uuid for provider in listed)
        return found

    def _differing(self, nodes: dict[str, rows.Row]) -> set[str]:
        """Return the uuids of the nodes whose memberships differ from the database."""
        found = set()
        for aggregate in self._world.api_db.read(aggregates.every):
            hosts = set(aggregate.hosts)
            wanted = {uuid for uuid, node in nodes.items() if node.host in hosts}
            found |= wanted ^ self._members([aggregate.uuid])
        return found & nodes.keys()

    def _repair(self, node: rows.Row) -> bool:
        """Repair one node's memberships. Return whether anything was changed."""
        try:
            joined, left = sync(self._world.api_db, self._world.placement.providers, node)
        except exception.NovaLiteError as error:
            LOG.warning(
                'Cannot repair the aggregates of provider %s (%s) in placement: %s. Retrying '
                'at a later audit.',
                node.uuid,
                node.hypervisor_hostname,
                error,
            )
            return False
        if joined or left:
            LOG.warning(
                'Repaired the aggregates of provider %s (%s) in placement: added to %s, '
                'removed from %s',
                node.uuid,
                node.hypervisor_hostname,
                sorted(joined),
                sorted(left),
            )
        return bool(joined or left)
