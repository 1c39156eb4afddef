"""Server groups and their members.

A member is a server's uuid. Rows of deleted servers may remain; all functions of this module leave
them out, by the instance mappings.
"""

from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Sequence
import functools
import typing

import sqlalchemy as sa

from nova_lite import exception
from nova_lite.db import notes
from nova_lite.db import rows
from nova_lite.db.api import models
from nova_lite.dialects import execute

TABLE = models.InstanceGroup.__table__
MEMBERS = models.InstanceGroupMember.__table__
MAPPINGS = models.InstanceMapping.__table__
ALIVE = sa.and_(
    MAPPINGS.c.instance_uuid == MEMBERS.c.instance_uuid, MAPPINGS.c.queued_for_delete.is_(False)
)
_MEMBERS = (
    sa.select(MEMBERS)
    .join(MAPPINGS, ALIVE)
    .where(MEMBERS.c.group_id.in_(sa.bindparam('groups')))
    .order_by(MAPPINGS.c.id)
)
# The uuid of the group of a mapping's server, NULL without a group.
OF_MAPPING = (
    sa.select(TABLE.c.uuid)
    .join(MEMBERS, TABLE.c.id == MEMBERS.c.group_id)
    .where(MEMBERS.c.instance_uuid == MAPPINGS.c.instance_uuid)
    .order_by(TABLE.c.id)
    .limit(1)
    .scalar_subquery()
    .label('group_uuid')
)


@functools.cache
def _groups(many: bool) -> rows.Select:
    """Query of the groups of the servers `uuids`; see `rows.among`."""
    return (
        sa.select(MEMBERS.c.instance_uuid, TABLE.c.uuid)
        .join(TABLE, TABLE.c.id == MEMBERS.c.group_id)
        .where(rows.among(MEMBERS.c.instance_uuid, 'uuids', many=many))
    )


def create(connection: sa.Connection, values: rows.Values) -> rows.Row:
    """Add a group and return its row."""
    key = rows.insert_returning_id(connection, TABLE, values)
    row = rows.one(connection, TABLE, id=key)
    _note(connection, 'server_group.create', row)
    return row


def get(connection: sa.Connection, uuid: str, project_id: str | None = None) -> rows.Row:
    """Return one group.

    With project_id, only if it is of the project. Raise ServerGroupNotFound.
    """
    where: dict[str, typing.Any] = (
        {'uuid': uuid} if project_id is None else {'uuid': uuid, 'project_id': project_id}
    )
    return rows.get(connection, TABLE, exception.ServerGroupNotFound(group=uuid), **where)


def page(
    connection: sa.Connection,
    project_id: str | None = None,
    *,
    limit: int | None = None,
    offset: int = 0,
) -> Sequence[rows.Row]:
    """Return groups in the order of their creation, of one project or of all."""
    query = sa.select(TABLE).order_by(TABLE.c.id).limit(limit).offset(offset)
    if project_id is not None:
        query = query.where(TABLE.c.project_id == project_id)
    return connection.execute(query).all()


def count(connection: sa.Connection, project_id: str, user_id: str | None = None) -> int:
    """Return the number of groups of a project, or of a user in it."""
    query = sa.select(sa.func.count()).select_from(TABLE).where(TABLE.c.project_id == project_id)
    if user_id is not None:
        query = query.where(TABLE.c.user_id == user_id)
    return connection.execute(query).scalar_one()


def destroy(connection: sa.Connection, uuid: str, project_id: str | None = None) -> None:
    """Remove a group and its memberships; raises ServerGroupNotFound."""
    row = get(connection, uuid, project_id)
    _note(connection, 'server_group.delete', row)
    rows.delete(connection, MEMBERS, group_id=row.id)
    rows.delete(connection, TABLE, id=row.id)


def members(connection: sa.Connection, group_ids: Iterable[int]) -> dict[int, list[str]]:
    """Return {group id: [server uuid, ...]} of several groups, without empty groups."""
    found = execute.every(connection, _MEMBERS, {'groups': execute.filled(group_ids)})
    grouped: dict[int, list[str]] = {}
    for row in found:
        grouped.setdefault(row.group_id, []).append(row.instance_uuid)
    return grouped


def add_members(connection: sa.Connection, group: rows.Row, uuids: Collection[str]) -> None:
    """Add servers to a group (its row), unless they are members already.

    Raises ServerGroupNotFound if the group was deleted since it was read.
    """
    group_id = group.id
    row = rows.lock(connection, TABLE, id=group_id)
    if row is None:
        raise exception.ServerGroupNotFound(group=group.uuid)
    found = rows.every(connection, MEMBERS, group_id=group_id, instance_uuid=list(uuids))
    known = {member.instance_uuid for member in found}
    rows.insert(
        connection,
        MEMBERS,
        [{'group_id': group_id, 'instance_uuid': uuid} for uuid in uuids if uuid not in known],
    )
    if notes.is_kept(connection):
        for uuid in uuids:
            if uuid not in known:
                _note(connection, 'server_group.add_member', row, [uuid])


def _note(connection: sa.Connection, what: str, row: rows.Row, uuids: Iterable[str] = ()) -> None:
    """Note a change for notifications. uuids: the changed members; empty: the whole group"""
    values = {
        **row._mapping,
        'policies': [row.policy],
        'members': list(uuids),
        'hosts': None,
        'rules': {name: str(value) for name, value in row.rules.items()},
    }
    notes.add(connection, what, values=values)


def leave(connection: sa.Connection, uuids: Iterable[str]) -> int:
    """Remove servers from their groups. Return the number of removed memberships."""
    return rows.delete(connection, MEMBERS, instance_uuid=list(uuids))


def groups_of(connection: sa.Connection, uuids: Iterable[str]) -> dict[str, str]:
    """Return {server uuid: uuid of its group} of the servers in a group."""
    many, parameter = rows.one_or_many(list(uuids))
    return dict(execute.every(connection, _groups(many), {'uuids': parameter}))
