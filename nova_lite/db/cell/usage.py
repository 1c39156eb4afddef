"""The servers of a cell that ran in a period, for usage reports."""

from collections.abc import Sequence
import datetime

import sqlalchemy as sa

from nova_lite.db import paging
from nova_lite.db import rows
from nova_lite.db.cell import models

TABLE = models.Instance.__table__
COLUMNS = tuple(
    TABLE.c[name]
    for name in (
        'uuid', 'project_id', 'display_name', 'vcpus', 'memory_mb', 'root_gb', 'ephemeral_gb',
        'flavor', 'launched_at', 'terminated_at', 'vm_state',
    )
)  # fmt: skip
ORDER = ((TABLE.c.project_id, 'asc'), (TABLE.c.uuid, 'asc'))


def active(
    connection: sa.Connection,
    start: datetime.datetime,
    stop: datetime.datetime,
    *,
    project_id: str | None = None,
    after: rows.Row | None = None,
    limit: int | None = None,
) -> Sequence[rows.Row]:
    """Return servers that ran between two times, sorted by project and uuid, including deleted.

    after: the last row (of this or another cell) of the page before
    """
    conditions = [
        TABLE.c.hidden.is_(False),
        TABLE.c.launched_at < stop,
        sa.or_(TABLE.c.terminated_at.is_(None), TABLE.c.terminated_at >= start),
    ]
    if project_id is not None:
        conditions.append(TABLE.c.project_id == project_id)
    if after is not None:
        conditions.append(paging.after(ORDER, after))
    query = paging.ordered(sa.select(*COLUMNS).where(*conditions), ORDER)
    return connection.execute(query.limit(limit)).all()


def find(connection: sa.Connection, uuid: str) -> rows.Row | None:
    """Return the row of one server to continue after, or None."""
    return connection.execute(sa.select(*COLUMNS).where(TABLE.c.uuid == uuid)).first()
