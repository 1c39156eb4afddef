"""/v2.0/quotas: limits of the network service per project, and their enforcement."""

import falcon
import sqlalchemy as sa

from nova_lite.simcloud import bodies
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import project_limits
from nova_lite.simcloud import web
from nova_lite.simcloud.network import tables

# Neutron's defaults, except that ports are not limited: a simulated cloud has many servers.
DEFAULTS = {
    'network': 100,
    'subnet': 100,
    'subnetpool': project_limits.UNLIMITED,
    'port': project_limits.UNLIMITED,
    'router': 10,
    'floatingip': 50,
    'rbac_policy': 10,
    'security_group': 10,
    'security_group_rule': 100,
    'trunk': project_limits.UNLIMITED,
}
COUNTED = {
    'network': tables.networks,
    'subnet': tables.subnets,
    'subnetpool': tables.subnet_pools,
    'port': tables.ports,
    'router': tables.routers,
    'floatingip': tables.floating_ips,
    'security_group': tables.groups,
    'security_group_rule': tables.rules,
    'rbac_policy': tables.rbac_policies,
    'trunk': tables.trunks,
}
RESOURCES = {table: resource for resource, table in COUNTED.items()}
LIMITS = project_limits.Limits(tables.quotas, DEFAULTS)
UPDATE = bodies.wrapped(
    'quota',
    {
        **dict.fromkeys(DEFAULTS, project_limits.SCHEMA),
        'project_id': bodies.ID,
        'tenant_id': bodies.ID,
        'force': bodies.BOOLEAN,
        'check_limit': bodies.BOOLEAN,
    },
)


def used(conn: sa.Connection, resource: str, project_id: str) -> int:
    """Return the number of rows of a resource that the project has."""
    table = COUNTED.get(resource)
    return 0 if table is None else database.count(conn, table, project_id=project_id)


def require(conn: sa.Connection, table: sa.Table, project_id: str) -> None:
    """Raise Conflict (OverQuota) if the project may not have one more row of a table."""
    resource = RESOURCES.get(table, '')
    limit = LIMITS.of(conn, project_id).get(resource, project_limits.UNLIMITED)
    if limit != project_limits.UNLIMITED and used(conn, resource, project_id) >= limit:
        raise faults.Conflict(f"Quota exceeded for resources: ['{resource}'].", 'OverQuota')


class QuotaResource:
    """Limits of projects. Members may see the limits; administrators may change them."""

    def __init__(self, db: database.Database) -> None:
        self._db = db

    def on_get(self, req: web.Request, resp: falcon.Response) -> None:
        req.context.caller.require_admin('listing quotas')
        with self._db.read() as conn:
            ids = conn.execute(sa.select(tables.quotas.c.project_id).distinct()).scalars()
            resp.media = {
                'quotas': [
                    {**LIMITS.of(conn, one), 'project_id': one, 'tenant_id': one}
                    for one in ids.all()
                ]
            }

    @staticmethod
    def _require_own(req: web.Request, project_id: str) -> None:
        if not req.context.caller.sees(project_id):
            req.context.caller.require_admin('showing the quotas of another project')

    def on_get_one(self, req: web.Request, resp: falcon.Response, project_id: str) -> None:
        if project_id in ('tenant', 'project'):
            own = req.context.caller.project_id
            resp.media = {project_id: {'project_id': own, 'tenant_id': own}}
            return
        self._require_own(req, project_id)
        with self._db.read() as conn:
            resp.media = {'quota': LIMITS.of(conn, project_id)}

    def on_get_default(self, req: web.Request, resp: falcon.Response, project_id: str) -> None:
        self._require_own(req, project_id)
        resp.media = {'quota': DEFAULTS}

    def on_get_details(self, req: web.Request, resp: falcon.Response, project_id: str) -> None:
        self._require_own(req, project_id)
        with self._db.read() as conn:
            resp.media = {
                'quota': {
                    name: {'limit': limit, 'used': used(conn, name, project_id), 'reserved': 0}
                    for name, limit in LIMITS.of(conn, project_id).items()
                }
            }

    def on_put_one(self, req: web.Request, resp: falcon.Response, project_id: str) -> None:
        req.context.caller.require_admin('changing quotas')
        self._db.change(LIMITS.change, project_id, bodies.read(req, UPDATE, 'quota'))
        with self._db.read() as conn:
            resp.media = {'quota': LIMITS.of(conn, project_id)}

    def on_delete_one(self, req: web.Request, resp: falcon.Response, project_id: str) -> None:
        req.context.caller.require_admin('resetting quotas')
        self._db.change(LIMITS.reset, project_id)
        resp.status = falcon.HTTP_204
