"""cell_v2: mappings of servers."""

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence

from oslo_db import exception as db_exception
import sqlalchemy as sa

from nova_lite import cells as cells_module
from nova_lite.db import rows
from nova_lite.db.api import cell_mappings
from nova_lite.db.api import instance_mappings
from nova_lite.db.cell import instances
from nova_lite.manage import cells
from nova_lite.manage import command
from nova_lite.terminal import progress_display

BATCH = 50


@command.verb(
    'cell_v2',
    command.option('--uuid', required=True, metavar='UUID', help='uuid of the server'),
    command.flag('--quiet', 'print nothing; use the exit code'),
)
def verify_instance(deployment: command.Deployment, args: command.Args) -> int:
    """Check that the cell of a server's mapping has the server."""
    say: Callable[[str], None] = (lambda _text: None) if args.quiet else print
    mapping = deployment.api_db.read(instance_mappings.find, args.uuid)
    if mapping is None:
        say(f'Instance {args.uuid} is not mapped to a cell (upgrade is incomplete)')
        return 1
    if mapping.cell_id is None:
        say(f'Instance {args.uuid} is not mapped to a cell (instance is being built)')
        return 2
    cell = deployment.cells.by_id(mapping.cell_id)
    deployment.found |= {'cell_name': cell.name, 'cell_uuid': cell.uuid}
    row = cell.db.read(instances.find, args.uuid)
    if row is None:
        say(f'The instance with uuid {args.uuid} has been deleted and archived.')
        return 4
    if row.deleted:
        say(f'The instance with uuid {args.uuid} has been deleted.')
        return 3
    say(f'Instance {args.uuid} is in cell: {cell.name} ({cell.uuid})')
    return 0


@command.verb(
    'cell_v2',
    cells.UUID,
    command.option('--max-count', type=int, metavar='N', help='largest number of servers to map'),
    command.flag(
        '--reset', 'ignored, because a run always starts at the first server; accepted for scripts'
    ),
)
def map_instances(deployment: command.Deployment, args: command.Args) -> int:
    """Map the servers of a cell that have no mapping."""
    if args.max_count is not None and args.max_count < 1:
        print('Must supply a positive value for max-count')
        return 127
    # An unknown cell raises, because exit code 1 means that the command must be repeated.
    cell = deployment.cells.get(args.cell_uuid)
    left, deployment.found['mapped'] = args.max_count, 0
    with progress_display.Count(f'servers of {cell.name}', None) as count:
        for batch in _batches(cell):
            missing = _map_missing(deployment, cell, batch, left)
            deployment.found['mapped'] += len(missing[:left])
            count.add(len(batch))
            if left is not None:
                left -= len(missing)
                if left < 0:
                    return 1
    return 0


def _map_missing(
    deployment: command.Deployment,
    cell: cells_module.Cell,
    batch: Sequence[rows.Row],
    most: int | None,
) -> list[rows.Row]:
    """Map up to `most` of the servers without a mapping. Return all that had none."""
    while True:
        missing = deployment.api_db.read(_missing, batch)
        try:
            deployment.api_db.write(_map, cell.id, missing[:most])
        except db_exception.DBDuplicateEntry:
            # Another command has mapped some of them meanwhile.
            continue
        return missing


def _batches(cell: cells_module.Cell) -> Iterator[Sequence[rows.Row]]:
    last = 0
    while found := cell.db.read(_after, last):
        yield found
        last = found[-1].id


def _after(connection: sa.Connection, last: int) -> Sequence[rows.Row]:
    """Return the next servers after the row with the id `last`."""
    table = instances.TABLE
    query = (
        sa.select(table)
        .where(table.c.id > last, table.c.deleted.is_(False), table.c.hidden.is_(False))
        .order_by(table.c.id)
        .limit(BATCH)
    )
    return connection.execute(query).all()


def _missing(connection: sa.Connection, servers: Sequence[rows.Row]) -> list[rows.Row]:
    """Return the servers that have no mapping."""
    known = {
        mapping.instance_uuid
        for mapping in instance_mappings.of(connection, [row.uuid for row in servers])
    }
    return [row for row in servers if row.uuid not in known]


def _map(connection: sa.Connection, cell_id: int, servers: Sequence[rows.Row]) -> None:
    cell_mappings.hold(connection, cell_id)
    instance_mappings.create(
        connection,
        [
            {
                'instance_uuid': row.uuid,
                'cell_id': cell_id,
                'project_id': row.project_id,
                'user_id': row.user_id,
                'vcpus': row.vcpus,
                'memory_mb': row.memory_mb,
            }
            for row in servers
        ],
    )
