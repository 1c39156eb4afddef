"""Limits of the volume service per project, and their enforcement."""

import falcon
import sqlalchemy as sa

from nova_lite.simcloud import bodies
from nova_lite.simcloud import faults
from nova_lite.simcloud import listing
from nova_lite.simcloud.volume import tables

UNLIMITED = -1
# Nothing is limited until an administrator says so: servers with volumes are many here.
BUILTIN = {
    'volumes': UNLIMITED,
    'snapshots': UNLIMITED,
    'gigabytes': UNLIMITED,
    'backups': 10,
    'backup_gigabytes': 1000,
    'per_volume_gigabytes': UNLIMITED,
    'groups': 10,
}
_LIMIT = {
    'type': ['integer', 'string'],
    'minimum': UNLIMITED,
    'maximum': bodies.INT_LIMIT,
    'pattern': '^-1$|^[0-9]{1,9}$',
}
UPDATE = bodies.wrapped(
    'quota_set', {**dict.fromkeys(BUILTIN, _LIMIT), 'tenant_id': bodies.ID, 'force': bodies.BOOLEAN}
)
UPDATE_CLASS = bodies.wrapped(
    'quota_class_set', {**dict.fromkeys(BUILTIN, _LIMIT), 'class_name': bodies.NAME}
)


def defaults(conn):
    """{resource: limit} of a project without limits of its own."""
    return BUILTIN | _stored(conn, tables.DEFAULTS)


def _stored(conn, project_id):
    table = tables.quotas
    return {
        row.resource: row.limit
        for row in conn.execute(sa.select(table).where(table.c.project_id == project_id))
    }


def limits(conn, project_id):
    """{resource: limit} of a project; -1 is no limit."""
    return defaults(conn) | _stored(conn, project_id)


def usage(conn, project_id):
    """{resource: used} of what is counted: numbers, and GiB together."""
    used = dict.fromkeys(BUILTIN, 0)
    for name, table in (('volumes', tables.volumes), ('snapshots', tables.snapshots)):
        count, size = conn.execute(
            sa.select(sa.func.count(), sa.func.coalesce(sa.func.sum(table.c.size), 0)).where(
                table.c.project_id == project_id
            )
        ).one()
        used[name] = count
        used['gigabytes'] += int(size)
    return used


def require(conn, project_id, **wanted):
    """Refuse with 413 when the project may not have that much more."""
    limited = {
        name: limit for name, limit in limits(conn, project_id).items() if limit != UNLIMITED
    }
    if not limited.keys() & wanted.keys():
        return
    used = usage(conn, project_id)
    for name, amount in wanted.items():
        if name in limited and used[name] + amount > limited[name]:
            raise faults.TooLarge(
                f'{_title(name)} exceeds allowed quota: requested {amount}, quota is '
                f'{limited[name]} and {used[name]} has been consumed.'
            )


def _title(name):
    exceeded = {
        'volumes': 'VolumeLimitExceeded: the number of volumes',
        'snapshots': 'SnapshotLimitExceeded: the number of snapshots',
        'gigabytes': 'VolumeSizeExceedsAvailableQuota: the requested size',
    }
    return exceeded.get(name, name)


def change(conn, project_id, wanted):
    """Set limits of a project (or the defaults)."""
    table = tables.quotas
    for resource in BUILTIN:
        if resource in wanted:
            conn.execute(
                table.delete().where(table.c.project_id == project_id, table.c.resource == resource)
            )
            conn.execute(
                table.insert().values(
                    project_id=project_id, resource=resource, limit=int(wanted[resource])
                )
            )


def reset(conn, project_id):
    """Let the defaults hold for a project again."""
    conn.execute(tables.quotas.delete().where(tables.quotas.c.project_id == project_id))


class QuotaResource:
    """/v3/os-quota-sets and /v3/os-quota-class-sets."""

    def __init__(self, db):
        self._db = db

    @staticmethod
    def _require_own(req, project_id):
        if project_id != req.context.caller.project_id:
            req.context.caller.require_admin('the quotas of another project')

    def on_get(self, req, resp, project_id):
        self._require_own(req, project_id)
        with self._db.read() as conn:
            shown = limits(conn, project_id)
            if listing.boolean(req.get_param('usage') or 'false', 'usage'):
                used = usage(conn, project_id)
                shown = {
                    name: {'limit': limit, 'in_use': used[name], 'reserved': 0, 'allocated': 0}
                    for name, limit in shown.items()
                }
        resp.media = {'quota_set': {'id': project_id, **shown}}

    def on_get_defaults(self, req, resp, project_id):
        with self._db.read() as conn:
            resp.media = {'quota_set': {'id': project_id, **defaults(conn)}}

    def on_put(self, req, resp, project_id):
        req.context.caller.require_admin('changing quotas')
        self._db.change(change, project_id, bodies.read(req, UPDATE, 'quota_set'))
        with self._db.read() as conn:
            resp.media = {'quota_set': limits(conn, project_id)}

    def on_delete(self, req, resp, project_id):
        req.context.caller.require_admin('resetting quotas')
        self._db.change(reset, project_id)
        resp.status = falcon.HTTP_200

    def on_get_class(self, req, resp, name):
        req.context.caller.require_admin('showing default quotas')
        with self._db.read() as conn:
            resp.media = {'quota_class_set': {'id': name, **defaults(conn)}}

    def on_put_class(self, req, resp, name):
        req.context.caller.require_admin('changing default quotas')
        self._db.change(change, tables.DEFAULTS, bodies.read(req, UPDATE_CLASS, 'quota_class_set'))
        with self._db.read() as conn:
            resp.media = {'quota_class_set': defaults(conn)}


class LimitsResource:
    """/v3/limits: the caller's limits and use in one answer."""

    NAMES = {
        'volumes': ('maxTotalVolumes', 'totalVolumesUsed'),
        'snapshots': ('maxTotalSnapshots', 'totalSnapshotsUsed'),
        'gigabytes': ('maxTotalVolumeGigabytes', 'totalGigabytesUsed'),
        'backups': ('maxTotalBackups', 'totalBackupsUsed'),
        'backup_gigabytes': ('maxTotalBackupGigabytes', 'totalBackupGigabytesUsed'),
    }

    def __init__(self, db):
        self._db = db

    def on_get(self, req, resp):
        project_id = req.get_param('project_id') or req.context.caller.project_id
        if project_id != req.context.caller.project_id:
            req.context.caller.require_admin('the limits of another project')
        with self._db.read() as conn:
            limit, used = limits(conn, project_id), usage(conn, project_id)
        absolute = {}
        for name, (most, now) in self.NAMES.items():
            absolute |= {most: limit[name], now: used[name]}
        resp.media = {'limits': {'rate': [], 'absolute': absolute}}
