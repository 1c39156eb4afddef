"""placement audit: allocations on compute nodes that belong to nothing."""

import collections
import dataclasses

from nova_lite import context
from nova_lite import exception
from nova_lite import states
from nova_lite.cmd import progress
from nova_lite.cmd.manage import command
from nova_lite.db.api import build_requests
from nova_lite.db.cell import compute_nodes
from nova_lite.db.cell import instances
from nova_lite.db.cell import migrations

COLUMNS = {'resource_provider': 'Provider', 'consumer': 'Consumer', 'resources': 'Resources'}
NONE, ERROR, FOUND, DELETED, BAD = 0, 1, 3, 4, 127


@command.verb(
    'placement',
    command.VERBOSE,
    command.flag('--delete', 'give up the orphans'),
    command.option('--resource_provider', metavar='UUID', help='this provider only'),
)
def audit(site, args):
    """Find allocations whose server or move is gone."""
    wanted = args.resource_provider
    try:
        known = [provider.uuid for provider in site.placement.providers.list(context.admin())]
        if wanted and wanted not in known:
            print(f'Resource provider with UUID {wanted} does not exist.')
            return BAD
        held = _held(site, [wanted] if wanted else known)
        records = _records(site)
        found = [
            (records.nodes[uuid], consumer, resources)
            for uuid, consumer, resources in held
            if uuid in records.nodes and not records.accounts_for(consumer, records.nodes[uuid])
        ]
        for node, consumer, resources in found:
            if args.verbose and not args.json:
                _tell(node, consumer, resources)
            if args.delete:
                site.placement.release(context.admin(), consumer, {node.uuid})
    except exception.NovaLiteError as error:
        print(f'The audit ends early: {error}')
        return ERROR
    if args.json:
        lines = [(node.uuid, consumer, resources) for node, consumer, resources in found]
        command.print_list(site, args, COLUMNS, lines)
    if not found:
        return NONE
    if not args.json:
        print(f'{"Deleted" if args.delete else "Found"} {len(found)} orphaned allocations.')
    return DELETED if args.delete else FOUND


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


def _records(site):
    """The Records of all cells; placement is to be read before them."""
    accepted = site.api_db.read(build_requests.every)
    found = Records({}, collections.defaultdict(set), {row.instance_uuid for row in accepted})
    for cell in site.cells.every(cell0=False):
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
        migrations.in_progress(connection),
    )


def _held(site, providers):
    """[(node uuid, consumer, resources)] of everything on the providers."""
    found = []
    with progress.Count('resource providers', len(providers)) as count:
        for uuid in providers:
            count.add()
            try:
                held = site.placement.providers.allocations(context.admin(), uuid)
            except exception.ResourceProviderNotFound:
                continue  # deleted since it was listed
            found += [(uuid, consumer, resources) for consumer, resources in sorted(held.items())]
    return found


def _tell(node, consumer, resources):
    print(
        f'Allocations were set against consumer UUID {consumer} but no existing instances '
        f'or active migrations are related. Resource provider: {node.hypervisor_hostname} '
        f'({node.uuid}), resources: {resources}'
    )
