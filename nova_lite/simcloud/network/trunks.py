"""/v2.0/trunks: parent ports that carry the traffic of subports, each in its own segment.

The subports of a trunk are bound to the host of its parent port; see `binding_records`.
"""

import falcon
import sqlalchemy as sa

from nova_lite.simcloud import bodies
from nova_lite.simcloud import caller as callers
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import resources
from nova_lite.simcloud import routing
from nova_lite.simcloud import web
from nova_lite.simcloud.network import binding_records
from nova_lite.simcloud.network import conversions
from nova_lite.simcloud.network import plugging as plugs
from nova_lite.simcloud.network import port_records
from nova_lite.simcloud.network import ports
from nova_lite.simcloud.network import standard
from nova_lite.simcloud.network import tables

TRUNKS, SUBPORTS = tables.trunks, tables.subports
OWNER = 'trunk:subport'
VLAN, INHERIT = 'vlan', 'inherit'
VLANS = range(1, 4095)
SEGMENT = ('segmentation_type', 'segmentation_id')
_SUBPORT = bodies.record(
    {
        'port_id': bodies.ID,
        'segmentation_type': bodies.STRING,
        'segmentation_id': bodies.COUNT,
    },
    ['port_id'],
    extra=False,
)
_SUBPORTS = bodies.array(_SUBPORT, most=4096)
_UPDATABLE = {
    'name': bodies.STRING,
    'description': standard.PROPERTIES['description'],
    'admin_state_up': bodies.BOOLEAN,
}
CREATE = bodies.wrapped(
    'trunk',
    {**_UPDATABLE, **standard.PROPERTIES, 'port_id': bodies.ID, 'sub_ports': _SUBPORTS},
    ['port_id'],
)
UPDATE = bodies.wrapped('trunk', _UPDATABLE)
CHANGE = bodies.compiled(bodies.record({'sub_ports': _SUBPORTS}, ['sub_ports'], extra=False))

get = standard.getter(TRUNKS)


def _conflict(kind: str, message: str) -> faults.Conflict:
    return faults.Conflict(message, kind)


def _subport(row: database.Row) -> database.Row:
    return {name: row[name] for name in ('port_id', *SEGMENT)}


def _views(
    conn: sa.Connection, found: list[database.Row], plugging: plugs.Plugging
) -> list[bodies.Json]:
    """Return trunks with their subports. The status of a trunk is that of its parent port."""
    subports = database.grouped(conn, SUBPORTS.c.trunk_id, [row['id'] for row in found], 'port_id')
    parents = database.grouped(conn, tables.ports.c.id, [row['port_id'] for row in found])
    statuses = ports.statuses(conn, [row for (row,) in parents.values()], plugging)
    return [
        {
            **standard.view(row, 'port_id', 'admin_state_up'),
            'status': statuses.get(row['port_id'], plugs.DOWN),
            'sub_ports': [_subport(one) for one in subports.get(row['id'], ())],
        }
        for row in found
    ]


def _require_free(conn: sa.Connection, port_id: str) -> None:
    """Raise Conflict for a port that already belongs to a trunk."""
    trunk = port_records.trunk_of(conn, port_id)
    if trunk and trunk['port_id'] == port_id:
        raise _conflict(
            'ParentPortInUse',
            f'Port {port_id} is currently in use and is not eligible for use as a parent port.',
        )
    if trunk:
        raise _conflict('TrunkPortInUse', f'Port {port_id} is in use by another trunk.')


def _segment(conn: sa.Connection, port: database.Row, wanted: bodies.Json) -> tuple[str, int]:
    """Return (type, id) of the segment of a new subport. Raise BadRequest."""
    kind, number = (wanted.get(name) for name in SEGMENT)
    shown = {name: wanted[name] for name in ('port_id', *SEGMENT) if name in wanted}
    if kind == INHERIT:
        network = database.get(conn, tables.networks, id=port['network_id'])
        kind, number = network['network_type'], network['segmentation_id']
    if kind is None or number is None:
        raise standard.invalid(
            f"Invalid subport details '{shown}': missing segmentation information. Must "
            f'specify both segmentation_id and segmentation_type'
        )
    if kind != VLAN:
        raise standard.invalid(f"Unknown segmentation_type '{kind[:64]}'")
    if number not in VLANS:
        raise standard.invalid(f"Segmentation ID '{number}' is not in range")
    return kind, number


def _add(
    conn: sa.Connection, caller: callers.Caller, trunk: database.Row, wanted: bodies.Json
) -> None:
    """Make a port a subport of a trunk."""
    port = port_records.get(conn, caller, wanted['port_id'])
    _require_free(conn, port['id'])
    if port['device_id']:
        raise _conflict(
            'PortInUse',
            f'Unable to complete operation on port {port["id"]} for network '
            f'{port["network_id"]}. Port already has an attached device {port["device_id"]}.',
        )
    segment = dict(zip(SEGMENT, _segment(conn, port, wanted), strict=True))
    if database.exists(conn, SUBPORTS, trunk_id=trunk['id'], **segment):
        raise _conflict(
            'DuplicateSubPort',
            f'segmentation_type {segment["segmentation_type"]} and segmentation_id '
            f'{segment["segmentation_id"]} already in use on trunk {trunk["id"]}.',
        )
    database.insert(conn, SUBPORTS, port_id=port['id'], trunk_id=trunk['id'], **segment)
    standard.save(conn, tables.ports, port, device_owner=OWNER)
    parent_id = trunk['port_id']
    active = binding_records.active_of(parent_id, binding_records.of_port(conn, parent_id))
    binding_records.rebind(conn, port['id'], host=active['host'])


def _remove(conn: sa.Connection, port_id: str) -> None:
    """Make a subport an ordinary port. Unbind it unless it has another device owner."""
    database.delete(conn, SUBPORTS, port_id=port_id)
    port = database.get(conn, tables.ports, id=port_id)
    if port['device_owner'] == OWNER:
        standard.save(conn, tables.ports, port, device_owner='')
        binding_records.rebind(conn, port_id, host='')


def create(conn: sa.Connection, caller: callers.Caller, wanted: bodies.Json) -> database.Row:
    """Make a port the parent of a new trunk and return the row of the trunk."""
    port = port_records.get(conn, caller, wanted['port_id'])
    _require_free(conn, port['id'])
    row = standard.insert(conn, caller, TRUNKS, wanted)
    for one in wanted.get('sub_ports') or ():
        _add(conn, caller, row, one)
    return row


def update(
    conn: sa.Connection, caller: callers.Caller, trunk_id: str, wanted: bodies.Json
) -> database.Row:
    """Rename, describe, enable or disable a trunk and return its row."""
    row = get(conn, caller, trunk_id)
    return standard.save(conn, TRUNKS, row, **standard.columns(TRUNKS, wanted))


def delete(conn: sa.Connection, caller: callers.Caller, trunk_id: str) -> None:
    """Delete a trunk. Its ports remain."""
    get(conn, caller, trunk_id)
    for one in database.find_all(conn, SUBPORTS, trunk_id=trunk_id):
        _remove(conn, one['port_id'])
    database.delete(conn, TRUNKS, id=trunk_id)


def _enabled(conn: sa.Connection, caller: callers.Caller, trunk_id: str) -> database.Row:
    row = get(conn, caller, trunk_id)
    if not row['admin_state_up']:
        raise _conflict('TrunkDisabled', f'Trunk {trunk_id} is currently disabled.')
    return row


def add_subports(
    conn: sa.Connection, caller: callers.Caller, trunk_id: str, wanted: list[bodies.Json]
) -> database.Row:
    """Add subports to an enabled trunk and return its row."""
    row = _enabled(conn, caller, trunk_id)
    for one in wanted:
        _add(conn, caller, row, one)
    return standard.save(conn, TRUNKS, row)


def remove_subports(
    conn: sa.Connection, caller: callers.Caller, trunk_id: str, wanted: list[bodies.Json]
) -> database.Row:
    """Remove subports from an enabled trunk and return its row."""
    row = _enabled(conn, caller, trunk_id)
    for one in wanted:
        if not database.exists(conn, SUBPORTS, trunk_id=trunk_id, port_id=one['port_id']):
            raise faults.NotFound(
                f'SubPort {one["port_id"]} on trunk {trunk_id} could not be found.',
                'SubPortNotFound',
            )
        _remove(conn, one['port_id'])
    return standard.save(conn, TRUNKS, row)


def resource(plugging: plugs.Plugging) -> resources.Resource:
    """Return the resource for trunks. plugging: gives the statuses of parent ports"""

    def views(
        conn: sa.Connection, _req: web.Request, found: list[database.Row]
    ) -> list[bodies.Json]:
        return _views(conn, found, plugging)

    return resources.Resource(
        name='trunk',
        style=standard.STYLE,
        revisions=TRUNKS,
        listed=standard.lists(TRUNKS, filters=('port_id', 'admin_state_up')),
        get=get,
        views=views,
        create=(create, CREATE),
        update=(update, UPDATE),
        delete=delete,
    )


class SubportsResource:
    """Answers requests to list, add and remove subports of a trunk. Answers are not wrapped."""

    def __init__(self, db: database.Database, plugging: plugs.Plugging) -> None:
        self._db = db
        self._plugging = plugging

    def _change(
        self,
        req: web.Request,
        resp: falcon.Response,
        trunk_id: str,
        change: resources.Change,
    ) -> None:
        req.context.caller.require_writer()
        body = conversions.converted(bodies.parsed(req), CHANGE.schema)
        bodies.check(body, CHANGE)
        row = self._db.change(change, req.context.caller, trunk_id, body['sub_ports'])
        self._show(resp, row)

    def _show(self, resp: falcon.Response, row: database.Row) -> None:
        with self._db.read() as conn:
            (resp.media,) = _views(conn, [row], self._plugging)

    def on_get(self, req: web.Request, resp: falcon.Response, trunk_id: str) -> None:
        with self._db.read() as conn:
            get(conn, req.context.caller, trunk_id)
            found = database.find_all(conn, SUBPORTS, trunk_id=trunk_id, order=['port_id'])
        resp.media = {'sub_ports': [_subport(row) for row in found]}

    def on_put_add(self, req: web.Request, resp: falcon.Response, trunk_id: str) -> None:
        self._change(req, resp, trunk_id, add_subports)

    def on_put_remove(self, req: web.Request, resp: falcon.Response, trunk_id: str) -> None:
        self._change(req, resp, trunk_id, remove_subports)


def add(app: routing.App, db: database.Database, path: str, plugging: plugs.Plugging) -> None:
    """Put the routes of subports into `app`."""
    answers = SubportsResource(db, plugging)
    app.add_route(f'{path}/{{trunk_id}}/get_subports', answers)
    for name in ('add', 'remove'):
        app.add_route(f'{path}/{{trunk_id}}/{name}_subports', answers, suffix=name)
