"""/v2.0/trunks: ports that carry the traffic of other ports, distinguished by their segments.

The subports of a trunk are bound to the host of its parent port; see `bindings`.
"""

from nova_lite.simcloud import bodies
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import resources
from nova_lite.simcloud.network import bindings
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


def _conflict(kind, message):
    return faults.Conflict(message, kind)


def _subport(row):
    return {name: row[name] for name in ('port_id', *SEGMENT)}


def _views(conn, found, plugging):
    """Return trunks with their subports. They are as active as their parent ports."""
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


def _require_free(conn, port_id):
    """Raise Conflict for a port that is of a trunk already."""
    trunk = port_records.trunk_of(conn, port_id)
    if trunk and trunk['port_id'] == port_id:
        raise _conflict(
            'ParentPortInUse',
            f'Port {port_id} is currently in use and is not eligible for use as a parent port.',
        )
    if trunk:
        raise _conflict('TrunkPortInUse', f'Port {port_id} is in use by another trunk.')


def _segment(conn, port, wanted):
    """Return (type, id) of the segment of a new subport. Raise BadRequest."""
    kind, number = (wanted.get(name) for name in SEGMENT)
    shown = {name: wanted[name] for name in ('port_id', *SEGMENT) if name in wanted}
    if kind == INHERIT:
        network = database.find(conn, tables.networks, id=port['network_id'])
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


def _add(conn, caller, trunk, wanted):
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
    active = bindings.active_of(parent_id, bindings.of_port(conn, parent_id))
    bindings.rebind(conn, port['id'], host=active['host'])


def _remove(conn, port_id):
    """Make a subport an ordinary port, on no host unless something else has it."""
    database.delete(conn, SUBPORTS, port_id=port_id)
    port = database.find(conn, tables.ports, id=port_id)
    if port['device_owner'] == OWNER:
        standard.save(conn, tables.ports, port, device_owner='')
        bindings.rebind(conn, port_id, host='')


def create(conn, caller, wanted):
    """Make a port the parent of a new trunk and return the row of the trunk."""
    port = port_records.get(conn, caller, wanted['port_id'])
    _require_free(conn, port['id'])
    row = standard.insert(conn, caller, TRUNKS, wanted)
    for one in wanted.get('sub_ports') or ():
        _add(conn, caller, row, one)
    return row


def update(conn, caller, trunk_id, wanted):
    """Rename, describe, enable or disable a trunk and return its row."""
    row = get(conn, caller, trunk_id)
    return standard.save(conn, TRUNKS, row, **standard.columns(TRUNKS, wanted))


def delete(conn, caller, trunk_id):
    """Remove a trunk; its ports stay."""
    get(conn, caller, trunk_id)
    for one in database.find_all(conn, SUBPORTS, trunk_id=trunk_id):
        _remove(conn, one['port_id'])
    database.delete(conn, TRUNKS, id=trunk_id)


def _enabled(conn, caller, trunk_id):
    row = get(conn, caller, trunk_id)
    if not row['admin_state_up']:
        raise _conflict('TrunkDisabled', f'Trunk {trunk_id} is currently disabled.')
    return row


def add_subports(conn, caller, trunk_id, wanted):
    """Add subports to an enabled trunk and return its row."""
    row = _enabled(conn, caller, trunk_id)
    for one in wanted:
        _add(conn, caller, row, one)
    return standard.save(conn, TRUNKS, row)


def remove_subports(conn, caller, trunk_id, wanted):
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


def resource(plugging):
    """Return the resource, whose statuses are those of ports."""

    def views(conn, _req, found):
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
    """Lists and changes the subports of a trunk. Answers are not wrapped."""

    def __init__(self, db, plugging):
        self._db = db
        self._plugging = plugging

    def _change(self, req, resp, trunk_id, change):
        req.context.caller.require_writer()
        body = conversions.converted(bodies.parsed(req), CHANGE.schema)
        bodies.check(body, CHANGE)
        row = self._db.change(change, req.context.caller, trunk_id, body['sub_ports'])
        self._show(resp, row)

    def _show(self, resp, row):
        with self._db.read() as conn:
            (resp.media,) = _views(conn, [row], self._plugging)

    def on_get(self, req, resp, trunk_id):
        with self._db.read() as conn:
            get(conn, req.context.caller, trunk_id)
            found = database.find_all(conn, SUBPORTS, trunk_id=trunk_id, order=['port_id'])
        resp.media = {'sub_ports': [_subport(row) for row in found]}

    def on_put_add(self, req, resp, trunk_id):
        self._change(req, resp, trunk_id, add_subports)

    def on_put_remove(self, req, resp, trunk_id):
        self._change(req, resp, trunk_id, remove_subports)


def add(app, db, path, plugging):
    """Put the routes of subports into `app`."""
    answers = SubportsResource(db, plugging)
    app.add_route(f'{path}/{{trunk_id}}/get_subports', answers)
    for name in ('add', 'remove'):
        app.add_route(f'{path}/{{trunk_id}}/{name}_subports', answers, suffix=name)
