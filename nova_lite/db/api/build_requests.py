"""Build requests: servers that were accepted and are in no cell yet.

A row is also the journal of the build: whoever holds its epoch may finish it,
and a row whose lease ran out is taken up by the sweep.
"""

import datetime

import sqlalchemy as sa

from nova_lite import exception
from nova_lite import runtime
from nova_lite.db import rows
from nova_lite.db.api import models

TABLE = models.BuildRequest.__table__


def create(connection, values):
    """Add build requests (a list of dicts of columns)."""
    rows.insert(connection, TABLE, values)


def get(connection, uuid):
    """One build request; raises BuildRequestNotFound."""
    return rows.get(
        connection, TABLE, exception.BuildRequestNotFound(uuid=uuid), instance_uuid=uuid
    )


def find(connection, uuid):
    """One build request or None."""
    return rows.find(connection, TABLE, instance_uuid=uuid)


def of(connection, uuids):
    """Build requests of several servers, in the order they were accepted."""
    return rows.every(connection, TABLE, order_by=TABLE.c.id, instance_uuid=list(uuids))


def every(connection, project_id=None):
    """All build requests, or those of a project, newest first."""
    where = {} if project_id is None else {'project_id': project_id}
    return rows.every(connection, TABLE, order_by=TABLE.c.id.desc(), **where)


def drop(connection, uuid, epoch):
    """Remove a build request that this epoch owns.

    Raises StateChanged when the user deleted it or another owner took over.
    """
    if not rows.delete(connection, TABLE, instance_uuid=uuid, epoch=epoch):
        raise exception.StateChanged(
            what='Build request', key=uuid, detail=f'no row with epoch {epoch}'
        )


def destroy(connection, uuid):
    """Remove a build request whoever owns it; whether there was one."""
    return bool(rows.delete(connection, TABLE, instance_uuid=uuid))


def take_over(connection, lease_s, limit=20):
    """Own the oldest requests whose lease ran out, those of a batch together.

    Locked before they are changed: another that looks at the same time gets none of them.

    Returns {reservation id: [row, ...]} with the raised epochs.
    """
    now = runtime.naive_now()
    due = (
        connection.execute(
            sa.select(TABLE.c.reservation_id)
            .where(TABLE.c.lease_until < now)
            .order_by(TABLE.c.id)
            .limit(limit)
        )
        .scalars()
        .all()
    )
    batches = {}
    for reservation_id in dict.fromkeys(due):
        mine = (
            connection.execute(
                sa.select(TABLE.c.id)
                .where(TABLE.c.reservation_id == reservation_id, TABLE.c.lease_until < now)
                .with_for_update()
            )
            .scalars()
            .all()
        )
        connection.execute(
            TABLE.update()
            .where(TABLE.c.id.in_(mine))
            .values(epoch=TABLE.c.epoch + 1, lease_until=now + datetime.timedelta(seconds=lease_s))
        )
        found = rows.every(connection, TABLE, order_by=TABLE.c.id, id=mine)
        if found:
            batches[reservation_id] = found
    return batches


def expire(connection, epoch_of):
    """Let the leases that these epochs hold end now: the next sweep takes them up.

    epoch_of: {server's uuid: epoch}
    """
    for uuid, epoch in epoch_of.items():
        connection.execute(
            TABLE.update()
            .where(TABLE.c.instance_uuid == uuid, TABLE.c.epoch == epoch)
            .values(lease_until=runtime.naive_now())
        )
