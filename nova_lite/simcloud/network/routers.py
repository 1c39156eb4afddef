"""/v2.0/routers: a gateway to an external network, and interfaces on subnets."""

import sqlalchemy as sa

from nova_lite.simcloud import bodies
from nova_lite.simcloud import caller as callers
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import resources
from nova_lite.simcloud.network import addresses
from nova_lite.simcloud.network import networks
from nova_lite.simcloud.network import port_records
from nova_lite.simcloud.network import qos
from nova_lite.simcloud.network import standard
from nova_lite.simcloud.network import subnets
from nova_lite.simcloud.network import tables

ROUTERS = tables.routers
PORTS = tables.ports
INTERFACE, GATEWAY = 'network:router_interface', 'network:router_gateway'

_GATEWAY = bodies.nullable(
    bodies.record(
        {
            'network_id': bodies.ID,
            'enable_snat': bodies.BOOLEAN,
            'external_fixed_ips': bodies.array(
                bodies.record({'subnet_id': bodies.ID, 'ip_address': subnets.ADDRESS})
            ),
            'qos_policy_id': bodies.OPTIONAL_ID,
        },
        extra=False,
    )
)
MOST_ROUTES = 30
_ROUTE = bodies.record(
    dict.fromkeys(('destination', 'nexthop'), subnets.ADDRESS),
    ['destination', 'nexthop'],
    extra=False,
)
_ROUTES = bodies.array(_ROUTE, most=MOST_ROUTES)
_PROPERTIES = {
    **standard.PROPERTIES,
    'admin_state_up': bodies.BOOLEAN,
    'external_gateway_info': _GATEWAY,
    'routes': _ROUTES,
    'distributed': {'const': False},
    'ha': {'const': False},
    'availability_zone_hints': bodies.array(bodies.NAME),
}
BODY = bodies.wrapped('router', _PROPERTIES)
ROUTES_BODY = bodies.wrapped('router', {'routes': _ROUTES}, ['routes'])
INTERFACE_BODY = bodies.compiled(bodies.record({'subnet_id': bodies.ID, 'port_id': bodies.ID}))


def view(conn, row, caller):
    """Return one router."""
    gateway = None
    if row['gateway_port_id']:
        gateway = {
            'network_id': row['gateway_network_id'],
            'enable_snat': row['enable_snat'],
            'external_fixed_ips': addresses.of_port(conn, row['gateway_port_id']),
        }
        if policy := database.find(conn, qos.GATEWAYS, router_id=row['id']):
            gateway['qos_policy_id'] = policy['qos_policy_id']
    answer = {
        **standard.view(row, 'routes', 'admin_state_up'),
        'status': 'ACTIVE',
        'external_gateway_info': gateway,
        'availability_zones': ['nova'],
        'availability_zone_hints': [],
        'flavor_id': None,
    }
    if caller.is_privileged:
        answer |= {'distributed': False, 'ha': False}
    return answer


def views(conn, req, found):
    """Return rows with the addresses of their gateways."""
    return [view(conn, row, req.context.caller) for row in found]


get = standard.getter(ROUTERS)


def _service_port(conn, router, network_id, *, owner, fixed_ips):
    """Create a port of the router on any project's network."""
    return port_records.create(
        conn,
        callers.Caller.service(router['project_id']),
        {
            'network_id': network_id,
            'device_id': router['id'],
            'device_owner': owner,
            'fixed_ips': fixed_ips,
        },
    )


def _set_gateway(conn, caller, row, wanted):
    """Replace the gateway by the requested one (None: remove it). Return the new row."""
    if row['gateway_port_id']:
        if wanted and wanted.get('network_id') == row['gateway_network_id']:
            return _update_gateway(conn, caller, row, wanted)
        if database.exists(conn, tables.floating_ips, router_id=row['id']):
            raise faults.Conflict(
                f'Gateway cannot be updated for router {row["id"]}, since a '
                f'gateway to external network is required by one or more '
                f'floating IPs.',
                'RouterExternalGatewayInUseByFloatingIp',
            )
        port_records.remove(conn, row['gateway_port_id'])
    qos.set_gateway(conn, caller, row['id'], (wanted or {}).get('qos_policy_id'))
    if not wanted:
        return standard.save(conn, ROUTERS, row, gateway_port_id=None, gateway_network_id=None)
    if 'network_id' not in wanted:
        raise standard.invalid('external_gateway_info needs a network_id')
    network = networks.get(conn, caller, wanted['network_id'])
    if not network['external']:
        raise faults.BadRequest(
            f'Bad router request: Network {network["id"]} is not an external network.', 'BadRequest'
        )
    port = _service_port(
        conn, row, network['id'], owner=GATEWAY, fixed_ips=wanted.get('external_fixed_ips')
    )
    return standard.save(
        conn,
        ROUTERS,
        row,
        gateway_port_id=port['id'],
        gateway_network_id=network['id'],
        enable_snat=wanted.get('enable_snat', True),
    )


def _update_gateway(conn, caller, row, wanted):
    """Change a gateway that stays on its network. Returns the new row."""
    if wanted.get('external_fixed_ips') is not None:
        fixed_ips = wanted['external_fixed_ips']
        addresses.assign(conn, row['gateway_network_id'], row['gateway_port_id'], fixed_ips)
    if 'qos_policy_id' in wanted:
        qos.set_gateway(conn, caller, row['id'], wanted['qos_policy_id'])
    return standard.save(conn, ROUTERS, row, enable_snat=wanted.get('enable_snat', True))


def create(conn, caller, wanted):
    """Insert a router from a request's values and return its row."""
    _check_routes(wanted.get('routes', ()))
    row = standard.insert(conn, caller, ROUTERS, wanted)
    if wanted.get('external_gateway_info'):
        row = _set_gateway(conn, caller, row, wanted['external_gateway_info'])
    return row


def update(conn, caller, router_id, wanted):
    """Change a router and return its row."""
    _check_routes(wanted.get('routes', ()))
    row = get(conn, caller, router_id)
    if 'external_gateway_info' in wanted:
        row = _set_gateway(conn, caller, row, wanted['external_gateway_info'])
    return standard.save(conn, ROUTERS, row, **standard.columns(ROUTERS, wanted))


def delete(conn, caller, router_id):
    """Remove a router without interfaces, with its gateway port."""
    row = get(conn, caller, router_id)
    found = database.find_all(conn, PORTS, device_id=router_id, device_owner=INTERFACE)
    if found:
        attached = ', '.join(sorted(port['id'] for port in found))
        raise faults.Conflict(
            f'Router {router_id} has ports still attached: {attached}', 'RouterInUse'
        )
    _set_gateway(conn, caller, row, None)
    database.delete(conn, ROUTERS, id=router_id)


def _interface(router, port, subnet_id):
    return {
        'id': router['id'],
        'project_id': router['project_id'],
        'tenant_id': router['project_id'],
        'port_id': port['id'],
        'network_id': port['network_id'],
        'subnet_id': subnet_id,
        'subnet_ids': [subnet_id],
    }


def add_interface(conn, caller, router_id, wanted):
    """Connect a router to a subnet, by a port of its own or by a given one."""
    caller.require_writer()
    router = get(conn, caller, router_id)
    if 'port_id' in wanted:
        port = port_records.get(conn, caller, wanted['port_id'])
        if port['device_id']:
            raise faults.Conflict(
                f'Unable to complete operation on port {port["id"]} for '
                f'network {port["network_id"]}. Port already has an attached '
                f'device {port["device_id"]}.',
                'PortInUse',
            )
        subnet_ids = [one['subnet_id'] for one in addresses.of_port(conn, port['id'])]
        if not subnet_ids:
            raise standard.invalid('Router port must have at least one fixed IP')
        _require_no_port(conn, router_id, subnet_ids)
        port = standard.save(conn, PORTS, port, device_id=router_id, device_owner=INTERFACE)
        return _interface(router, port, subnet_ids[0])
    subnet = subnets.get(conn, caller, wanted['subnet_id'])
    if not subnet['gateway_ip']:
        raise faults.BadRequest(
            'Bad router request: Subnet for router interface must have a gateway IP.', 'BadRequest'
        )
    if addresses.is_taken(conn, subnet['id'], subnet['gateway_ip']):
        raise faults.Conflict(
            f'Unable to complete operation for network '
            f'{subnet["network_id"]}. The IP address {subnet["gateway_ip"]} '
            f'is in use.',
            'IpAddressInUse',
        )
    _require_no_port(conn, router_id, [subnet['id']])
    port = _service_port(
        conn,
        router,
        subnet['network_id'],
        owner=INTERFACE,
        fixed_ips=[{'subnet_id': subnet['id'], 'ip_address': subnet['gateway_ip']}],
    )
    return _interface(router, port, subnet['id'])


def _require_no_port(conn, router_id, subnet_ids):
    """Raise BadRequest for a router that has a port on one of these subnets."""
    same = tables.allocations.c.subnet_id.in_(subnet_ids)
    if other := _interface_port(conn, router_id, same):
        raise faults.BadRequest(
            f'Bad router request: Router already has a port on subnet {other["subnet_id"]}.',
            'BadRequest',
        )


def _interface_port(conn, router_id, *conditions):
    """Return the row of a port of a router, with `subnet_id`, or None."""
    query = (
        sa.select(PORTS, tables.allocations.c.subnet_id)
        .join(tables.allocations, tables.allocations.c.port_id == PORTS.c.id)
        .where(PORTS.c.device_id == router_id, PORTS.c.device_owner == INTERFACE, *conditions)
    )
    return database.one(conn, query)


def remove_interface(conn, caller, router_id, wanted):
    """Disconnect a router from a subnet; the port goes."""
    caller.require_writer()
    router = get(conn, caller, router_id)
    conditions = []
    if 'port_id' in wanted:
        conditions.append(PORTS.c.id == wanted['port_id'])
    if 'subnet_id' in wanted:
        conditions.append(tables.allocations.c.subnet_id == wanted['subnet_id'])
    port = _interface_port(conn, router_id, *conditions)
    if port is None:
        raise _no_interface(router_id, wanted)
    floating = tables.floating_ips
    if conn.execute(
        sa.select(floating.c.id)
        .join(PORTS, PORTS.c.id == floating.c.port_id)
        .where(floating.c.router_id == router_id, PORTS.c.network_id == port['network_id'])
        .limit(1)
    ).first():
        raise faults.Conflict(
            f'Router interface for subnet {port["subnet_id"]} on router '
            f'{router_id} cannot be deleted, as it is required by one or more '
            f'floating IPs.',
            'RouterInterfaceInUseByFloatingIP',
        )
    port_records.remove(conn, port['id'])
    return _interface(router, port, port['subnet_id'])


def _no_interface(router_id, wanted):
    if 'port_id' in wanted:
        return faults.NotFound(
            f'Router {router_id} does not have an interface with id {wanted["port_id"]}',
            'RouterInterfaceNotFound',
        )
    return faults.NotFound(
        f'Router {router_id} has no interface on subnet {wanted["subnet_id"]}',
        'RouterInterfaceNotFoundForSubnet',
    )


def _check_routes(routes):
    """Raise BadRequest for routes not to a network by an address, and for repeated ones."""
    for route in routes:
        hop = addresses.parse(route['nexthop'])
        subnets.network_of(route['destination'], hop.version)
        if routes.count(route) > 1:
            raise standard.invalid(f'Duplicate items in the list of routes: {route}')


def add_routes(conn, caller, router_id, routes):
    """Add those routes that a router does not have, and return its row."""
    _check_routes(routes)
    row = get(conn, caller, router_id)
    found = row['routes'] + [route for route in routes if route not in row['routes']]
    if len(found) > MOST_ROUTES:
        raise faults.BadRequest(
            f'Unable to complete operation for {router_id}. The number of routes exceeds the '
            f'maximum {MOST_ROUTES}.',
            'RoutesExhausted',
        )
    return standard.save(conn, ROUTERS, row, routes=found)


def remove_routes(conn, caller, router_id, routes):
    """Remove those routes that a router has, and return its row."""
    row = get(conn, caller, router_id)
    kept = [route for route in row['routes'] if route not in routes]
    return standard.save(conn, ROUTERS, row, routes=kept)


RESOURCE = resources.Resource(
    name='router',
    style=standard.STYLE,
    revisions=ROUTERS,
    listed=standard.lists(ROUTERS, filters=['admin_state_up']),
    get=get,
    views=views,
    create=(create, BODY),
    update=(update, BODY),
    delete=delete,
)


class InterfaceResource:
    """Requests to add and remove the interfaces of a router."""

    def __init__(self, db):
        self._db = db

    def _change(self, req, resp, router_id, function):
        wanted = bodies.read(req, INTERFACE_BODY)
        if not wanted.keys() & {'subnet_id', 'port_id'}:
            raise faults.BadRequest(
                'Bad router request: Either subnet_id or port_id must be specified.', 'BadRequest'
            )
        resp.media = self._db.change(function, req.context.caller, router_id, wanted)

    def on_put_add(self, req, resp, router_id):
        self._change(req, resp, router_id, add_interface)

    def on_put_remove(self, req, resp, router_id):
        self._change(req, resp, router_id, remove_interface)


class RoutesResource:
    """Requests to add and remove some of the routes of a router, beside changes by others."""

    def __init__(self, db):
        self._db = db

    def _change(self, req, resp, router_id, function):
        caller = req.context.caller
        routes = bodies.read(req, ROUTES_BODY, 'router')['routes']
        caller.require_writer()
        row = self._db.change(function, caller, router_id, routes)
        with self._db.read() as conn:
            resp.media = {'router': view(conn, row, caller)}

    def on_put_add(self, req, resp, router_id):
        self._change(req, resp, router_id, add_routes)

    def on_put_remove(self, req, resp, router_id):
        self._change(req, resp, router_id, remove_routes)
