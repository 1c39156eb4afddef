"""/v2.0/floatingips: addresses of external networks that are associated with ports."""

import sqlalchemy as sa

from nova_lite import runtime
from nova_lite.simcloud import bodies
from nova_lite.simcloud import caller as callers
from nova_lite.simcloud import database
from nova_lite.simcloud import external_events
from nova_lite.simcloud import faults
from nova_lite.simcloud import resources
from nova_lite.simcloud import web
from nova_lite.simcloud.network import addresses
from nova_lite.simcloud.network import networks
from nova_lite.simcloud.network import plugging
from nova_lite.simcloud.network import port_records
from nova_lite.simcloud.network import ports
from nova_lite.simcloud.network import routers
from nova_lite.simcloud.network import standard
from nova_lite.simcloud.network import subnets
from nova_lite.simcloud.network import tables

FLOATING = tables.floating_ips
PORTS = tables.ports
OWNER = 'network:floatingip'
_TARGET = {
    'port_id': bodies.OPTIONAL_ID,
    'fixed_ip_address': bodies.nullable(subnets.ADDRESS),
    'description': standard.PROPERTIES['description'],
}
CREATE = bodies.wrapped(
    'floatingip',
    {
        **_TARGET,
        'project_id': bodies.ID,
        'tenant_id': bodies.ID,
        'floating_network_id': bodies.ID,
        'subnet_id': bodies.OPTIONAL_ID,
        'floating_ip_address': bodies.nullable(subnets.ADDRESS),
    },
    ['floating_network_id'],
)
UPDATE = bodies.wrapped('floatingip', _TARGET)
SHOWN = ('floating_network_id', 'floating_ip_address', 'port_id', 'fixed_ip_address', 'router_id')
PORT_DETAILS = bodies.words('name network_id mac_address admin_state_up device_id device_owner')


def _views(
    conn: sa.Connection, found: list[database.Row], plugging: plugging.Plugging
) -> list[bodies.Json]:
    """Return rows with the port details of the extension fip-port-details."""
    ids = [row['port_id'] for row in found if row['port_id']]
    owned = [port for (port,) in database.grouped(conn, PORTS.c.id, ids).values()]
    statuses = ports.statuses(conn, owned, plugging)
    details = {
        port['id']: {name: port[name] for name in PORT_DETAILS} | {'status': statuses[port['id']]}
        for port in owned
    }
    return [_view(row, details.get(row['port_id'])) for row in found]


def _view(row: database.Row, details: bodies.Json | None) -> bodies.Json:
    return {
        **standard.view(row, *SHOWN, without=['name']),
        'status': 'ACTIVE' if row['port_id'] else 'DOWN',
        'port_details': details,
        'qos_policy_id': None,
        'port_forwardings': [],
    }


def _router_between(
    conn: sa.Connection, port: database.Row, subnet_id: str, external_id: str
) -> str:
    """Return the id of a router from the port's subnet to the external network."""
    router, interface = tables.routers, tables.ports.alias()
    row = database.one(
        conn,
        sa.select(router.c.id)
        .join(interface, interface.c.device_id == router.c.id)
        .join(tables.allocations, tables.allocations.c.port_id == interface.c.id)
        .where(
            interface.c.device_owner == routers.INTERFACE,
            tables.allocations.c.subnet_id == subnet_id,
            router.c.gateway_network_id == external_id,
        ),
    )
    if row is None:
        raise faults.NotFound(
            f'External network {external_id} is not reachable from subnet {subnet_id}. '
            f'Therefore, cannot associate Port {port["id"]} with a Floating IP.',
            'ExternalGatewayForFloatingIPNotFound',
        )
    found: str = row['id']
    return found


def _ipv4_of(conn: sa.Connection, port_id: str) -> dict[str, str]:
    """Return {IPv4 address: subnet id} of a port, in the order of its fixed_ips."""
    return {
        one['ip_address']: one['subnet_id']
        for one in addresses.of_port(conn, port_id)
        if ':' not in one['ip_address']
    }


def _target(
    conn: sa.Connection, caller: callers.Caller, row: database.Row, wanted: bodies.Json
) -> database.Row:
    """Return the columns that associate a floating address with a port, or with none."""
    if not wanted.get('port_id'):
        return {'port_id': None, 'fixed_ip_address': None, 'router_id': None}
    port = port_records.get(conn, caller, wanted['port_id'])
    owned = _ipv4_of(conn, port['id'])
    fixed = wanted.get('fixed_ip_address') or next(iter(owned), None)
    if fixed not in owned:
        raise faults.BadRequest(
            f'Bad floatingip request: Port {port["id"]} does not have fixed ip {fixed}.',
            'BadRequest',
        )
    same = {'port_id': port['id'], 'fixed_ip_address': fixed}
    external = {'floating_network_id': row['floating_network_id']}
    if database.exists(conn, FLOATING, FLOATING.c.id != row['id'], **same, **external):
        raise faults.Conflict(
            f'Cannot associate floating IP {row["floating_ip_address"]} ({row["id"]}) with port '
            f'{port["id"]} using fixed IP {fixed}, as that fixed IP already has a floating IP on '
            f'external network {row["floating_network_id"]}.',
            'FloatingIPPortAlreadyAssociated',
        )
    return {
        **same,
        'router_id': _router_between(conn, port, owned[fixed], row['floating_network_id']),
    }


def create(conn: sa.Connection, caller: callers.Caller, wanted: bodies.Json) -> database.Row:
    """Allocate an address of an external network and return its row."""
    network = networks.get(conn, caller, wanted['floating_network_id'])
    if not network['external']:
        raise faults.BadRequest(
            f'Bad floatingip request: Network {network["id"]} is not a valid external network.',
            'BadRequest',
        )
    floating_id = runtime.new_uuid()
    entry = {'subnet_id': wanted.get('subnet_id'), 'ip_address': wanted.get('floating_ip_address')}
    entry = {name: value for name, value in entry.items() if value}
    port = port_records.create(
        conn,
        callers.Caller.service(''),
        {
            'network_id': network['id'],
            'device_id': floating_id,
            'device_owner': OWNER,
            'fixed_ips': [entry] if entry else None,
        },
    )
    owned = _ipv4_of(conn, port['id'])
    if not owned:
        raise faults.Conflict(
            f'Network {network["id"]} does not contain any IPv4 subnet',
            'ExternalIpAddressExhausted',
        )
    row = {
        'id': floating_id,
        'floating_network_id': network['id'],
        'floating_port_id': port['id'],
        'floating_ip_address': next(iter(owned)),
    }
    row |= _target(conn, caller, row, wanted)
    return standard.insert(conn, caller, FLOATING, wanted, **row)


def update(
    conn: sa.Connection, caller: callers.Caller, floating_id: str, wanted: bodies.Json
) -> database.Row:
    """Associate an address with a port, or with none. Return its row with `former_port_id`."""
    row = standard.get(conn, caller, FLOATING, floating_id)
    values = standard.columns(FLOATING, wanted)
    if 'port_id' in wanted or 'fixed_ip_address' in wanted:
        values |= _target(conn, caller, row, {'port_id': row['port_id'], **wanted})
    return standard.save(conn, FLOATING, row, **values) | {'former_port_id': row['port_id']}


def delete(conn: sa.Connection, caller: callers.Caller, floating_id: str) -> database.Row:
    """Release an address and return its last row."""
    row = standard.get(conn, caller, FLOATING, floating_id)
    port_records.remove(conn, row['floating_port_id'])
    database.delete(conn, FLOATING, id=floating_id)
    return row


def resource(events: external_events.Sender, plugging: plugging.Plugging) -> resources.Resource:
    """Return the resource, which notifies the compute service of changed addresses."""

    def notify(
        db: database.Database, caller: callers.Caller, _action: str, row: database.Row
    ) -> None:
        port_ids = {row['port_id'], row.get('former_port_id')} - {None}
        if caller.is_service or not port_ids:
            return
        with db.read() as conn:
            concerned = port_records.servers_with(conn, port_ids)
        events.send('network-changed', concerned)

    def views(
        conn: sa.Connection, _req: web.Request, found: list[database.Row]
    ) -> list[bodies.Json]:
        return _views(conn, found, plugging)

    return resources.Resource(
        name='floatingip',
        style=standard.STYLE,
        revisions=FLOATING,
        listed=standard.lists(FLOATING, filters=SHOWN, sortable=['floating_ip_address']),
        get=standard.getter(FLOATING),
        views=views,
        create=(create, CREATE),
        update=(update, UPDATE),
        delete=delete,
        notify=notify,
    )
