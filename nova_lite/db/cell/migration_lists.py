"""Pages of migrations, newest first: the same order in every cell."""

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
import datetime

import sqlalchemy as sa

from nova_lite.db import paging
from nova_lite.db import rows
from nova_lite.db.cell import migrations

TABLE = migrations.TABLE
KEYS = ((TABLE.c.created_at, 'desc'), (TABLE.c.id, 'desc'))


def every(connection: sa.Connection, where: rows.Values) -> Sequence[rows.Row]:
    """Return all matching migrations, unordered. where: {column: value}; 'host' means either end"""
    return connection.execute(sa.select(TABLE).where(*_conditions(where))).all()


def page(
    connection: sa.Connection,
    where: rows.Values,
    *,
    limit: int | None,
    since: datetime.datetime | None = None,
    before: datetime.datetime | None = None,
    marker: rows.Row | None = None,
) -> Sequence[rows.Row]:
    """Return at most `limit` matching migrations after the row `marker`.

    since, before: range of the time of the last change, both ends included
    """
    changed = sa.func.coalesce(TABLE.c.updated_at, TABLE.c.created_at)
    query = paging.ordered(sa.select(TABLE).where(*_conditions(where)), KEYS)
    if since is not None:
        query = query.where(changed >= since)
    if before is not None:
        query = query.where(changed <= before)
    if marker is not None:
        query = query.where(paging.after(KEYS, marker))
    return connection.execute(query.limit(limit)).all()


def records(connection: sa.Connection, uuids: Iterable[str]) -> Sequence[rows.Row]:
    """Return the migrations with these uuids that are not hidden."""
    return rows.every(connection, TABLE, uuid=list(uuids), hidden=False)


def _conditions(where: rows.Values) -> Iterator[rows.Condition]:
    # Hidden migrations are never shown, even if a filter requests them.
    yield TABLE.c.hidden.is_(False)
    for name, value in where.items():
        if name == 'host':
            yield sa.or_(TABLE.c.source_compute == value, TABLE.c.dest_compute == value)
        elif name == 'hidden':
            yield TABLE.c.hidden.is_(value)
        else:
            yield TABLE.c[name] == value
