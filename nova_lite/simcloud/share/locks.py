"""/v2/resource-locks: what prevents the deletion of shares and access rules.

A resource may have several locks. Those that a service or an administrator placed are removed
by these alone.
"""

import dataclasses

import falcon

from nova_lite.simcloud import bodies
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import microversions
from nova_lite.simcloud import resources
from nova_lite.simcloud import storage
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


def context_of(caller):
    """Return as what the caller places locks."""
    if caller.is_service:
        return 'service'
    return 'admin' if caller.is_admin else 'user'


def place(conn, caller, project_id, **values):
    """Insert a lock and return its row."""
    return database.insert(
        conn,
        LOCKS,
        project_id=project_id,
        user_id=caller.user_id,
        lock_context=context_of(caller),
        **values,
    )


def require_none(conn, resource_type, resource_id):
    """Raise Conflict if a lock prevents the deletion of a resource."""
    found = database.find(
        conn, LOCKS, resource_type=resource_type, resource_id=resource_id, resource_action=DELETE
    )
    if found:
        raise faults.Conflict(
            f'Resource lock {found["id"]} prevents the deletion of {resource_type} {resource_id}.'
        )


def has(conn, resource_id, action):
    """Return whether a lock prevents an action on a resource."""
    return database.exists(conn, LOCKS, resource_id=resource_id, resource_action=action)


def _create(conn, caller, wanted):
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


def _get(conn, caller, lock_id):
    row = database.find(conn, LOCKS, id=lock_id)
    if row is None or not caller.sees(row['project_id']):
        raise faults.NotFound(f'Resource lock {lock_id[:64]} could not be found.')
    return row


def _delete(conn, caller, lock_id):
    row = _get(conn, caller, lock_id)
    if row['lock_context'] == 'admin':
        caller.require_admin('deleting the lock of an administrator')
    if row['lock_context'] == 'service':
        caller.require_privileged('deleting the lock of a service')
    database.delete(conn, LOCKS, id=row['id'])


def _view(row):
    times = {name: storage.stamp(row[name]) for name in ('created_at', 'updated_at')}
    return {**row, **times, 'links': []}


def _listed(conn, req):
    microversions.require(req, microversion.LOCKS)
    # Clients of Manila have two names for this.
    if req.get_param('all_projects') and not req.get_param('all_tenants'):
        req.params['all_tenants'] = req.get_param('all_projects')
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
