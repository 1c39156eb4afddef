"""Instance mappings: the cell of each server, and its usage in quotas.

During a move to another size the greater of both sizes counts. The saga has the new size, so that
nothing has to be released, whatever the result of the move is: one statement counts the usage, and
the mapping changes before the saga ends.
"""

from collections.abc import Iterable
from collections.abc import Sequence
import functools
import typing

import sqlalchemy as sa

from nova_lite import exception
from nova_lite.db import rows
from nova_lite.db.api import cell_mappings
from nova_lite.db.api import models
from nova_lite.dialects import execute

TABLE = models.InstanceMapping.__table__
SAGAS = models.Saga.__table__
_WITH_SAGAS = TABLE.outerjoin(SAGAS, SAGAS.c.active_for == TABLE.c.instance_uuid)


class Size(typing.TypedDict):
    """The resources that a server counts for in quotas. memory_mb in MiB"""

    vcpus: int
    memory_mb: int


def _greater(name: str) -> sa.ColumnElement[int]:
    """Return the greater of a column of the mapping and that of the saga that moves the server."""
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
_SPECS = models.RequestSpec.__table__
# Texts in the request of a server that has CPUs of its own, or that names its CPUs by class.
_OF_CPUS = ('dedicated', 'mixed', 'PCPU', ':VCPU')
_SPECIAL = (
    sa.select(
        TABLE.c.vcpus,
        SAGAS.c.vcpus.label('saga_vcpus'),
        SAGAS.c.arguments,
        _SPECS.c.spec,
    )
    .select_from(_WITH_SAGAS.join(_SPECS, _SPECS.c.instance_uuid == TABLE.c.instance_uuid))
    .where(
        _COUNTS,
        sa.or_(
            SAGAS.c.vcpus.is_not(None),
            *(sa.type_coerce(_SPECS.c.spec, sa.Text).like(f'%{text}%') for text in _OF_CPUS),
        ),
    )
)
_SPECIAL_OF_PROJECT = _SPECIAL.where(TABLE.c.project_id == sa.bindparam('project'))
_SPECIAL_SERVER = _SPECIAL.where(TABLE.c.instance_uuid == sa.bindparam('uuid'))
_USAGE_OF_USER = _USAGE.where(TABLE.c.user_id == sa.bindparam('user'))


def create(connection: sa.Connection, values: Sequence[rows.Values]) -> None:
    """Add mappings; each has instance_uuid, project_id, user_id, vcpus, memory_mb."""
    rows.insert(connection, TABLE, values)


def get(connection: sa.Connection, uuid: str) -> rows.Row:
    """Return one mapping. Raise InstanceMappingNotFound."""
    return rows.get(
        connection, TABLE, exception.InstanceMappingNotFound(uuid=uuid), instance_uuid=uuid
    )


def find(
    connection: sa.Connection, uuid: str, more: tuple[rows.Expression, ...] = ()
) -> rows.Row | None:
    """Return the columns of one mapping with which a server is found, or None.

    more: further columns, such as `server_groups.OF_MAPPING`
    """
    return execute.first(connection, _found(more), {'uuid': uuid})


@functools.cache
def _found(more: tuple[rows.Expression, ...]) -> rows.Select:
    return sa.select(
        TABLE.c.instance_uuid,
        TABLE.c.cell_id,
        TABLE.c.project_id,
        TABLE.c.user_id,
        TABLE.c.queued_for_delete,
        TABLE.c.created_at,
        *more,
    ).where(TABLE.c.instance_uuid == sa.bindparam('uuid'))


def of(connection: sa.Connection, uuids: Iterable[str]) -> Sequence[rows.Row]:
    """Return the mappings of several servers."""
    return rows.every(connection, TABLE, instance_uuid=list(uuids))


def place(connection: sa.Connection, uuids: list[str], cell_id: int) -> None:
    """Map servers to a cell.

    Raise StateChanged if one is in a cell already, CellMappingNotFound if the cell was deleted.
    """
    cell_mappings.hold(connection, cell_id)
    values = {'cell_id': cell_id}
    if rows.change(connection, TABLE, values, instance_uuid=uuids, cell_id=None) != len(uuids):
        raise exception.StateChanged(
            what='Instance mapping',
            key=', '.join(uuids),
            detail='it is in a cell or does not exist',
        )


def switch(connection: sa.Connection, uuid: str, from_cell_id: int, to_cell_id: int) -> None:
    """Move a server to another cell: the pivot of a cross-cell move. Raises as `place`."""
    cell_mappings.hold(connection, to_cell_id)
    rows.swap(
        connection,
        TABLE,
        {'instance_uuid': uuid},
        {'cell_id': to_cell_id},
        expected={'cell_id': (from_cell_id,)},
        what='Instance mapping',
    )


def set_queued_for_delete(
    connection: sa.Connection, uuids: Sequence[str], queued: bool = True
) -> None:
    """Mark servers as being deleted; with queued=False, after a restore, as existing."""
    rows.change(connection, TABLE, {'queued_for_delete': queued}, instance_uuid=sorted(uuids))


def queue_for_delete(
    connection: sa.Connection, cell_id: int, uuids: Iterable[str], queued: bool
) -> int:
    """Mark servers of a cell as being deleted, or as existing. Return the number of changes."""
    return rows.change(
        connection,
        TABLE,
        {'queued_for_delete': queued},
        instance_uuid=list(uuids),
        cell_id=cell_id,
        queued_for_delete=not queued,
    )


def set_size(connection: sa.Connection, uuid: str, vcpus: int, memory_mb: int) -> None:
    """Set the resources that the server counts for in quotas (MiB)."""
    values = {'vcpus': vcpus, 'memory_mb': memory_mb}
    rows.change(connection, TABLE, values, instance_uuid=uuid)


def counted(connection: sa.Connection, uuid: str) -> Size | None:
    """Return {'vcpus', 'memory_mb'} of a server's usage in quotas; None if it does not count."""
    found = execute.first(connection, _COUNTED, {'uuid': uuid})
    return None if found is None else Size(vcpus=found.vcpus, memory_mb=found.memory_mb)


def with_special_cpus(connection: sa.Connection, project_id: str) -> Sequence[rows.Row]:
    """Return the servers of a project that may have CPUs of their own, or that change size.

    Columns: vcpus, saga_vcpus and arguments (of the saga), spec (the stored request)
    """
    return execute.every(connection, _SPECIAL_OF_PROJECT, {'project': project_id})


def special_cpus(connection: sa.Connection, uuid: str) -> rows.Row | None:
    """Return one server as `with_special_cpus` does, or None."""
    return execute.first(connection, _SPECIAL_SERVER, {'uuid': uuid})


def destroy(connection: sa.Connection, uuid: str) -> None:
    """Delete the mapping of a server."""
    rows.delete(connection, TABLE, instance_uuid=uuid)


def usage(
    connection: sa.Connection, project_id: str, user_id: str | None = None
) -> tuple[int, int, int]:
    """Return (servers, vcpus, MiB): the quota usage of a project, or of a user in it."""
    query, parameters = _USAGE, {'project': project_id}
    if user_id is not None:
        query, parameters['user'] = _USAGE_OF_USER, user_id
    count, vcpus, memory_mb = execute.one(connection, query, parameters)
    return int(count), int(vcpus), int(memory_mb)


def in_cell(
    connection: sa.Connection, cell_id: int, project_id: str | None, *, limit: int
) -> Sequence[rows.Row]:
    """Return the oldest `limit` mappings to a cell, of servers that are not being deleted.

    project_id: None means all projects
    """
    query = sa.select(TABLE).where(TABLE.c.cell_id == cell_id, TABLE.c.queued_for_delete.is_(False))
    if project_id is not None:
        query = query.where(TABLE.c.project_id == project_id)
    return connection.execute(query.order_by(TABLE.c.id).limit(limit)).all()
