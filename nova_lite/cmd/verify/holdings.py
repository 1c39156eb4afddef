"""What servers and moves should hold: allocations in placement, guests on nodes."""

import collections

from nova_lite import states
from nova_lite.objects import flavor as flavor_objects
from nova_lite.scheduler import query

NOWHERE = (states.VmState.SHELVED_OFFLOADED, states.VmState.DELETED)
# A record may or may not have a guest while one of these runs, or after a failure.
UNSETTLED = (states.VmState.BUILDING, states.VmState.ERROR, states.VmState.RESCUED)


def expected(picture):
    """{consumer: {provider uuid: {resource class: amount}}} as it should be."""
    wanted = collections.defaultdict(dict)
    nodes = {
        (node.host, node.hypervisor_hostname): node.uuid
        for cell in picture.cells
        for node in cell.nodes
    }
    for _cell, row in picture.instances():
        if row.hidden or not row.host or row.vm_state in NOWHERE:
            continue
        provider = nodes.get((row.host, row.node))
        if provider is not None:
            wanted[row.uuid][provider] = resources(row, picture)
    return wanted


def resources(row, picture):
    """{resource class: amount} that a server of this flavor takes."""
    flavor = flavor_objects.Flavor(**row.flavor)
    spec = picture.specs.get(row.uuid, {})
    return query.flavor_resources(flavor, volume_backed=spec.get('is_bfv', False))


def guests_expected(picture):
    """{(server uuid, node)} where a guest may be."""
    placed = {(row.uuid, row.node) for _cell, row in picture.instances() if row.host}
    for cell in picture.cells:
        for migration in cell.migrations:
            if migration.status not in states.MIGRATION_OVER:
                placed.add((migration.instance_uuid, migration.source_node))
                placed.add((migration.instance_uuid, migration.dest_node))
    return placed


def guests_required(picture):
    """{(server uuid, node)} where a guest must be."""
    return {
        (row.uuid, row.node)
        for _cell, row in picture.instances()
        if row.host
        and not row.hidden
        and not row.task_state
        and row.vm_state not in NOWHERE
        and row.vm_state not in UNSETTLED
    }
