"""Orphans: what placement holds on our compute nodes for servers and moves that are gone.

`placement audit` lists them; here the super-conductor gives them up by itself, as nova's
computes do with those of servers that they know to be deleted. What belongs to no
server or move that was ever ours is only reported.
Source: nova's periodic update of resources; reference/moves, allocations.
"""

import collections
import dataclasses

from oslo_log import log

from nova_lite import context
from nova_lite import exception
from nova_lite import states
from nova_lite.db.api import build_requests
from nova_lite.db.api import instance_mappings
from nova_lite.db.api import sagas
from nova_lite.db.cell import compute_nodes
from nova_lite.db.cell import instances
from nova_lite.db.cell import migrations

LOG = log.getLogger(__name__)


@dataclasses.dataclass
class Records:
    """What may hold something where.

    nodes: {uuid: compute node}; owners: {consumer: {node uuid, ...}}
    changing: servers that are being made or worked on, and may hold anything
    """

    nodes: dict
    owners: dict
    changing: set

    def accounts_for(self, consumer, node):
        """Whether a server or move explains what the consumer holds of the node."""
        return consumer in self.changing or node.uuid in self.owners.get(consumer, ())


def read_records(api_db, cells):
    """The Records of all cells; placement is to be read before them."""
    accepted = api_db.read(build_requests.every)
    moving = api_db.read(sagas.every, active=True)
    changing = {row.instance_uuid for row in (*accepted, *moving)}
    found = Records({}, collections.defaultdict(set), changing)
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


def _read(connection):
    return (
        compute_nodes.every(connection),
        instances.places(connection),
        migrations.holding(connection),
    )


def held(placement, provider_uuid):
    """[(provider uuid, consumer, resources)] of everything on a provider."""
    try:
        found = placement.providers.allocations(context.admin(), provider_uuid)
    except exception.ResourceProviderNotFound:
        return []  # deleted since it was listed
    return [(provider_uuid, consumer, resources) for consumer, resources in sorted(found.items())]


class Audit:
    """The periodic audit. world: see `super.World`

    What is claimed for work that begins just now looks like an orphan until its record is
    there: only what two audits find is given up.
    """

    def __init__(self, world):
        self._world = world
        self._suspects = set()

    def run(self):
        """Give up what was an orphan the last time too."""
        try:
            found = self._find()
        except exception.Unavailable as error:
            LOG.info('Allocations are audited later: %s', error)
            return
        for provider, consumer in sorted(found & self._suspects):
            self._give_up(provider, consumer)
        self._suspects = found

    def _find(self):
        """{(provider uuid, consumer)} of all orphans."""
        cells = self._world.cells.every(cell0=False)
        nodes = [node.uuid for cell in cells for node in cell.db.read(compute_nodes.every)]
        everything = [each for uuid in nodes for each in held(self._world.placement, uuid)]
        records = read_records(self._world.api_db, self._world.cells)
        return {
            (provider, consumer)
            for provider, consumer, _resources in everything
            if provider in records.nodes
            and not records.accounts_for(consumer, records.nodes[provider])
        }

    def _give_up(self, provider, consumer):
        if not self._is_ours(consumer):
            LOG.warning('%s is no server or move of ours and holds part of %s', consumer, provider)
            return
        try:
            self._world.placement.release(context.admin(), consumer, {provider})
        except exception.NovaLiteError as error:
            LOG.warning('%s keeps its part of %s for now: %s', consumer, provider, error)
            return
        LOG.warning('%s has given up its part of %s, which nothing explained', consumer, provider)

    def _is_ours(self, consumer):
        """Whether it is or was a server or a move of a server."""
        if self._world.api_db.read(instance_mappings.find, consumer) is not None:
            return True
        cells = self._world.cells.every(cell0=False)
        return any(cell.db.read(migrations.is_known, consumer) for cell in cells)
