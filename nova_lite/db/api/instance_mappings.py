"""Instance mappings: the cell of each server, and what it counts for in quotas.

A move to another size counts for the greater of both until it ends. The new size is in
its saga, so that nothing has to be given back, whatever becomes of the move: usage is
counted in one statement, and the mapping changes before the saga ends.
"""

import sqlalchemy as sa

from nova_lite import exception
from nova_lite.db import rows
from nova_lite.db.api import models

TABLE = models.InstanceMapping.__table__
SAGAS = models.Saga.__table__
_WITH_SAGAS = TABLE.outerjoin(SAGAS, SAGAS.c.active_for == TABLE.c.instance_uuid)


def _greater(name):
    """Column of a mapping, or of the saga that moves the server where that is greater."""
    return sa.case((SAGAS.c[name] > TABLE.c[name], SAGAS.c[name]), else_=TABLE.c[name])


VCPUS, MEMORY_MB = _greater('vcpus'), _greater('memory_mb')
_COUNTS = TABLE.c.queued_for_delete.is_(False)
_COUNTED = (
    sa.select(VCPUS.label('vcpus'), MEMORY_MB.label('memory_mb'))
    .select_from(_WITH_SAGAS)
    .where(TABLE.c.instance_uuid == sa.bindparam('uuid'), _COUNTS)
)
_USAGE = (
    sa.select(
        sa.func.count(),
        sa.func.coalesce(sa.func.sum(VCPUS), 0),
        sa.func.coalesce(sa.func.sum(MEMORY_MB), 0),
    )
    .select_from(_WITH_SAGAS)
    .where(TABLE.c.project_id == sa.bindparam('project'), _COUNTS)
)
_USAGE_OF_USER = _USAGE.where(TABLE.c.user_id == sa.bindparam('user'))


def create(connection, values):
    """Add mappings; each has instance_uuid, project_id, user_id, vcpus, memory_mb."""
    rows.insert(connection, TABLE, values)


def get(connection, uuid):
    """One mapping; raises InstanceMappingNotFound."""
    return rows.get(
        connection, TABLE, exception.InstanceMappingNotFound(uuid=uuid), instance_uuid=uuid
    )


def find(connection, uuid):
    """One mapping or None."""
    return rows.find(connection, TABLE, instance_uuid=uuid)


def of(connection, uuids):
    """Mappings of several servers."""
    return rows.every(connection, TABLE, instance_uuid=list(uuids))


def place(connection, uuid, cell_id):
    """Say that the server is in a cell; raises StateChanged if it is in one already."""
    rows.swap(
        connection,
        TABLE,
        {'instance_uuid': uuid},
        {'cell_id': cell_id},
        expected={'cell_id': (None,)},
        what='Instance mapping',
    )


def switch(connection, uuid, from_cell_id, to_cell_id):
    """Move a server to another cell: the pivot of a cross-cell move."""
    rows.swap(
        connection,
        TABLE,
        {'instance_uuid': uuid},
        {'cell_id': to_cell_id},
        expected={'cell_id': (from_cell_id,)},
        what='Instance mapping',
    )


def set_queued_for_delete(connection, uuid, queued=True):
    """Mark a server as going away (or, when restored, as staying)."""
    rows.change(connection, TABLE, {'queued_for_delete': queued}, instance_uuid=uuid)


def queue_for_delete(connection, cell_id, uuids, queued):
    """Mark servers of a cell as going away, or as staying; how many were not marked so."""
    return rows.change(
        connection,
        TABLE,
        {'queued_for_delete': queued},
        instance_uuid=list(uuids),
        cell_id=cell_id,
        queued_for_delete=not queued,
    )


def set_size(connection, uuid, vcpus, memory_mb):
    """What the server counts for in quotas from now on (MiB)."""
    values = {'vcpus': vcpus, 'memory_mb': memory_mb}
    rows.change(connection, TABLE, values, instance_uuid=uuid)


def counted(connection, uuid):
    """{'vcpus', 'memory_mb'} that a server counts for now; None when it does not count."""
    found = connection.execute(_COUNTED, {'uuid': uuid}).first()
    return None if found is None else dict(found._mapping)


def destroy(connection, uuid):
    """Forget a server."""
    rows.delete(connection, TABLE, instance_uuid=uuid)


def usage(connection, project_id, user_id=None):
    """(servers, vcpus, MiB) that count against a project's quota, or one user's in it."""
    query, parameters = _USAGE, {'project': project_id}
    if user_id is not None:
        query, parameters['user'] = _USAGE_OF_USER, user_id
    count, vcpus, memory_mb = connection.execute(query, parameters).one()
    return int(count), int(vcpus), int(memory_mb)


def in_cell(connection, cell_id, project_id=None):
    """Mappings into one cell that are not going away."""
    where = {'cell_id': cell_id, 'queued_for_delete': False}
    if project_id is not None:
        where['project_id'] = project_id
    return rows.every(connection, TABLE, order_by=TABLE.c.id, **where)
