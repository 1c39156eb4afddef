"""/v2.0/routers: a gateway to an external network, and interfaces on subnets."""

from collections.abc import Sequence

import falcon
import sqlalchemy as sa

from nova_lite.simcloud import bodies
from nova_lite.simcloud import caller as callers
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import resources
from nova_lite.simcloud import web
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


def view(conn: sa.Connection, row: database.Row, caller: callers.Caller) -> bodies.Json:
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


def views(conn: sa.Connection, req: web.Request, found: list[database.Row]) -> list[bodies.Json]:
    """Return rows with the addresses of their gateways."""
    return [view(conn, row, req.context.caller) for row in found]


get = standard.getter(ROUTERS)


def service_port(
    conn: sa.Connection,
    router: database.Row,
    network_id: str,
    *,
    owner: str,
    fixed_ips: list[bodies.Json] | None,
) -> database.Row:
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


def _set_gateway(
    conn: sa.Connection, caller: callers.Caller, row: database.Row, wanted: bodies.Json | None
) -> database.Row:
    """Replace the gateway of a router; None removes it. Return the new row."""
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
    port = service_port(
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


def _update_gateway(
    conn: sa.Connection, caller: callers.Caller, row: database.Row, wanted: bodies.Json
) -> database.Row:
    """Change a gateway that stays on its network. Return the new row."""
    if wanted.get('external_fixed_ips') is not None:
        fixed_ips = wanted['external_fixed_ips']
        addresses.assign(conn, row['gateway_network_id'], row['gateway_port_id'], fixed_ips)
    if 'qos_policy_id' in wanted:
        qos.set_gateway(conn, caller, row['id'], wanted['qos_policy_id'])
    return standard.save(conn, ROUTERS, row, enable_snat=wanted.get('enable_snat', True))


def create(conn: sa.Connection, caller: callers.Caller, wanted: bodies.Json) -> database.Row:
    """Insert a router from a request's values and return its row."""
    _check_routes(wanted.get('routes', ()))
    row = standard.insert(conn, caller, ROUTERS, wanted)
    if wanted.get('external_gateway_info'):
        row = _set_gateway(conn, caller, row, wanted['external_gateway_info'])
    return row


def update(
    conn: sa.Connection, caller: callers.Caller, router_id: str, wanted: bodies.Json
) -> database.Row:
    """Change a router and return its row."""
    _check_routes(wanted.get('routes', ()))
    row = get(conn, caller, router_id)
    if 'external_gateway_info' in wanted:
        row = _set_gateway(conn, caller, row, wanted['external_gateway_info'])
    return standard.save(conn, ROUTERS, row, **standard.columns(ROUTERS, wanted))


def delete(conn: sa.Connection, caller: callers.Caller, router_id: str) -> None:
    """Delete a router and its gateway port. Raise Conflict if the router has interfaces."""
    row = get(conn, caller, router_id)
    found = database.find_all(conn, PORTS, device_id=router_id, device_owner=INTERFACE)
    if found:
        attached = ', '.join(sorted(port['id'] for port in found))
        raise faults.Conflict(
            f'Router {router_id} has ports still attached: {attached}', 'RouterInUse'
        )
    _set_gateway(conn, caller, row, None)
    database.delete(conn, ROUTERS, id=router_id)


def _check_routes(routes: Sequence[dict[str, str]]) -> None:
    """Raise BadRequest for repeated routes and for invalid destinations or next hops."""
    for route in routes:
        hop = addresses.parse(route['nexthop'])
        subnets.network_of(route['destination'], hop.version)
        if routes.count(route) > 1:
            raise standard.invalid(f'Duplicate items in the list of routes: {route}')


def add_routes(
    conn: sa.Connection, caller: callers.Caller, router_id: str, routes: list[bodies.Json]
) -> database.Row:
    """Add the routes that the router does not have yet. Return its row."""
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


def remove_routes(
    conn: sa.Connection, caller: callers.Caller, router_id: str, routes: list[bodies.Json]
) -> database.Row:
    """Remove the routes that the router has. Return its row."""
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


class RoutesResource:
    """Answers requests to add and remove single routes of a router."""

    def __init__(self, db: database.Database) -> None:
        self._db = db

    def _change(
        self,
        req: web.Request,
        resp: falcon.Response,
        router_id: str,
        function: resources.Change,
    ) -> None:
        caller = req.context.caller
        routes = bodies.read(req, ROUTES_BODY, 'router')['routes']
        caller.require_writer()
        row = self._db.change(function, caller, router_id, routes)
        with self._db.read() as conn:
            resp.media = {'router': view(conn, row, caller)}

    def on_put_add(self, req: web.Request, resp: falcon.Response, router_id: str) -> None:
        self._change(req, resp, router_id, add_routes)

    def on_put_remove(self, req: web.Request, resp: falcon.Response, router_id: str) -> None:
        self._change(req, resp, router_id, remove_routes)
