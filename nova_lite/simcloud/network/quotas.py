"""/v2.0/quotas: limits of the network service per project, and their enforcement."""

import falcon
import sqlalchemy as sa

from nova_lite.simcloud import bodies
from nova_lite.simcloud import faults
from nova_lite.simcloud.network import tables

UNLIMITED = -1
# Neutron's defaults, except that ports are not limited: servers are many here.
DEFAULTS = {
    'network': 100,
    'subnet': 100,
    'subnetpool': UNLIMITED,
    'port': UNLIMITED,
    'router': 10,
    'floatingip': 50,
    'rbac_policy': 10,
    'security_group': 10,
    'security_group_rule': 100,
}
COUNTED = {
    'network': tables.networks,
    'subnet': tables.subnets,
    'port': tables.ports,
    'router': tables.routers,
    'floatingip': tables.floating_ips,
    'security_group': tables.groups,
    'security_group_rule': tables.rules,
}
UPDATE = bodies.wrapped(
    'quota',
    {
        **{
            name: {
                'type': ['integer', 'string'],
                'minimum': UNLIMITED,
                'maximum': bodies.INT_LIMIT,
                'pattern': '^-1$|^[0-9]{1,9}$',
            }
            for name in DEFAULTS
        },
        'project_id': bodies.ID,
        'tenant_id': bodies.ID,
        'force': bodies.BOOLEAN,
        'check_limit': bodies.BOOLEAN,
    },
)


def limits(conn, project_id):
    """{resource: limit} of a project; -1 is no limit."""
    table = tables.quotas
    return DEFAULTS | {
        row.resource: row.limit
        for row in conn.execute(sa.select(table).where(table.c.project_id == project_id))
    }


def used(conn, resource, project_id):
    """How many of a resource the project has."""
    table = COUNTED.get(resource)
    if table is None:
        return 0
    return conn.execute(
        sa.select(sa.func.count()).select_from(table).where(table.c.project_id == project_id)
    ).scalar()


def require(conn, resource, project_id):
    """Refuse with OverQuota when the project may not have one more."""
    limit = limits(conn, project_id)[resource]
    if limit != UNLIMITED and used(conn, resource, project_id) >= limit:
        raise faults.Conflict(f"Quota exceeded for resources: ['{resource}'].", 'OverQuota')


def change(conn, project_id, wanted):
    """Set limits of a project and return all of them."""
    table = tables.quotas
    for resource in DEFAULTS:
        if resource in wanted:
            where = (table.c.project_id == project_id, table.c.resource == resource)
            conn.execute(table.delete().where(*where))
            conn.execute(
                table.insert().values(
                    project_id=project_id, resource=resource, limit=int(wanted[resource])
                )
            )
    return limits(conn, project_id)


class QuotaResource:
    """Projects see their own limits; administrators see and set all."""

    def __init__(self, db):
        self._db = db

    def on_get(self, req, resp):
        req.context.caller.require_admin('listing quotas')
        with self._db.read() as conn:
            ids = conn.execute(sa.select(tables.quotas.c.project_id).distinct()).scalars()
            resp.media = {
                'quotas': [
                    {**limits(conn, one), 'project_id': one, 'tenant_id': one} for one in ids.all()
                ]
            }

    @staticmethod
    def _require_own(req, project_id):
        if not req.context.caller.sees(project_id):
            req.context.caller.require_admin('showing the quotas of another project')

    def on_get_one(self, req, resp, project_id):
        if project_id in ('tenant', 'project'):
            own = req.context.caller.project_id
            resp.media = {project_id: {'project_id': own, 'tenant_id': own}}
            return
        self._require_own(req, project_id)
        with self._db.read() as conn:
            resp.media = {'quota': limits(conn, project_id)}

    def on_get_default(self, req, resp, project_id):
        self._require_own(req, project_id)
        resp.media = {'quota': DEFAULTS}

    def on_get_details(self, req, resp, project_id):
        self._require_own(req, project_id)
        with self._db.read() as conn:
            resp.media = {
                'quota': {
                    name: {'limit': limit, 'used': used(conn, name, project_id), 'reserved': 0}
                    for name, limit in limits(conn, project_id).items()
                }
            }

    def on_put_one(self, req, resp, project_id):
        req.context.caller.require_admin('changing quotas')
        wanted = bodies.read(req, UPDATE, 'quota')
        resp.media = {'quota': self._db.change(change, project_id, wanted)}

    @staticmethod
    def _reset(conn, project_id):
        conn.execute(tables.quotas.delete().where(tables.quotas.c.project_id == project_id))

    def on_delete_one(self, req, resp, project_id):
        req.context.caller.require_admin('resetting quotas')
        self._db.change(self._reset, project_id)
        resp.status = falcon.HTTP_204
