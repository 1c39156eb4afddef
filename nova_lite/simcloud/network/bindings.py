"""/v2.0/ports/{id}/bindings: requests for port bindings; `binding_records` has their rows.

Activating a binding deactivates and unbinds the former active binding. A binding that is activated
a second time stays unbound until a request changes it, and its port is DOWN.
"""

import dataclasses

import falcon
import sqlalchemy as sa

from nova_lite.simcloud import bodies
from nova_lite.simcloud import caller as callers
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import resources
from nova_lite.simcloud import web
from nova_lite.simcloud.network import binding_records as records
from nova_lite.simcloud.network import plugging
from nova_lite.simcloud.network import standard
from nova_lite.simcloud.network import tables

BINDINGS = tables.bindings
VNIC_TYPES = bodies.words(
    'normal direct macvtap baremetal direct-physical virtio-forwarder smart-nic vdpa'
    ' accelerator-direct accelerator-direct-physical remote-managed'
)
VNIC_TYPE: bodies.Schema = {'enum': VNIC_TYPES}
HOST: bodies.Schema = {'type': 'string', 'maxLength': 255}
PROFILE: bodies.Schema = {'type': 'object'}
_PROPERTIES = {'host': HOST, 'vnic_type': VNIC_TYPE, 'profile': bodies.nullable(PROFILE)}
CREATE = bodies.wrapped('binding', {**_PROPERTIES, 'host': bodies.NAME}, ['host'])
UPDATE = bodies.wrapped('binding', _PROPERTIES)


def view(row: database.Row) -> bodies.Json:
    """Return one binding."""
    return {
        name: row[name]
        for name in ('host', 'status', 'vnic_type', 'vif_type', 'vif_details', 'profile')
    }


def _compute_port(conn: sa.Connection, port_id: str) -> database.Row:
    port = database.find(conn, tables.ports, id=port_id)
    if port is None:
        raise standard.not_found(tables.ports, port_id)
    if not port['device_owner'].startswith('compute:'):
        raise faults.BadRequest(
            f'Bad port request: Invalid port {port_id}. Operation only valid on compute ports.',
            'BadRequest',
        )
    return port


def listed(conn: sa.Connection, req: web.Request, port_id: str) -> list[database.Row]:
    """Return the bindings of a compute port that match the query."""
    _compute_port(conn, port_id)
    found = records.of_port(conn, port_id)
    for name in ('host', 'status', 'vif_type', 'vnic_type'):
        values = req.get_param_as_list(name)
        found = [row for row in found if not values or row[name] in values]
    return found


def get(conn: sa.Connection, _caller: callers.Caller, port_id: str, host: str) -> database.Row:
    """Return one binding of a compute port. Raise NotFound."""
    _compute_port(conn, port_id)
    return _get(conn, port_id, host)


def _get(conn: sa.Connection, port_id: str, host: str) -> database.Row:
    row = database.find(conn, BINDINGS, port_id=port_id, host=host)
    if row is None:
        raise faults.NotFound(
            f'Binding for port {port_id} for host {host} could not be found.', 'PortBindingNotFound'
        )
    return row


def create(
    conn: sa.Connection, _caller: callers.Caller, port_id: str, wanted: bodies.Json
) -> database.Row:
    """Add a binding, which is INACTIVE if the port has an active one."""
    _compute_port(conn, port_id)
    rows = records.of_port(conn, port_id)
    if any(row['host'] == wanted['host'] for row in rows):
        raise faults.Conflict(
            f'Binding for port {port_id} on host {wanted["host"]} already exists.',
            'PortBindingAlreadyExists',
        )
    status = (
        records.INACTIVE if any(row['status'] == records.ACTIVE for row in rows) else records.ACTIVE
    )
    if status == records.ACTIVE:
        records.bind_subports(conn, port_id, wanted['host'])
    return database.insert(conn, BINDINGS, **records.new(port_id, status=status, **wanted))


def update(
    conn: sa.Connection, _caller: callers.Caller, port_id: str, host: str, *, wanted: bodies.Json
) -> database.Row:
    """Change the vNIC type or the profile of a binding. Return its row."""
    _compute_port(conn, port_id)
    row = _get(conn, port_id, host)
    if row['status'] == records.INACTIVE and row['vif_type'] == records.UNBOUND:
        raise faults.Conflict(
            f'Binding for port {port_id} on host {host} cannot be bound before it is activated.',
            'PortBindingError',
        )
    kept = {name: row[name] for name in ('status', 'vnic_type', 'profile')}
    return database.save(
        conn,
        BINDINGS,
        row,
        **records.new(port_id, **{**kept, **wanted, 'host': host}),
    )


def activate(conn: sa.Connection, port_id: str, host: str) -> database.Row:
    """Make a binding ACTIVE, and the former active binding INACTIVE and unplugged."""
    port = _compute_port(conn, port_id)
    row = _get(conn, port_id, host)
    if row['status'] == records.ACTIVE:
        raise faults.Conflict(
            f'Binding for port {port_id} on host {host} is already active.',
            'PortBindingAlreadyActive',
        )
    former = database.find(conn, BINDINGS, port_id=port_id, status=records.ACTIVE)
    if former:
        database.save(
            conn,
            BINDINGS,
            former,
            status=records.INACTIVE,
            vif_type=records.UNBOUND,
            vif_details={},
        )
    standard.save(conn, tables.ports, port)
    records.bind_subports(conn, port_id, host)
    return database.save(conn, BINDINGS, row, status=records.ACTIVE)


def delete(conn: sa.Connection, _caller: callers.Caller, port_id: str, host: str) -> database.Row:
    """Delete a binding and return its row. A port without an active binding is unbound."""
    _compute_port(conn, port_id)
    row = _get(conn, port_id, host)
    database.delete(conn, BINDINGS, port_id=port_id, host=host)
    if row['status'] == records.ACTIVE:
        records.bind_subports(conn, port_id, '')
    return row


def _privileged(caller: callers.Caller, action: str, _path: resources.Path) -> None:
    what = 'port bindings' if action == resources.LIST else 'a port binding'
    caller.require_privileged(f'{action} {what}')


def resource(plugging: plugging.Plugging) -> resources.Resource:
    """Return the resource for bindings of ports."""

    def notify(
        db: database.Database, _caller: callers.Caller, action: str, row: database.Row
    ) -> None:
        if action == resources.CREATE and row['status'] == records.INACTIVE:
            plugging.prepared(db, row['port_id'], row['host'])
        elif action in (resources.CREATE, resources.UPDATE) and row['status'] == records.ACTIVE:
            plugging.bound(db, row['port_id'])

    return resources.Resource(
        name='binding',
        style=dataclasses.replace(standard.STYLE, collection=standard.whole),
        permit=_privileged,
        listed=listed,
        get=get,
        views=resources.each(view),
        create=(create, CREATE),
        update=(update, UPDATE),
        delete=delete,
        notify=notify,
    )


class ActivateResource:
    """Answers PUT /v2.0/ports/{id}/bindings/{host}/activate."""

    def __init__(self, db: database.Database, plugging: plugging.Plugging) -> None:
        self._db = db
        self._plugging = plugging

    def on_put(self, req: web.Request, resp: falcon.Response, port_id: str, host: str) -> None:
        req.context.caller.require_privileged('activating a port binding')
        binding = self._db.change(activate, port_id, host)
        self._plugging.bound(self._db, port_id)
        resp.media = view(binding)
