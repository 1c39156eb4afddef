"""/v2.0/auto-allocated-topology: a project's network that its first request creates."""

import falcon
import sqlalchemy as sa

from nova_lite.simcloud import caller as callers
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import web
from nova_lite.simcloud.network import networks
from nova_lite.simcloud.network import router_interfaces
from nova_lite.simcloud.network import routers
from nova_lite.simcloud.network import subnets
from nova_lite.simcloud.network import tables

NETWORKS = tables.networks
NAME = 'auto_allocated_network'
CIDR = '10.192.0.0/20'
DRY_RUN = 'dry-run'


def _external(conn: sa.Connection) -> database.Row:
    row = database.find(conn, NETWORKS, external=True, is_default=True)
    if row is None:
        raise faults.Conflict(
            'Deployment error: No default router:external network.', 'AutoAllocationFailure'
        )
    return row


def find(conn: sa.Connection, project_id: str) -> database.Row | None:
    """Return the project's automatic network, or None."""
    return database.find(conn, NETWORKS, project_id=project_id, name=NAME)


def ensure(conn: sa.Connection, project_id: str) -> str:
    """Return the id of the project's automatic network. Create it with a subnet and a router."""
    known = find(conn, project_id)
    if known:
        return str(known['id'])
    external = _external(conn)
    itself = callers.Caller.service(project_id)
    network = networks.create(conn, itself, {'name': NAME})
    subnet = subnets.create(
        conn,
        itself,
        {
            'network_id': network['id'],
            'name': 'auto_allocated_subnet_v4',
            'ip_version': 4,
            'cidr': CIDR,
        },
    )
    router = routers.create(
        conn,
        itself,
        {'name': 'auto_allocated_router', 'external_gateway_info': {'network_id': external['id']}},
    )
    router_interfaces.add_interface(conn, itself, router['id'], {'subnet_id': subnet['id']})
    return str(network['id'])


def remove(conn: sa.Connection, project_id: str) -> None:
    """Delete the automatic network of a project. Raise Conflict while ports use it."""
    network = find(conn, project_id)
    if network is None:
        return
    itself = callers.Caller.service(project_id)
    inward = {'network_id': network['id'], 'device_owner': routers.INTERFACE}
    for port in database.find_all(conn, tables.ports, **inward):
        router_interfaces.remove_interface(conn, itself, port['device_id'], {'port_id': port['id']})
        routers.delete(conn, itself, port['device_id'])
    networks.delete(conn, itself, network['id'])


class TopologyResource:
    """GET creates or finds the network (fields=dry-run only checks). DELETE deletes it."""

    def __init__(self, db: database.Database) -> None:
        self._db = db

    @staticmethod
    def _project(req: web.Request, project_id: str) -> str:
        caller = req.context.caller
        wanted = caller.project_id if project_id in ('None', 'null', '') else project_id
        if wanted is None or not caller.sees(wanted):
            raise faults.NotFound(f'Project {str(wanted)[:64]} could not be found.')
        return wanted

    def on_get(self, req: web.Request, resp: falcon.Response, project_id: str) -> None:
        project_id = self._project(req, project_id)
        if DRY_RUN in (req.get_param_as_list('fields') or ()):
            with self._db.read() as conn:
                _external(conn)
            topology_id = 'dry-run=pass'
        else:
            req.context.caller.require_writer()
            topology_id = self._db.change(ensure, project_id)
        resp.media = {
            'auto_allocated_topology': {
                'id': topology_id,
                'project_id': project_id,
                'tenant_id': project_id,
            }
        }

    def on_delete(self, req: web.Request, resp: falcon.Response, project_id: str) -> None:
        req.context.caller.require_writer()
        self._db.change(remove, self._project(req, project_id))
        resp.status = falcon.HTTP_204
