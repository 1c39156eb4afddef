"""PUT /servers/{server_id}: name, description, addresses, hostname, pinned zone.

A server that is being scheduled is changed as soon as it is in a cell: a change of its
build request would be lost if a super-conductor had read it before.
"""

import sqlalchemy as sa

from nova_lite import exception
from nova_lite.api import formats
from nova_lite.api import operation
from nova_lite.api import request
from nova_lite.api import schema
from nova_lite.api import schema_parts
from nova_lite.api import server_access
from nova_lite.api.policies import servers as rules
from nova_lite.api.servers import acting
from nova_lite.api.servers import create_names
from nova_lite.api.servers import show
from nova_lite.api.servers import unique_names
from nova_lite.db import rows
from nova_lite.db.api import request_specs
from nova_lite.states import transitions

ANY_STATE = transitions.Transition('update', None, None, launched=False)
_V1 = schema_parts.whole(
    {
        'name': schema_parts.STRIPPED_NAME,
        'OS-DCF:diskConfig': {'type': 'string', 'enum': ['AUTO', 'MANUAL']},
        'accessIPv4': schema_parts.IPV4,
        'accessIPv6': schema_parts.IPV6,
    }
)
_V19 = schema.extended(_V1, description=schema_parts.DESCRIPTION)
_V90 = schema.extended(_V19, hostname=schema_parts.HOSTNAME)
_V94 = schema.extended(_V90, hostname=schema_parts.HOST)
_V104 = schema.extended(_V94, pinned_availability_zone=schema_parts.null_or(schema_parts.SOME_TEXT))
BODY = {
    '2.1': schema_parts.body('server', _V1),
    '2.19': schema_parts.body('server', _V19),
    '2.90': schema_parts.body('server', _V90),
    '2.94': schema_parts.body('server', _V94),
    '2.104': schema_parts.body('server', _V104),
}
# Seconds for which a request waits until a server is scheduled.
SCHEDULED_S = 10.0
COLUMNS = {
    'name': 'display_name',
    'description': 'display_description',
    'accessIPv4': 'access_ip_v4',
    'accessIPv6': 'access_ip_v6',
    'hostname': 'hostname',
}


@operation.operation(
    'PUT',
    '/servers/{server_id}',
    policy=rules.UPDATE,
    body=BODY,
    faults=(400, 403, 404, 409),
)
def update(req: request.Request, server: server_access.Server) -> operation.Result:
    """Change a server. From 2.75 the answer has all fields."""
    wanted = req.content
    columns = {COLUMNS[name]: value for name, value in wanted.items() if name in COLUMNS}
    changes = create_names.stripped(columns)
    if 'accessIPv6' in wanted:
        changes['access_ip_v6'] = formats.shortest_ipv6(wanted['accessIPv6'])
    if 'OS-DCF:diskConfig' in wanted:
        changes['auto_disk_config'] = wanted['OS-DCF:diskConfig'] == 'AUTO'
    if wanted:
        _reach_cell(req, server)
    if 'pinned_availability_zone' in wanted:
        _pin(req, server, wanted['pinned_availability_zone'])
    if changes:
        _change(req, server, changes)
    fresh = server_access.load(req, server.uuid)
    return {'server': show.represent(req, fresh, full=False)}


def _reach_cell(req: request.Request, server: server_access.Server) -> None:
    """Wait until the server is in a cell. Raise InstanceNotReady, or InstanceNotFound."""
    for _look in req.app.waiters.looks(req, SCHEDULED_S):
        if not server.is_in_cell:
            server.follow(server_access.load(req, server.uuid))
        if server.is_in_cell:
            return
    acting.require_cell(server)


def _change(req: request.Request, server: server_access.Server, changes: rows.Values) -> None:
    def write() -> None:
        acting.swap(req, server, ANY_STATE, changes)

    name = changes.get('display_name')
    if name is None:
        write()
    else:
        unique_names.rename(req, server, name, write)


def _pin(req: request.Request, server: server_access.Server, zone: str | None) -> None:
    """Pin the server to its zone, so that later moves stay there. None unpins the server."""
    if zone is not None and zone != server.row.availability_zone:
        raise exception.Conflict(
            f'Server {server.uuid} is in availability zone '
            f'{server.row.availability_zone}; it cannot be pinned to {zone}.'
        )
    req.app.api_db.write(_store_zone, server.uuid, zone)


def _store_zone(connection: sa.Connection, uuid: str, zone: str | None) -> None:
    request_specs.change(connection, uuid, availability_zone=zone)
