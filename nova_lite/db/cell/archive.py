"""The archive of deleted servers, whose rows leave the tables until they are purged.

One table stores the rows of all others as JSON, since no query reads their columns.
"""

import collections
from collections.abc import Callable
from collections.abc import Sequence
import datetime

import sqlalchemy as sa

from nova_lite.db import rows
from nova_lite.db.cell import models

# Number of servers per query.
BATCH = 500
ARCHIVE = models.ArchivedRow.__table__
INSTANCES = models.Instance.__table__
ACTIONS = models.InstanceAction.__table__
EVENTS = models.InstanceActionEvent.__table__
CHILDREN = (
    models.BlockDevice.__table__,
    models.Tag.__table__,
    models.ShareMapping.__table__,
    models.InstanceFault.__table__,
    models.Migration.__table__,
    models.ConsoleToken.__table__,
)


def archive(
    connection: sa.Connection,
    max_rows: int,
    before: datetime.datetime | None = None,
    forget: Callable[[list[str]], None] = lambda uuids: None,
    busy: Callable[[list[str]], set[str]] = lambda uuids: set(),
) -> tuple[collections.Counter[str], list[str]]:
    """Move deleted servers with all their rows, oldest first.

    max_rows: stop after so many rows, but never within a server
    before: only servers that were deleted before that time
    forget: function that removes the servers' rows in other databases. It is called before the
        transaction ends, so that after a kill the next run finds the servers again
    busy: function that returns the servers whose rows must stay; called after they were found
        deleted
    Servers that another command archives at the same time are left to it.
    Returns (Counter by table, [server uuid, ...]).
    """
    moved: collections.Counter[str] = collections.Counter()
    uuids: list[str] = []
    last = 0
    while moved.total() < max_rows and (found := _deleted(connection, last, max_rows, before)):
        last = found[-1].id
        kept = busy([server.uuid for server in found])
        for server in found:
            if moved.total() >= max_rows or server.uuid in kept:
                continue
            if rows.lock(connection, INSTANCES, id=server.id) is not None:
                moved += _archive_server(connection, server)
                uuids.append(server.uuid)
    forget(uuids)
    return moved, uuids


def _deleted(
    connection: sa.Connection, last: int, count: int, before: datetime.datetime | None
) -> Sequence[rows.Row]:
    """Return deleted servers, oldest first. last: id of the last row of the query before"""
    conditions: list[rows.Condition] = [INSTANCES.c.deleted.is_(True), INSTANCES.c.id > last]
    if before is not None:
        conditions.append(INSTANCES.c.deleted_at < before)
    return connection.execute(
        sa.select(INSTANCES.c.id, INSTANCES.c.uuid, INSTANCES.c.deleted_at)
        .where(*conditions)
        .order_by(INSTANCES.c.id)
        .limit(min(count, BATCH))
    ).all()


def purge(connection: sa.Connection, before: datetime.datetime | None = None) -> int:
    """Delete archived rows of servers that were deleted before a time. Return their number."""
    query = ARCHIVE.delete()
    if before is not None:
        query = query.where(ARCHIVE.c.deleted_at < before)
    return connection.execute(query).rowcount


def _archive_server(connection: sa.Connection, server: rows.Row) -> collections.Counter[str]:
    actions = sa.select(ACTIONS.c.id).where(ACTIONS.c.instance_uuid == server.uuid)
    parts = [(EVENTS, EVENTS.c.action_id.in_(actions)), (ACTIONS, None)]
    parts += [(table, None) for table in CHILDREN]
    parts.append((INSTANCES, INSTANCES.c.uuid == server.uuid))
    moved: collections.Counter[str] = collections.Counter()
    for table, condition in parts:
        if condition is None:
            condition = table.c.instance_uuid == server.uuid
        found = rows.every(connection, table, condition)
        kept = [
            {
                'table_name': table.name,
                'instance_uuid': server.uuid,
                'deleted_at': server.deleted_at,
                'row': {name: _plain(value) for name, value in row._mapping.items()},
            }
            for row in found
        ]
        rows.insert(connection, ARCHIVE, kept)
        connection.execute(table.delete().where(condition))
        moved[table.name] += len(kept)
    return +moved


def _plain(value: object) -> object:
    return value.isoformat() if hasattr(value, 'isoformat') else value
