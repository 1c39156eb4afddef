"""/v3/registered_limits and /v3/limits: the unified limits of Keystone, with its model `flat`.

A registered limit is the default of a resource of a service; a limit replaces it for one project or
domain. Keystone stores both, and the services enforce them.
"""

import functools
import typing

import sqlalchemy as sa

from nova_lite.simcloud import bodies
from nova_lite.simcloud import caller as callers
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import resources
from nova_lite.simcloud.identity import catalog as catalogs
from nova_lite.simcloud.identity import tables
from nova_lite.simcloud.identity import views

REGISTERED, LIMITS = tables.registered_limits, tables.project_limits
MODEL = {'model': {'name': 'flat', 'description': 'Limit enforcement does not use a hierarchy.'}}
# Columns that name the resource of a limit.
RESOURCE = ('service_id', 'region_id', 'resource_name')
OWNERS = ('project_id', 'domain_id')

_NUMBER: bodies.Schema = {'type': 'integer', 'minimum': -1, 'maximum': bodies.INT_LIMIT}
_COMMON = {'description': bodies.nullable(bodies.TEXT), 'region_id': bodies.OPTIONAL_STRING}
_NAMED = {'service_id': bodies.NAME, 'resource_name': bodies.NAME}
_REGISTERED = {**_COMMON, **_NAMED, 'default_limit': _NUMBER}
_LIMIT = {
    **_COMMON,
    **_NAMED,
    'resource_limit': _NUMBER,
    'project_id': bodies.OPTIONAL_ID,
    'domain_id': bodies.OPTIONAL_ID,
}
STYLE = resources.Style(collection=views.collection, update_method='patch', bulk=True)


def _key(row: typing.Mapping[str, typing.Any]) -> dict[str, typing.Any]:
    return {name: row.get(name) for name in RESOURCE}


def _require_service(catalog: catalogs.Catalog, conn: sa.Connection, wanted: bodies.Json) -> None:
    """Raise BadRequest if the service or the region does not exist."""
    for name, table in (('service_id', catalogs.KINDS), ('region_id', catalogs.REGIONS)):
        if wanted.get(name) is None:
            continue
        try:
            catalog.get(conn, table, wanted[name])
        except faults.NotFound as error:
            raise faults.BadRequest(str(error)) from error


# ---- registered limits ----


def _register(
    catalog: catalogs.Catalog, conn: sa.Connection, _caller: callers.Caller, wanted: bodies.Json
) -> database.Row:
    _require_service(catalog, conn, wanted)
    if database.exists(conn, REGISTERED, **_key(wanted)):
        raise faults.Conflict('Conflict occurred attempting to store registered_limit.')
    return database.insert(conn, REGISTERED, **wanted)


def _registered(conn: sa.Connection, _caller: callers.Caller, limit_id: str) -> database.Row:
    return tables.get(conn, REGISTERED, limit_id)


def _require_unused(conn: sa.Connection, row: database.Row) -> None:
    if database.exists(conn, LIMITS, **_key(row)):
        raise faults.Forbidden(
            f'Unable to update or delete registered limit {row["id"]} because there are project '
            'limits associated with it.'
        )


def _change_registered(
    catalog: catalogs.Catalog,
    conn: sa.Connection,
    _caller: callers.Caller,
    limit_id: str,
    *,
    wanted: bodies.Json,
) -> database.Row:
    row = tables.get(conn, REGISTERED, limit_id)
    tables.require_change(wanted)
    changed = {**row, **wanted}
    if _key(changed) != _key(row):
        _require_unused(conn, row)
        _require_service(catalog, conn, changed)
        if database.exists(conn, REGISTERED, **_key(changed)):
            raise faults.Conflict('Conflict occurred attempting to store registered_limit.')
    return database.save(conn, REGISTERED, row, **wanted)


def _unregister(conn: sa.Connection, _caller: callers.Caller, limit_id: str) -> None:
    _require_unused(conn, tables.get(conn, REGISTERED, limit_id))
    database.delete(conn, REGISTERED, id=limit_id)


def registered(catalog: catalogs.Catalog) -> resources.Resource:
    """Return the resource of registered limits."""
    return resources.Resource(
        name='registered_limit',
        style=STYLE,
        permit=resources.admins('registered limit', actions=resources.CHANGES),
        listed=views.seen(REGISTERED, *RESOURCE, order='resource_name'),
        get=_registered,
        views=views.viewer('registered_limits'),
        create=(
            functools.partial(_register, catalog),
            bodies.wrapped('registered_limit', _REGISTERED, [*_NAMED, 'default_limit']),
        ),
        update=(
            functools.partial(_change_registered, catalog),
            bodies.wrapped('registered_limit', _REGISTERED),
        ),
        delete=_unregister,
    )


# ---- limits of projects ----


def _own(query: views.Query, caller: callers.Caller) -> views.Query:
    """Restrict a query to the limits of the caller's project, unless the caller is privileged."""
    return query if caller.is_privileged else query.where(LIMITS.c.project_id == caller.project_id)


def _create(conn: sa.Connection, _caller: callers.Caller, wanted: bodies.Json) -> database.Row:
    owner = {name: wanted.get(name) for name in OWNERS}
    if sum(value is not None for value in owner.values()) != 1:
        raise faults.BadRequest('A limit needs either project_id or domain_id.')
    for name, table in zip(OWNERS, (tables.projects, tables.domains), strict=True):
        if owner[name] is not None and not database.exists(conn, table, id=owner[name]):
            raise faults.BadRequest(f'Could not find {tables.kind_of(table)}: {owner[name]}.')
    if not database.exists(conn, REGISTERED, **_key(wanted)):
        raise faults.Forbidden(
            'Unable to create a limit that has no corresponding registered limit.'
        )
    if database.exists(conn, LIMITS, **_key(wanted), **owner):
        raise faults.Conflict('Conflict occurred attempting to store limit.')
    return database.insert(conn, LIMITS, **wanted)


def _get(conn: sa.Connection, caller: callers.Caller, limit_id: str) -> database.Row:
    row = tables.get(conn, LIMITS, limit_id)
    if not caller.sees(row['project_id'] or ''):
        raise faults.Forbidden(callers.NOT_ALLOWED)
    return row


def _change(
    conn: sa.Connection, _caller: callers.Caller, limit_id: str, wanted: bodies.Json
) -> database.Row:
    tables.require_change(wanted)
    return database.save(conn, LIMITS, tables.get(conn, LIMITS, limit_id), **wanted)


def _delete(conn: sa.Connection, _caller: callers.Caller, limit_id: str) -> None:
    tables.get(conn, LIMITS, limit_id)
    database.delete(conn, LIMITS, id=limit_id)


LIMIT = resources.Resource(
    name='limit',
    style=STYLE,
    permit=resources.admins('limit', actions=resources.CHANGES),
    listed=views.seen(LIMITS, *RESOURCE, *OWNERS, order='resource_name', see=_own),
    get=_get,
    views=views.viewer('limits'),
    create=(_create, bodies.wrapped('limit', _LIMIT, [*_NAMED, 'resource_limit'])),
    update=(
        _change,
        bodies.wrapped(
            'limit', {'resource_limit': _NUMBER, 'description': bodies.nullable(bodies.TEXT)}
        ),
    ),
    delete=_delete,
)
