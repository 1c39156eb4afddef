"""/v2/resource-locks: locks that prevent the deletion of shares and access rules.

A resource may have several locks. Only a service or an administrator can delete the locks that a
service or an administrator has placed.
"""

import dataclasses
import typing

import falcon
import sqlalchemy as sa

from nova_lite.simcloud import bodies
from nova_lite.simcloud import caller as callers
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import microversions
from nova_lite.simcloud import resources
from nova_lite.simcloud import storage
from nova_lite.simcloud import web
from nova_lite.simcloud.share import microversion
from nova_lite.simcloud.share import tables

LOCKS = tables.locks
DELETE, SHOW = 'delete', 'show'
RESOURCES = {'share': tables.shares, 'access_rule': tables.rules}
ACTIONS = {'share': (DELETE,), 'access_rule': (DELETE, SHOW)}
CREATE = bodies.wrapped(
    'resource_lock',
    {
        'resource_id': bodies.ID,
        'resource_type': {'enum': list(RESOURCES)},
        'resource_action': {'enum': [DELETE, SHOW]},
        'lock_reason': bodies.OPTIONAL_STRING,
    },
    ['resource_id', 'resource_type'],
)
FILTERS = bodies.words(
    'id resource_id resource_type resource_action lock_context lock_reason user_id'
)


def context_of(caller: callers.Caller) -> str:
    """Return the context of locks that the caller places: admin, service or user."""
    if caller.is_service:
        return 'service'
    return 'admin' if caller.is_admin else 'user'


def place(
    conn: sa.Connection, caller: callers.Caller, project_id: str, **values: typing.Any
) -> database.Row:
    """Insert a lock and return its row."""
    return database.insert(
        conn,
        LOCKS,
        project_id=project_id,
        user_id=caller.user_id,
        lock_context=context_of(caller),
        **values,
    )


def require_none(conn: sa.Connection, resource_type: str, resource_id: str) -> None:
    """Raise Conflict if a lock prevents the deletion of a resource."""
    found = database.find(
        conn, LOCKS, resource_type=resource_type, resource_id=resource_id, resource_action=DELETE
    )
    if found:
        raise faults.Conflict(
            f'Resource lock {found["id"]} prevents the deletion of {resource_type} {resource_id}.'
        )


def has(conn: sa.Connection, resource_id: str, action: str) -> bool:
    """Return whether a resource has a lock against `action`."""
    return database.exists(conn, LOCKS, resource_id=resource_id, resource_action=action)


def _create(
    conn: sa.Connection, caller: callers.Caller, wanted: bodies.Json
) -> database.Row | None:
    kind, resource_id = wanted['resource_type'], wanted['resource_id']
    action = wanted.get('resource_action', DELETE)
    if action not in ACTIONS[kind]:
        raise faults.BadRequest(f'Invalid input for resource_action: {kind} has no {action}.')
    row = database.find(conn, RESOURCES[kind], id=resource_id)
    share = row and database.find(conn, tables.shares, id=row.get('share_id', row['id']))
    if share is None or not caller.sees(share['project_id']):
        raise faults.NotFound(f'Resource {resource_id[:64]} could not be found.')
    return place(
        conn,
        caller,
        share['project_id'],
        resource_type=kind,
        resource_id=resource_id,
        resource_action=action,
        lock_reason=wanted.get('lock_reason'),
    )


def _get(conn: sa.Connection, caller: callers.Caller, lock_id: str) -> database.Row:
    row = database.find(conn, LOCKS, id=lock_id)
    if row is None or not caller.sees(row['project_id']):
        raise faults.NotFound(f'Resource lock {lock_id[:64]} could not be found.')
    return row


def _delete(conn: sa.Connection, caller: callers.Caller, lock_id: str) -> None:
    row = _get(conn, caller, lock_id)
    if row['lock_context'] == 'admin':
        caller.require_admin('deleting the lock of an administrator')
    if row['lock_context'] == 'service':
        caller.require_privileged('deleting the lock of a service')
    database.delete(conn, LOCKS, id=row['id'])


def _view(row: database.Row) -> bodies.Json:
    times = {name: storage.stamp(row[name]) for name in ('created_at', 'updated_at')}
    return {**row, **times, 'links': []}


def _listed(conn: sa.Connection, req: web.Request) -> list[database.Row]:
    microversions.require(req, microversion.LOCKS)
    # Clients of Manila use two names for this parameter.
    if req.get_param('all_projects') and not req.get_param('all_tenants'):
        params = typing.cast('dict[str, typing.Any]', req.params)
        params['all_tenants'] = req.get_param('all_projects')
    return storage.listed(conn, req, LOCKS, FILTERS)


RESOURCE = resources.Resource(
    name='resource_lock',
    style=dataclasses.replace(storage.STYLE, created=falcon.HTTP_200, deleted=falcon.HTTP_204),
    listed=_listed,
    get=_get,
    views=resources.each(_view),
    create=(_create, CREATE),
    delete=_delete,
)
