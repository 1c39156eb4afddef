"""Archive of deleted servers: out of the tables that are read, until it is purged.

One table keeps the rows of all others as JSON, since nothing asks for more than
to have them at hand.
"""

import collections
from collections.abc import Callable
from collections.abc import Sequence
import datetime

import sqlalchemy as sa

from nova_lite.db import rows
from nova_lite.db.cell import models

# Servers that are looked for at once.
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

    max_rows: stop once this many rows were moved, but never within a server
    before: only servers deleted before that time
    forget: removes what other databases have of these servers. It is called before the
        transaction ends: a run that is killed after it leaves servers that the next run finds
    busy: returns those of the servers whose rows stay; it is asked after they were found deleted
    Returns (Counter by table, [server uuid, ...]).
    """
    moved: collections.Counter[str] = collections.Counter()
    uuids: list[str] = []
    last = 0
    while moved.total() < max_rows and (found := _deleted(connection, last, max_rows, before)):
        last = found[-1].id
        kept = busy([server.uuid for server in found])
        for server in found:
            if moved.total() < max_rows and server.uuid not in kept:
                moved += _archive_server(connection, server)
                uuids.append(server.uuid)
    forget(uuids)
    return moved, uuids


def _deleted(
    connection: sa.Connection, last: int, count: int, before: datetime.datetime | None
) -> Sequence[rows.Row]:
    """Return deleted servers, oldest first. last: the id of the row after which they come"""
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
    """Forget what was archived, of servers deleted before a time; how many rows."""
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
