"""/v3/services, /v3/endpoints and /v3/regions: the entries of the catalog."""

from collections.abc import Sequence
import functools

import sqlalchemy as sa

from nova_lite.simcloud import bodies
from nova_lite.simcloud import caller as callers
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import resources
from nova_lite.simcloud import web
from nova_lite.simcloud.identity import catalog as catalogs
from nova_lite.simcloud.identity import tables
from nova_lite.simcloud.identity import views

REGIONS, SERVICES, ENDPOINTS = catalogs.REGIONS, catalogs.KINDS, catalogs.ENDPOINTS
_SERVICE = {'type': bodies.NAME, 'name': bodies.NAME, 'enabled': bodies.BOOLEAN}
_ENDPOINT = {
    'interface': {'enum': sorted(catalogs.INTERFACES)},
    'region_id': bodies.OPTIONAL_STRING,
    'region': bodies.OPTIONAL_STRING,
    'service_id': bodies.STRING,
    'url': {'type': 'string', 'maxLength': 225, 'pattern': '^[a-zA-Z0-9+.-]+:.+'},
    'name': bodies.STRING,
    'description': bodies.nullable(bodies.TEXT),
    'enabled': bodies.BOOLEAN,
}
_REGION = {
    'description': bodies.OPTIONAL_STRING,
    'parent_region_id': bodies.nullable(bodies.NAME),
}
# Names that a URL may refer to.
_SUBSTITUTES = ('tenant_id', 'project_id', 'user_id', 'compute_host', 'public_endpoint')
# Not stored: attributes that Keystone computes, and `region`, another name of region_id.
_COMPUTED = ('id', 'links', 'region')


def _stored(table: sa.Table, wanted: bodies.Json, row: database.Row | None = None) -> database.Row:
    """Return the columns of a row that a request sets, with all other attributes in `extra`."""
    values = database.columns(table, wanted)
    for name in ('id', 'extra', 'removed'):
        values.pop(name, None)
    more = {k: v for k, v in wanted.items() if k not in table.c and k not in _COMPUTED}
    return {**values, 'extra': (row['extra'] if row else {}) | more}


def _require_change(wanted: bodies.Json, row_id: str) -> None:
    tables.require_change(wanted)
    if wanted.get('id') not in (None, row_id):
        raise faults.BadRequest('Cannot change ID.')


# ---- services ----


def _service_view(req: web.Request, row: database.Row) -> bodies.Json:
    shown = {name: row[name] for name in ('id', 'type', 'enabled')}
    return {**row['extra'], **shown, 'links': views.links(req, f'services/{row["id"]}')}


def _create_service(
    catalog: catalogs.Catalog, conn: sa.Connection, _caller: callers.Caller, *, wanted: bodies.Json
) -> database.Row:
    return catalog.insert(conn, SERVICES, **_stored(SERVICES, {'name': '', **wanted}))


def _update_service(
    catalog: catalogs.Catalog,
    conn: sa.Connection,
    _caller: callers.Caller,
    service_id: str,
    *,
    wanted: bodies.Json,
) -> database.Row:
    _require_change(wanted, service_id)
    row = catalog.get(conn, SERVICES, service_id)
    return catalog.save(conn, SERVICES, row, **_stored(SERVICES, wanted, row))


def _delete_service(
    catalog: catalogs.Catalog, conn: sa.Connection, _caller: callers.Caller, service_id: str
) -> None:
    row = catalog.get(conn, SERVICES, service_id)
    for endpoint in catalog.rows(conn, ENDPOINTS, service_id=service_id):
        catalog.remove(conn, ENDPOINTS, endpoint)
    catalog.remove(conn, SERVICES, row)


def _service_list(
    catalog: catalogs.Catalog, conn: sa.Connection, req: web.Request
) -> list[database.Row]:
    rows = catalog.rows(conn, SERVICES, **_filters(req, 'type'))
    name = req.get_param('name')
    return [row for row in rows if name in (None, row['extra'].get('name'))]


def _filters(req: web.Request, *names: str) -> dict[str, str]:
    return {name: value for name in names if (value := req.get_param(name)) is not None}


# ---- endpoints ----


def _endpoint_view(req: web.Request, row: database.Row) -> bodies.Json:
    shown = {name: row[name] for name in ('id', 'interface', 'service_id', 'url', 'enabled')}
    return {
        **row['extra'],
        **shown,
        'region': row['region_id'],
        'region_id': row['region_id'],
        'links': views.links(req, f'endpoints/{row["id"]}'),
    }


def _endpoint_values(
    catalog: catalogs.Catalog,
    conn: sa.Connection,
    wanted: bodies.Json,
    row: database.Row | None = None,
) -> database.Row:
    """Return the columns of an endpoint. Create the region that `region` names.

    Raise BadRequest for an unknown service or region.
    """
    if wanted.get('region_id') is None and wanted.get('region') is not None:
        wanted = {**wanted, 'region_id': wanted['region']}
        if not catalog.rows(conn, REGIONS, id=wanted['region']):
            catalog.insert(conn, REGIONS, id=wanted['region'])
    for name, table in (('service_id', SERVICES), ('region_id', REGIONS)):
        found = wanted.get(name)
        if found is not None and not catalog.rows(conn, table, id=found):
            raise faults.BadRequest(f'The {name} {found[:64]} of the endpoint does not exist.')
    return _stored(ENDPOINTS, wanted, row)


def _create_endpoint(
    catalog: catalogs.Catalog, conn: sa.Connection, _caller: callers.Caller, *, wanted: bodies.Json
) -> database.Row:
    if catalogs.formatted(wanted['url'], **dict.fromkeys(_SUBSTITUTES, '')) is None:
        raise faults.BadRequest(f'Cannot create an endpoint with an invalid URL: {wanted["url"]}.')
    return catalog.insert(conn, ENDPOINTS, **_endpoint_values(catalog, conn, wanted))


def _update_endpoint(
    catalog: catalogs.Catalog,
    conn: sa.Connection,
    _caller: callers.Caller,
    endpoint_id: str,
    *,
    wanted: bodies.Json,
) -> database.Row:
    _require_change(wanted, endpoint_id)
    row = catalog.get(conn, ENDPOINTS, endpoint_id)
    return catalog.save(conn, ENDPOINTS, row, **_endpoint_values(catalog, conn, wanted, row))


def _delete_endpoint(
    catalog: catalogs.Catalog, conn: sa.Connection, _caller: callers.Caller, endpoint_id: str
) -> None:
    catalog.remove(conn, ENDPOINTS, catalog.get(conn, ENDPOINTS, endpoint_id))


def _endpoint_list(
    catalog: catalogs.Catalog, conn: sa.Connection, req: web.Request
) -> list[database.Row]:
    return catalog.rows(conn, ENDPOINTS, **_filters(req, 'interface', 'service_id', 'region_id'))


# ---- regions ----


def _region_view(req: web.Request, row: database.Row) -> bodies.Json:
    shown = {name: row[name] for name in ('id', 'description', 'parent_region_id')}
    return {**row['extra'], **shown, 'links': views.links(req, f'regions/{row["id"]}')}


def _create_region(
    catalog: catalogs.Catalog, conn: sa.Connection, _caller: callers.Caller, *, wanted: bodies.Json
) -> database.Row:
    region_id = wanted.get('id') or tables.new_id()
    if catalog.rows(conn, REGIONS, id=region_id):
        raise faults.Conflict(f'Duplicate ID, {region_id}.')
    if wanted.get('parent_region_id') is not None:
        catalog.get(conn, REGIONS, wanted['parent_region_id'])
    return catalog.insert(conn, REGIONS, id=region_id, **_stored(REGIONS, wanted))


def _update_region(
    catalog: catalogs.Catalog,
    conn: sa.Connection,
    _caller: callers.Caller,
    region_id: str,
    *,
    wanted: bodies.Json,
) -> database.Row:
    _require_change(wanted, region_id)
    row = catalog.get(conn, REGIONS, region_id)
    above = wanted.get('parent_region_id')
    while above is not None:
        if above == region_id:
            raise faults.BadRequest('The parent region would create a circular region hierarchy.')
        above = catalog.get(conn, REGIONS, above)['parent_region_id']
    return catalog.save(conn, REGIONS, row, **_stored(REGIONS, wanted, row))


def _delete_region(
    catalog: catalogs.Catalog, conn: sa.Connection, _caller: callers.Caller, region_id: str
) -> None:
    """Delete a region and the regions below it. Raise Forbidden if one of them has endpoints."""
    doomed = [catalog.get(conn, REGIONS, region_id)]
    for row in doomed:  # grows
        doomed += catalog.rows(conn, REGIONS, parent_region_id=row['id'])
    if any(catalog.rows(conn, ENDPOINTS, region_id=row['id']) for row in doomed):
        raise faults.Forbidden(f'Region {region_id[:64]} or one below it has endpoints.')
    for row in doomed:
        catalog.remove(conn, REGIONS, row)


def _region_list(
    catalog: catalogs.Catalog, conn: sa.Connection, req: web.Request
) -> list[database.Row]:
    return catalog.rows(conn, REGIONS, **_filters(req, 'parent_region_id'))


def _resource(
    catalog: catalogs.Catalog,
    table: sa.Table,
    view: resources.View,
    *,
    functions: tuple[resources.Listed, resources.Change, resources.Change, resources.Change],
    properties: tuple[dict[str, bodies.Schema], Sequence[str], dict[str, bodies.Schema]],
    actions: tuple[str, ...] = (resources.SHOW, *resources.ALL_BUT_SHOW),
) -> resources.Resource:
    """Return the resource of a table.

    functions: (list, create, update, delete); the first argument of each is the catalog
    properties: (schemas of the properties of a new entry, names of required properties, schemas
        of the properties of an update)
    """
    name = tables.kind_of(table)
    listed, create, update, delete = functions
    created, needed, updated = properties
    return resources.Resource(
        name=name,
        style=views.STYLE,
        permit=resources.admins(name, actions=actions),
        get=lambda conn, _caller, row_id: catalog.get(conn, table, row_id),
        views=resources.each_as_asked(view),
        listed=functools.partial(listed, catalog),
        create=(
            functools.partial(create, catalog),
            bodies.wrapped(name, created, needed, extra=True),
        ),
        update=(functools.partial(update, catalog), bodies.wrapped(name, updated, extra=True)),
        delete=functools.partial(delete, catalog),
    )


def make(
    catalog: catalogs.Catalog,
) -> tuple[resources.Resource, resources.Resource, resources.Resource]:
    """Return the resources of a Catalog."""
    return (
        _resource(
            catalog,
            SERVICES,
            _service_view,
            functions=(_service_list, _create_service, _update_service, _delete_service),
            properties=(_SERVICE, ('type',), _SERVICE),
        ),
        _resource(
            catalog,
            ENDPOINTS,
            _endpoint_view,
            functions=(_endpoint_list, _create_endpoint, _update_endpoint, _delete_endpoint),
            properties=(_ENDPOINT, ('interface', 'service_id', 'url'), _ENDPOINT),
        ),
        _resource(
            catalog,
            REGIONS,
            _region_view,
            functions=(_region_list, _create_region, _update_region, _delete_region),
            properties=({**_REGION, 'id': bodies.OPTIONAL_STRING}, (), _REGION),
            actions=resources.CHANGES,
        ),
    )
