"""Pages of the actions of a server."""

from collections.abc import Sequence
import datetime

import sqlalchemy as sa

from nova_lite import exception
from nova_lite.db import paging
from nova_lite.db import rows
from nova_lite.db.cell import models

TABLE = models.InstanceAction.__table__


def page(
    connection: sa.Connection,
    uuid: str,
    *,
    limit: int | None = None,
    marker: str | None = None,
    since: datetime.datetime | None = None,
    before: datetime.datetime | None = None,
) -> Sequence[rows.Row]:
    """Actions of a server, newest first.

    marker: request id of the last one of the page before; raises MarkerNotFound
    since, before: span of the last change, both ends included
    """
    keys = [(TABLE.c.created_at, 'desc'), (TABLE.c.id, 'desc')]
    query = paging.ordered(sa.select(TABLE).where(TABLE.c.instance_uuid == uuid), keys)
    if since is not None:
        query = query.where(TABLE.c.updated_at >= since)
    if before is not None:
        query = query.where(TABLE.c.updated_at <= before)
    if marker is not None:
        error = exception.MarkerNotFound(marker=marker)
        last = rows.every(
            connection, TABLE, order_by=TABLE.c.id.desc(), instance_uuid=uuid, request_id=marker
        )
        if not last:
            raise error
        query = query.where(paging.after(keys, last[0]))
    return connection.execute(query.limit(limit)).all()
