"""db archive_deleted_rows and db purge: archive and purge deleted servers."""

import collections
from collections.abc import Collection
from collections.abc import Iterator
import datetime
import typing

import sqlalchemy as sa

from nova_lite import exception
from nova_lite import runtime
from nova_lite.db import rows
from nova_lite.db import transactions
from nova_lite.db.api import instance_mappings
from nova_lite.db.api import request_specs
from nova_lite.db.api import sagas
from nova_lite.db.api import server_groups
from nova_lite.db.cell import archive
from nova_lite.db.cell import task_log
from nova_lite.manage import command
from nova_lite.terminal import progress_display

BEFORE = command.option(
    '--before', metavar='DATE', help='only servers that were deleted before this time (UTC)'
)
ALL_CELLS = command.flag('--all-cells', 'all cells, instead of the one in the configuration')
MOST = 2**31 - 1
# {table: number of moved rows}
Moved: typing.TypeAlias = collections.Counter[str]
Databases: typing.TypeAlias = list[tuple[int | None, transactions.Database]]


@command.verb(
    'db',
    command.option(
        '--max_rows',
        type=int,
        default=1000,
        metavar='N',
        help='number of rows to archive in one transaction (default: %(default)s)',
    ),
    command.VERBOSE,
    command.flag('--until-complete', 'repeat until nothing is left to archive'),
    BEFORE,
    command.flag('--purge', 'purge the archived rows afterwards'),
    ALL_CELLS,
    command.flag(
        '--task-log', 'delete the records of usage audits, too, except those of the last period'
    ),
    command.option(
        '--sleep',
        type=int,
        default=0,
        metavar='S',
        help='pause between transactions, in seconds (default: %(default)s)',
    ),
)
def archive_deleted_rows(deployment: command.Deployment, args: command.Args) -> int:
    """Move the rows of deleted servers to the table archived_rows."""
    if not 0 < args.max_rows <= MOST:
        print('Must supply a positive value for max_rows')
        return 2
    try:
        before = command.moment(args.before) if args.before else None
    except ValueError as error:
        print(f'Invalid value for --before: {error}')
        return 4
    try:
        found = _databases(deployment, args.all_cells)
    except exception.NovaLiteError as error:
        print(f'Failed to connect to API DB so aborting this archival attempt: {error}')
        return 3
    moved, kept = Moved(), set[str]()
    with progress_display.Count('rows archived', None) as count:
        for cell_id, database in found:
            batches = _archive(
                deployment, args, database, cell_id=cell_id, before=before, kept=kept
            )
            for batch in batches:
                moved += batch
                count.add(batch.total())
    if args.task_log:
        audits = sum(database.write(task_log.purge, before) for _cell_id, database in found)
        moved += Moved({task_log.TABLE.name: audits})
    _report(deployment, args, moved, kept)
    return 1 if moved else 0


@command.verb(
    'db',
    command.flag('--all', 'all archived rows'),
    BEFORE,
    command.VERBOSE,
    ALL_CELLS,
)
def purge(deployment: command.Deployment, args: command.Args) -> int:
    """Delete archived rows."""
    if not args.all and not args.before:
        print('Either --all or --before must be given')
        return 1
    try:
        before = command.moment(args.before) if args.before else None
    except ValueError as error:
        print(f'Invalid value for --before: {error}')
        return 2
    try:
        found = _databases(deployment, args.all_cells)
    except exception.NovaLiteError as error:
        print(f'Unable to get cell list from API DB. Is it configured? {error}')
        return 4
    count = sum(database.write(archive.purge, before) for _cell_id, database in found)
    deployment.found['rows'] = count
    if args.verbose:
        print(f'Purged {count} rows')
    return 0 if count else 3


def _databases(deployment: command.Deployment, all_cells: bool) -> Databases:
    """Return [(cell id or None, database)] of all cells, of the configured cell, or of cell0."""
    every = deployment.cells.every()
    if all_cells:
        return [(cell.id, cell.db) for cell in every]
    if not deployment.cell_url:
        return [(deployment.cells.cell0.id, deployment.cells.cell0.db)]
    for cell in every:
        if cell.db.url == deployment.cell_url:
            return [(cell.id, cell.db)]
    return [(None, transactions.Database(deployment.cell_url))]


def _archive(
    deployment: command.Deployment,
    args: command.Args,
    database: transactions.Database,
    *,
    cell_id: int | None,
    before: datetime.datetime | None,
    kept: set[str],
) -> Iterator[Moved]:
    """Archive deleted servers of a cell in batches. Yield the moved rows of each batch.

    kept: set to which the uuids of servers are added that are not archived yet
    """

    def busy(uuids: list[str]) -> set[str]:
        found = deployment.api_db.read(_busy, uuids)
        kept.update(found)
        return found

    while True:
        forgotten = Moved()

        def forget(uuids: list[str], forgotten: Moved = forgotten) -> None:
            forgotten.update(deployment.api_db.write(_forget, cell_id, uuids))

        batch, uuids = database.write(archive.archive, args.max_rows, before, forget, busy)
        yield batch + forgotten
        if not args.until_complete or not uuids:
            break
        if args.verbose and not args.json:
            print('.', end='', flush=True)
        runtime.sleep(args.sleep)
    if args.purge:
        database.write(archive.purge, before)


def _busy(connection: sa.Connection, uuids: list[str]) -> set[str]:
    """Return the servers with a saga that has not ended: the saga still needs their records."""
    return {saga.instance_uuid for saga in sagas.unfinished(connection, uuids)}


def _forget(connection: sa.Connection, cell_id: int | None, uuids: list[str]) -> Moved:
    """Delete the rows of servers in the API database, if their last cell is `cell_id`."""
    mappings = instance_mappings.TABLE
    mine = list(
        connection.scalars(
            sa.select(mappings.c.instance_uuid).where(
                mappings.c.instance_uuid.in_(uuids), mappings.c.cell_id == cell_id
            )
        )
    )
    counts = {
        'API_DB.instance_group_member': server_groups.leave(connection, mine),
        'API_DB.request_specs': rows.delete(connection, request_specs.TABLE, instance_uuid=mine),
        'API_DB.instance_mappings': rows.delete(connection, mappings, instance_uuid=mine),
    }
    return +Moved(counts)


def _report(
    deployment: command.Deployment, args: command.Args, moved: Moved, kept: Collection[str]
) -> None:
    if args.json or (args.verbose and moved):
        columns = {'table': 'Table', 'rows': 'Number of Rows Archived'}
        command.print_list(deployment, args, columns, sorted(moved.items()))
    if args.json or not args.verbose:
        return
    if not moved:
        print('Nothing was archived.')
    if kept:
        print(f'{len(kept)} deleted servers stay until their sagas have ended.')
    if args.purge and moved:
        print('Rows were archived, running purge...')
