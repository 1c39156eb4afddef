"""Deletion of a service, and of all that belongs to the host of a compute.

The record goes last, so that a deletion that was interrupted can be repeated. Servers that were
evacuated from the host lose the allocations that they keep there until it returns. Their
evacuations stay on record: a host that returns after all removes their guests before it is up.
Source: reference/nova/cells-and-rpc 3.
"""

from collections.abc import Iterable

from oslo_log import log
import oslo_messaging
import sqlalchemy as sa

from nova_lite import cells as deployment
from nova_lite import exception
from nova_lite.api import request
from nova_lite.db import rows
from nova_lite.db.api import aggregates
from nova_lite.db.api import host_mappings
from nova_lite.db.cell import compute_nodes
from nova_lite.db.cell import evacuations
from nova_lite.db.cell import host_usage
from nova_lite.db.cell import migrations
from nova_lite.db.cell import services
from nova_lite.lifecycle import host_use
from nova_lite.rpc import queues
from nova_lite.rpc.methods import compute

LOG = log.getLogger(__name__)

SHOWN = 5


class HasServers(exception.Conflict):
    msg = (
        'Unable to delete compute service that is hosting instances. Migrate or delete the '
        'instances first.'
    )


class HasMigrations(exception.Conflict):
    msg = (
        'Unable to delete compute service that has in-progress migrations. Complete the '
        'migrations or delete the instances first.'
    )


class HasAllocations(exception.Conflict):
    msg = (
        'Unable to delete compute service: resource provider %(provider)s has allocations of '
        '%(consumers)s. Wait until their builds and deletions have ended, or delete allocations '
        'without an owner with "nova-lite-manage placement audit --delete".'
    )


IN_USE = {host_use.Use.SERVERS: HasServers, host_use.Use.MOVES: HasMigrations}


def remove(req: request.Request, cell: deployment.Cell, row: rows.Row) -> None:
    """Delete a service. Raise HasServers, HasMigrations or HasAllocations."""
    if row.binary != services.COMPUTE:
        cell.db.write(services.destroy, row.uuid)
        return
    # An interrupted deletion leaves a host that is discovered again.
    nodes = cell.db.write(_retire, row.host)
    _remove_providers(req, row.host, nodes)
    req.app.api_db.write(_forget_host, row.host, req.app.cells, cell)
    cell.db.write(_destroy, row)
    # Once more: hosts may have been discovered in between.
    try:
        req.app.api_db.write(_forget_host, row.host, req.app.cells, cell)
    except tuple(IN_USE.values()) as error:
        LOG.warning('Host %s keeps its mapping after its service was deleted: %s', row.host, error)
    if queues.is_real(cell.bus_url):
        _drop_queue(cell, compute.queue_of(row.host))


def _retire(connection: sa.Connection, host: str) -> list[str]:
    """Mark the nodes of a host as not discovered. Return their uuids."""
    nodes = _unused(connection, host)
    compute_nodes.set_mapped(connection, [host], False)
    return nodes


def _unused(connection: sa.Connection, host: str) -> list[str]:
    """Return the nodes (uuids) of a host without servers and moves."""
    services.lock(connection, host)
    if host_usage.count_on(connection, [host]):
        raise HasServers()
    if migrations.in_progress(connection, host):
        raise HasMigrations()
    return [node.uuid for node in compute_nodes.every(connection, host=host)]


def _remove_providers(req: request.Request, host: str, nodes: Iterable[str]) -> None:
    """Delete the providers of nodes, and what evacuated servers hold of them."""
    placement = req.app.placement
    held = {node: _consumers(req, node) for node in nodes}
    evacuated = _evacuated(req, host) if any(held.values()) else set()
    for node, consumers in held.items():
        others = sorted(consumers - evacuated)
        if others:
            shown = ', '.join(others[:SHOWN]) + (', ...' if len(others) > SHOWN else '')
            raise HasAllocations(provider=node, consumers=shown)
    for node, consumers in held.items():
        for consumer in sorted(consumers):
            placement.release(req.ctxt, consumer, {node})
        placement.providers.delete_tree(req.ctxt, node)


def _consumers(req: request.Request, node: str) -> set[str]:
    """Return the consumers (uuids) of a node and of the providers below it."""
    providers = req.app.placement.providers
    tree = providers.list(req.ctxt, in_tree=node)
    return {uuid for each in tree for uuid in providers.allocations(req.ctxt, each.uuid)}


def _evacuated(req: request.Request, host: str) -> set[str]:
    """Return the servers that were evacuated from a host and that it has not cleaned up after.

    The records of an evacuation follow a server to another cell.
    """
    cells = req.app.cells.every(cell0=False)
    answers, silent = deployment.split(
        req.app.cells.scatter(evacuations.not_cleaned, [host], cells=cells)
    )
    if silent:
        raise next(iter(silent.values())).error
    return {row.instance_uuid for found in answers.values() for row in found}


def _forget_host(
    connection: sa.Connection, host: str, cells: deployment.Cells, cell: deployment.Cell
) -> None:
    """Delete the mapping of a host, and take it out of aggregates, unless it is used by now.

    A host that is in another cell by now keeps both.
    """
    use = host_use.unmap(connection, host, cells, cell)
    if use is not None:
        raise IN_USE[use]()
    if not host_mappings.cell_ids(connection, [host]):
        aggregates.forget_host(connection, host)


def _destroy(connection: sa.Connection, row: rows.Row) -> None:
    for uuid in _unused(connection, row.host):
        compute_nodes.destroy(connection, uuid)
    services.destroy(connection, row.uuid)


def _drop_queue(cell: deployment.Cell, name: str) -> None:
    """Delete the queue of a host that is none any more, unless a daemon still consumes it."""
    try:
        gone = queues.delete_unused(cell.bus, name)
    except oslo_messaging.MessageDeliveryFailure as error:
        LOG.warning('Cannot delete queue %s of cell %s: %s', name, cell.name, error)
        return
    if not gone:
        LOG.warning('A daemon still consumes queue %s of cell %s: stop it', name, cell.name)
