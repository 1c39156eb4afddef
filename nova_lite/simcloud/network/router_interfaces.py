"""Interfaces of routers: the ports by which routers are connected to subnets."""

import falcon
import sqlalchemy as sa

from nova_lite.dialects import shapes
from nova_lite.simcloud import bodies
from nova_lite.simcloud import caller as callers
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import resources
from nova_lite.simcloud import web
from nova_lite.simcloud.network import addresses
from nova_lite.simcloud.network import port_records
from nova_lite.simcloud.network import routers
from nova_lite.simcloud.network import standard
from nova_lite.simcloud.network import subnets
from nova_lite.simcloud.network import tables

PORTS = tables.ports
BODY = bodies.compiled(bodies.record({'subnet_id': bodies.ID, 'port_id': bodies.ID}))


def _interface(router: database.Row, port: database.Row, subnet_id: str) -> bodies.Json:
    return {
        'id': router['id'],
        'project_id': router['project_id'],
        'tenant_id': router['project_id'],
        'port_id': port['id'],
        'network_id': port['network_id'],
        'subnet_id': subnet_id,
        'subnet_ids': [subnet_id],
    }


def add_interface(
    conn: sa.Connection, caller: callers.Caller, router_id: str, wanted: bodies.Json
) -> bodies.Json:
    """Connect a router to a subnet with a new port, or with the requested port."""
    caller.require_writer()
    router = routers.get(conn, caller, router_id)
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
        port = standard.save(conn, PORTS, port, device_id=router_id, device_owner=routers.INTERFACE)
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
    port = routers.service_port(
        conn,
        router,
        subnet['network_id'],
        owner=routers.INTERFACE,
        fixed_ips=[{'subnet_id': subnet['id'], 'ip_address': subnet['gateway_ip']}],
    )
    return _interface(router, port, subnet['id'])


def _require_no_port(conn: sa.Connection, router_id: str, subnet_ids: list[str]) -> None:
    """Raise BadRequest for a router that has a port on one of these subnets."""
    same = tables.allocations.c.subnet_id.in_(subnet_ids)
    if other := _interface_port(conn, router_id, same):
        raise faults.BadRequest(
            f'Bad router request: Router already has a port on subnet {other["subnet_id"]}.',
            'BadRequest',
        )


def _interface_port(
    conn: sa.Connection, router_id: str, *conditions: shapes.Condition
) -> database.Row | None:
    """Return the row of a port that matches the conditions, with `subnet_id`, or None."""
    query = (
        sa.select(PORTS, tables.allocations.c.subnet_id)
        .join(tables.allocations, tables.allocations.c.port_id == PORTS.c.id)
        .where(
            PORTS.c.device_id == router_id, PORTS.c.device_owner == routers.INTERFACE, *conditions
        )
    )
    return database.one(conn, query)


def remove_interface(
    conn: sa.Connection, caller: callers.Caller, router_id: str, wanted: bodies.Json
) -> bodies.Json:
    """Disconnect a router from a subnet, and delete its port there."""
    caller.require_writer()
    router = routers.get(conn, caller, router_id)
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


def _no_interface(router_id: str, wanted: bodies.Json) -> faults.NotFound:
    if 'port_id' in wanted:
        return faults.NotFound(
            f'Router {router_id} does not have an interface with id {wanted["port_id"]}',
            'RouterInterfaceNotFound',
        )
    return faults.NotFound(
        f'Router {router_id} has no interface on subnet {wanted["subnet_id"]}',
        'RouterInterfaceNotFoundForSubnet',
    )


class InterfaceResource:
    """Answers requests to add and remove interfaces of a router."""

    def __init__(self, db: database.Database) -> None:
        self._db = db

    def _change(
        self,
        req: web.Request,
        resp: falcon.Response,
        router_id: str,
        function: resources.Change,
    ) -> None:
        wanted = bodies.read(req, BODY)
        if not wanted.keys() & {'subnet_id', 'port_id'}:
            raise faults.BadRequest(
                'Bad router request: Either subnet_id or port_id must be specified.', 'BadRequest'
            )
        resp.media = self._db.change(function, req.context.caller, router_id, wanted)

    def on_put_add(self, req: web.Request, resp: falcon.Response, router_id: str) -> None:
        self._change(req, resp, router_id, add_interface)

    def on_put_remove(self, req: web.Request, resp: falcon.Response, router_id: str) -> None:
        self._change(req, resp, router_id, remove_interface)
