"""Servers of a cell by the time of their last change."""

from collections.abc import Sequence
import datetime

import sqlalchemy as sa

from nova_lite.db import rows
from nova_lite.db.cell import instances
from nova_lite.dialects import execute

_SERVERS = instances.TABLE
_UNTIL = (
    sa.select(_SERVERS.c.id, _SERVERS.c.uuid, sa.not_(instances.GOES).label('stays'))
    .where(
        _SERVERS.c.hidden.is_(False),
        instances.changed_at <= sa.bindparam('until'),
        _SERVERS.c.id > sa.bindparam('after_id'),
    )
    .order_by(_SERVERS.c.id)
    .limit(1000)
)
_BETWEEN = _UNTIL.where(instances.changed_at > sa.bindparam('since'))


def between(
    connection: sa.Connection,
    since: datetime.datetime | None,
    until: datetime.datetime,
    *,
    after_id: int = 0,
) -> Sequence[rows.Row]:
    """Return (id, uuid, whether it stays) of 1,000 servers that last changed in a time range.

    since: None: no lower limit; until: included
    """
    parameters = {'until': until, 'after_id': after_id}
    if since is None:
        return execute.every(connection, _UNTIL, parameters)
    return execute.every(connection, _BETWEEN, {**parameters, 'since': since})
