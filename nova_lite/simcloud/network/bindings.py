"""Port bindings: the host on which a port is, or may soon be, plugged.

A port has one ACTIVE binding (to host '' if no host was requested) and any number of INACTIVE
ones, made for a move. Activating one deactivates and unbinds the other. Activating that again
leaves it unbound until a request changes it, and its port is DOWN. A binding to any host
succeeds: there are no agents that could be missing.
"""

import dataclasses

import sqlalchemy as sa

from nova_lite.simcloud import bodies
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import resources
from nova_lite.simcloud.network import standard
from nova_lite.simcloud.network import tables

BINDINGS = tables.bindings
ACTIVE, INACTIVE = 'ACTIVE', 'INACTIVE'
UNBOUND = 'unbound'
VNIC_TYPES = bodies.words(
    'normal direct macvtap baremetal direct-physical virtio-forwarder smart-nic vdpa'
    ' accelerator-direct accelerator-direct-physical remote-managed'
)
VNIC_TYPE = {'enum': VNIC_TYPES}
HOST = {'type': 'string', 'maxLength': 255}
PROFILE = {'type': 'object'}
_PROPERTIES = {'host': HOST, 'vnic_type': VNIC_TYPE, 'profile': bodies.nullable(PROFILE)}
CREATE = bodies.wrapped('binding', {**_PROPERTIES, 'host': bodies.NAME}, ['host'])
UPDATE = bodies.wrapped('binding', _PROPERTIES)


def vif_of(host, vnic_type):
    """Return (vif_type, vif_details) of a binding to `host`."""
    if not host:
        return UNBOUND, {}
    if vnic_type in ('direct', 'direct-physical', 'accelerator-direct'):
        return 'hw_veb', {'connectivity': 'l2', 'port_filter': False, 'vlan': '0'}
    return 'ovs', {
        'port_filter': True,
        'connectivity': 'l2',
        'bound_drivers': {'0': 'sim'},
        'bridge_name': 'br-int',
        'datapath_type': 'system',
        'ovs_hybrid_plug': False,
    }


def new(port_id, host='', *, status=ACTIVE, vnic_type='normal', profile=None):
    """Return a binding's row."""
    vif_type, vif_details = vif_of(host, vnic_type)
    return {
        'port_id': port_id,
        'host': host,
        'status': status,
        'vnic_type': vnic_type,
        'vif_type': vif_type,
        'vif_details': vif_details,
        'profile': profile or {},
    }


def view(row):
    """Return one binding."""
    return {
        name: row[name]
        for name in ('host', 'status', 'vnic_type', 'vif_type', 'vif_details', 'profile')
    }


def of_port(conn, port_id):
    """Return all bindings of a port, by host."""
    return database.find_all(conn, BINDINGS, port_id=port_id, order=['host'])


def active_of(port_id, rows):
    """Return the ACTIVE one among a port's bindings, or one to no host."""
    return next((row for row in rows if row['status'] == ACTIVE), new(port_id))


def rebind(conn, port_id, *, host=None, vnic_type=None, profile=None):
    """Change the ACTIVE binding; what is None stays. True when the host changed.

    Moving to a host that has an INACTIVE binding takes that binding's place.
    """
    old = active_of(port_id, of_port(conn, port_id))
    changed = new(
        port_id,
        old['host'] if host is None else host,
        vnic_type=vnic_type or old['vnic_type'],
        profile=old['profile'] if profile is None else profile,
    )
    for host in {old['host'], changed['host']}:
        database.delete(conn, BINDINGS, port_id=port_id, host=host)
    database.insert(conn, BINDINGS, **changed)
    if changed['host'] != old['host']:
        _bind_subports(conn, port_id, changed['host'])
        return True
    return False


def _bind_subports(conn, port_id, host):
    """Bind the subports of a port's trunk where the port is."""
    trunks, subports = tables.trunks, tables.subports
    joined = sa.select(subports.c.port_id).join(trunks, trunks.c.id == subports.c.trunk_id)
    for subport_id in conn.execute(joined.where(trunks.c.port_id == port_id)).scalars().all():
        rebind(conn, subport_id, host=host)


def _compute_port(conn, port_id):
    port = database.find(conn, tables.ports, id=port_id)
    if port is None:
        raise standard.not_found(tables.ports, port_id)
    if not port['device_owner'].startswith('compute:'):
        raise faults.BadRequest(
            f'Bad port request: Invalid port {port_id}. Operation only valid on compute ports.',
            'BadRequest',
        )
    return port


def listed(conn, req, port_id):
    """Return the bindings of a compute port that the query chooses."""
    _compute_port(conn, port_id)
    found = of_port(conn, port_id)
    for name in ('host', 'status', 'vif_type', 'vnic_type'):
        values = req.get_param_as_list(name)
        found = [row for row in found if not values or row[name] in values]
    return found


def get(conn, _caller, port_id, host):
    """Return one binding of a compute port. Raise NotFound."""
    _compute_port(conn, port_id)
    return _get(conn, port_id, host)


def _get(conn, port_id, host):
    row = database.find(conn, BINDINGS, port_id=port_id, host=host)
    if row is None:
        raise faults.NotFound(
            f'Binding for port {port_id} for host {host} could not be found.', 'PortBindingNotFound'
        )
    return row


def create(conn, _caller, port_id, wanted):
    """Add a binding, which is INACTIVE if the port has an active one."""
    _compute_port(conn, port_id)
    rows = of_port(conn, port_id)
    if any(row['host'] == wanted['host'] for row in rows):
        raise faults.Conflict(
            f'Binding for port {port_id} on host {wanted["host"]} already exists.',
            'PortBindingAlreadyExists',
        )
    status = INACTIVE if any(row['status'] == ACTIVE for row in rows) else ACTIVE
    if status == ACTIVE:
        _bind_subports(conn, port_id, wanted['host'])
    return database.insert(conn, BINDINGS, **new(port_id, status=status, **wanted))


def update(conn, _caller, port_id, host, *, wanted):
    """Change vNIC type or profile of a binding."""
    _compute_port(conn, port_id)
    row = _get(conn, port_id, host)
    if row['status'] == INACTIVE and row['vif_type'] == UNBOUND:
        raise faults.Conflict(
            f'Binding for port {port_id} on host {host} cannot be bound before it is activated.',
            'PortBindingError',
        )
    kept = {name: row[name] for name in ('status', 'vnic_type', 'profile')}
    return database.save(conn, BINDINGS, row, **new(port_id, **{**kept, **wanted, 'host': host}))


def activate(conn, port_id, host):
    """Make a binding the ACTIVE one and the former one INACTIVE and unplugged."""
    port = _compute_port(conn, port_id)
    row = _get(conn, port_id, host)
    if row['status'] == ACTIVE:
        raise faults.Conflict(
            f'Binding for port {port_id} on host {host} is already active.',
            'PortBindingAlreadyActive',
        )
    former = database.find(conn, BINDINGS, port_id=port_id, status=ACTIVE)
    if former:
        database.save(conn, BINDINGS, former, status=INACTIVE, vif_type=UNBOUND, vif_details={})
    standard.save(conn, tables.ports, port)
    _bind_subports(conn, port_id, host)
    return database.save(conn, BINDINGS, row, status=ACTIVE)


def delete(conn, _caller, port_id, host):
    """Remove a binding; without the active one the port is unbound."""
    _compute_port(conn, port_id)
    row = _get(conn, port_id, host)
    database.delete(conn, BINDINGS, port_id=port_id, host=host)
    if row['status'] == ACTIVE:
        _bind_subports(conn, port_id, '')


def _privileged(caller, action, _path):
    what = 'port bindings' if action == resources.LIST else 'a port binding'
    caller.require_privileged(f'{action} {what}')


def resource(plugging):
    """Return the bindings of ports."""

    def notify(db, _caller, action, row):
        if action == resources.CREATE and row['status'] == INACTIVE:
            plugging.prepared(db, row['port_id'], row['host'])
        elif action in (resources.CREATE, resources.UPDATE) and row['status'] == ACTIVE:
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
    """Activation of a binding: /v2.0/ports/{id}/bindings/{host}/activate."""

    def __init__(self, db, plugging):
        self._db = db
        self._plugging = plugging

    def on_put(self, req, resp, port_id, host):
        req.context.caller.require_privileged('activating a port binding')
        binding = self._db.change(activate, port_id, host)
        self._plugging.bound(self._db, port_id)
        resp.media = view(binding)
