"""Migration records of a cell."""

from collections.abc import Iterable
from collections.abc import Sequence
import typing

import sqlalchemy as sa

from nova_lite import exception
from nova_lite import states
from nova_lite.db import known
from nova_lite.db import rows
from nova_lite.db.cell import models
from nova_lite.dialects import execute

TABLE = models.Migration.__table__
# Key in `data` of an undone move: {'host', 'node'} of a destination that could not be called to
# remove the guest.
LEFT = 'left'
# The columns of a migration without a destination.
NOWHERE = {'dest_compute': None, 'dest_node': None, 'dest_host': None}
UNDONE = [
    str(status)
    for status in (
        states.MigrationStatus.ERROR,
        states.MigrationStatus.FAILED,
        states.MigrationStatus.CANCELLED,
    )
]
OVER = [str(status) for status in states.MIGRATION_OVER]
STAYED = [str(states.MigrationStatus.CONFIRMED), str(states.MigrationStatus.COMPLETED)]
_OPEN = TABLE.c.status.not_in(OVER)
# The key of rows of `newest_ends` begins with this.
_ENDS = 'newest migration'
_NEWEST_ENDS = (
    sa.select(TABLE.c.source_compute, TABLE.c.cross_cell_move)
    .where(TABLE.c.instance_uuid == sa.bindparam('uuid'))
    .order_by(TABLE.c.id.desc())
    .limit(1)
)
_AT_HOST = sa.or_(
    TABLE.c.source_compute == sa.bindparam('end'), TABLE.c.dest_compute == sa.bindparam('end')
)
# Also statuses of evacuations whose former host has not cleaned up.
_HOLDING = sa.or_(
    _OPEN,
    sa.and_(
        TABLE.c.migration_type == str(states.MigrationType.EVACUATION),
        TABLE.c.status == str(states.MigrationStatus.DONE),
    ),
)


def create(connection: sa.Connection, values: rows.Values) -> int:
    """Add a migration. Return its id."""
    _forget_ends(connection)
    return rows.insert_returning_id(connection, TABLE, values)


def get(connection: sa.Connection, uuid: str) -> rows.Row:
    """Return one migration by uuid. Raise MigrationNotFound."""
    return rows.get(connection, TABLE, exception.MigrationNotFound(migration_id=uuid), uuid=uuid)


def find(connection: sa.Connection, uuid: str) -> rows.Row | None:
    """Return one migration by uuid, or None."""
    return rows.find(connection, TABLE, uuid=uuid)


def ended_at_destination(connection: sa.Connection, uuids: Iterable[str]) -> list[str]:
    """Return the subset of migrations that no one can revert, as their servers have stayed."""
    found = rows.every(connection, TABLE, uuid=list(uuids), status=STAYED)
    return [row.uuid for row in found]


def update(
    connection: sa.Connection,
    uuid: str,
    values: rows.Values,
    *,
    expect_status: Iterable[str] | None = None,
) -> None:
    """Change columns. Raise StateChanged if the status is not in `expect_status` (None: any)."""
    if 'cross_cell_move' in values:
        _forget_ends(connection)
    expected = {} if expect_status is None else {'status': tuple(expect_status)}
    rows.swap(connection, TABLE, {'uuid': uuid}, values, expected=expected, what='Migration')


def drop(connection: sa.Connection, uuid: str) -> None:
    """Remove a migration that was never visible to users."""
    rows.delete(connection, TABLE, uuid=uuid)


def of_instance(
    connection: sa.Connection, uuid: str, statuses: Iterable[str] | None = None
) -> Sequence[rows.Row]:
    """Return migrations of a server, oldest first."""
    where: dict[str, typing.Any] = {'instance_uuid': uuid}
    if statuses is not None:
        where['status'] = list(statuses)
    return rows.every(connection, TABLE, order_by=TABLE.c.id, **where)


def newest_ends(connection: sa.Connection, uuid: str) -> rows.Row | None:
    """Return source_compute and cross_cell_move of the newest migration of a server, or None.

    Only `create` and `update` change these. A transaction reads them once.
    """
    seen, key = known.of(connection), (_ENDS, uuid)
    found: rows.Row | None = seen.get(key)
    if found is None:
        found = execute.first(connection, _NEWEST_ENDS, {'uuid': uuid})
        if found is not None:
            seen[key] = found
    return found


def _forget_ends(connection: sa.Connection) -> None:
    seen = known.of(connection)
    for key in [key for key in seen if isinstance(key, tuple) and key[0] == _ENDS]:
        del seen[key]


def left_behind(connection: sa.Connection, uuid: str) -> list[rows.Row]:
    """Return undone moves of a server whose destination may still have, and run, the guest.

    Moves are left out whose destination had a part in a later move and was called then. If that
    later move was undone, it may not have called the destination.
    """
    found: dict[str, rows.Row] = {}
    for row in of_instance(connection, uuid):
        found.pop(row.source_compute, None)
        if row.status not in UNDONE:
            found.pop(row.dest_compute, None)
        if LEFT in row.data:
            found[row.data[LEFT]['host']] = row
    return list(found.values())


def drop_left(connection: sa.Connection, uuid: str) -> None:
    """Delete the note that a destination may have kept the guest."""
    row = find(connection, uuid)
    if row is None or row.migration_type == states.MigrationType.UNSHELVE:
        drop(connection, uuid)
        return
    kept = {name: value for name, value in row.data.items() if name != LEFT}
    update(connection, uuid, {'data': kept})


def in_progress(connection: sa.Connection, host: str | None = None) -> Sequence[rows.Row]:
    """Return migrations that still hold resources, on any host or with `host` at either end."""
    if host is None:
        return rows.every(connection, TABLE, _OPEN, order_by=TABLE.c.id)
    given = {'end': host}
    return rows.every(connection, TABLE, _OPEN, _AT_HOST, order_by=TABLE.c.id, given=given)


def holding(connection: sa.Connection) -> Sequence[rows.Row]:
    """Return migrations whose hosts may hold resources, including evacuations not cleaned up."""
    return rows.every(connection, TABLE, _HOLDING, order_by=TABLE.c.id)
