"""/v2.0/address-scopes: groups of subnet pools whose addresses do not overlap."""

import sqlalchemy as sa

from nova_lite.dialects import shapes
from nova_lite.simcloud import bodies
from nova_lite.simcloud import caller as callers
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import resources
from nova_lite.simcloud.network import rbac_access
from nova_lite.simcloud.network import standard
from nova_lite.simcloud.network import tables

SCOPES = tables.address_scopes
VERSION = {'type': 'integer', 'enum': [4, 6]}
_UPDATABLE = {'name': bodies.STRING, 'shared': bodies.BOOLEAN}
CREATE = bodies.wrapped(
    'address_scope',
    {
        **_UPDATABLE,
        'ip_version': VERSION,
        'project_id': bodies.ID,
        'tenant_id': bodies.ID,
    },
    ['name', 'ip_version'],
)
UPDATE = bodies.wrapped('address_scope', _UPDATABLE)
HIDDEN = bodies.words('description tags revision_number created_at updated_at')


def view(row: database.Row) -> bodies.Json:
    """Return one address scope."""
    return standard.view(row, 'ip_version', 'shared', without=HIDDEN)


def visible(caller: callers.Caller) -> shapes.Condition:
    """Return the condition that the caller may use a scope."""
    return sa.or_(
        standard.own(caller, SCOPES), SCOPES.c.shared, rbac_access.granted(caller, SCOPES)
    )


get = standard.getter(SCOPES, visible)


def _require_allowed(caller: callers.Caller, wanted: bodies.Json) -> None:
    if wanted.get('shared'):
        caller.require_admin('sharing an address scope')


def create(conn: sa.Connection, caller: callers.Caller, wanted: bodies.Json) -> database.Row:
    """Insert a scope and return its row."""
    _require_allowed(caller, wanted)
    return standard.insert(conn, caller, SCOPES, wanted)


def update(
    conn: sa.Connection, caller: callers.Caller, scope_id: str, wanted: bodies.Json
) -> database.Row:
    """Rename or share a scope and return its row."""
    _require_allowed(caller, wanted)
    row = standard.get(conn, caller, SCOPES, scope_id)
    if row['shared'] and wanted.get('shared') is False:
        raise faults.BadRequest(
            f'Unable to update address scope {scope_id} : Shared address scope cannot be unshared.',
            'AddressScopeUpdateError',
        )
    return standard.save(conn, SCOPES, row, **standard.columns(SCOPES, wanted))


def delete(conn: sa.Connection, caller: callers.Caller, scope_id: str) -> None:
    """Delete a scope. Raise Conflict if a subnet pool uses it."""
    standard.get(conn, caller, SCOPES, scope_id)
    if database.exists(conn, tables.subnet_pools, address_scope_id=scope_id):
        raise faults.Conflict(
            f'Unable to complete operation on address scope {scope_id}. There are one or more '
            f'subnet pools in use on the address scope.',
            'AddressScopeInUse',
        )
    rbac_access.forget(conn, scope_id)
    database.delete(conn, SCOPES, id=scope_id)


RESOURCE = resources.Resource(
    name='address_scope',
    style=standard.STYLE,
    listed=standard.lists(
        SCOPES, visible=visible, filters=rbac_access.filters(SCOPES, ('ip_version',))
    ),
    get=get,
    views=rbac_access.views(view),
    create=(create, CREATE),
    update=(update, UPDATE),
    delete=delete,
)
