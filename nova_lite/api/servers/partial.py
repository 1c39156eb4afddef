"""Partial views of servers whose cell does not answer (from 2.69).

Source: reference/nova/cells-and-rpc 2.1.
"""

from collections.abc import Iterable

import sqlalchemy as sa

from nova_lite import cells
from nova_lite import exception
from nova_lite.api import links
from nova_lite.api import request
from nova_lite.api.servers import view
from nova_lite.clients import session
from nova_lite.db import rows
from nova_lite.db.api import instance_mappings
from nova_lite.db.api import request_specs
from nova_lite.db.api import server_groups

UNKNOWN = 'UNKNOWN'


def mappings(
    req: request.Request, down: Iterable[cells.Cell], project_id: str | None, limit: int
) -> list[rows.Row]:
    """Return at most `limit` instance mappings of cells that are down.

    project_id: None for all projects
    """
    found: list[rows.Row] = []
    for cell in down:
        room = limit - len(found)
        found += req.app.api_db.read(instance_mappings.in_cell, cell.id, project_id, limit=room)
    return found


def short(req: request.Request, mapping: rows.Row) -> session.Json:
    """Return the entry of GET /servers."""
    uuid = mapping.instance_uuid
    return {'id': uuid, 'status': UNKNOWN, 'links': links.resource(req, 'servers', uuid)}


def detail(req: request.Request, mapping: rows.Row) -> session.Json:
    """Return the entry of GET /servers/detail."""
    return {
        **short(req, mapping),
        'created': view.isotime(mapping.created_at),
        'tenant_id': mapping.project_id,
    }


def show(req: request.Request, mapping: rows.Row) -> session.Json:
    """Return the answer of GET /servers/{id}, from the mapping and the request spec."""
    uuid = mapping.instance_uuid
    spec, groups = req.app.api_db.read(_read, uuid)
    shown = {
        **detail(req, mapping),
        'user_id': mapping.user_id or UNKNOWN,
        'flavor': {},
        'image': '',
        'OS-EXT-AZ:availability_zone': UNKNOWN,
        'OS-EXT-STS:power_state': 0,
    }
    if spec:
        viewer = view.Viewer(req)
        shown['flavor'] = view.flavor(viewer, spec['flavor'])
        shown['OS-EXT-AZ:availability_zone'] = spec.get('availability_zone') or UNKNOWN
        image_id = (spec.get('image') or {}).get('id')
        if image_id:
            shown['image'] = {'id': image_id, 'links': links.bookmark(req, 'images', image_id)}
    if req.minor >= 71:
        shown['server_groups'] = groups
    if req.minor >= 96:
        shown['pinned_availability_zone'] = spec.get('availability_zone')
    if req.minor >= 100:
        shown['scheduler_hints'] = view.hints(spec)
    return shown


def _read(connection: sa.Connection, uuid: str) -> tuple[session.Json, list[str]]:
    try:
        spec = request_specs.stored(connection, [uuid])[uuid]
    except KeyError:
        raise exception.InstanceNotFound(instance_id=uuid) from None
    return spec, list(server_groups.groups_of(connection, [uuid]).values())
