"""Limits of the volume service per project, and their enforcement."""

import falcon
import sqlalchemy as sa

from nova_lite.simcloud import bodies
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import paging
from nova_lite.simcloud import project_limits
from nova_lite.simcloud import web
from nova_lite.simcloud.volume import tables

# Most resources are not limited by default: a simulated cloud has many servers with volumes.
BUILTIN = {
    'volumes': project_limits.UNLIMITED,
    'snapshots': project_limits.UNLIMITED,
    'gigabytes': project_limits.UNLIMITED,
    'backups': 10,
    'backup_gigabytes': 1000,
    'per_volume_gigabytes': project_limits.UNLIMITED,
    'groups': 10,
}
EXCEEDED = {
    'volumes': 'VolumeLimitExceeded: the number of volumes',
    'snapshots': 'SnapshotLimitExceeded: the number of snapshots',
    'gigabytes': 'VolumeSizeExceedsAvailableQuota: the requested size',
    'backups': 'BackupLimitExceeded: the number of backups',
    'backup_gigabytes': 'VolumeBackupSizeExceedsAvailableQuota: the requested size',
}
# The targets of migrations are not counted.
_COUNTED_VOLUMES = tables.volumes.c.admin_metadata[tables.UNCOUNTED].as_string().is_(None)
# (resource, its table, condition of the counted rows, resource to which their sizes add)
COUNTED = (
    ('volumes', tables.volumes, _COUNTED_VOLUMES, 'gigabytes'),
    ('snapshots', tables.snapshots, sa.true(), 'gigabytes'),
    ('backups', tables.backups, sa.true(), 'backup_gigabytes'),
)
LIMITS = project_limits.Limits(tables.quotas, BUILTIN)
UPDATE = bodies.wrapped(
    'quota_set',
    {
        **dict.fromkeys(BUILTIN, project_limits.SCHEMA),
        'tenant_id': bodies.ID,
        'force': bodies.BOOLEAN,
    },
)
UPDATE_CLASS = bodies.wrapped(
    'quota_class_set', {**dict.fromkeys(BUILTIN, project_limits.SCHEMA), 'class_name': bodies.NAME}
)


def _limits(conn: sa.Connection, project_id: str) -> dict[str, int]:
    """Return {resource: limit} of a project; -1 for no limit."""
    return LIMITS.of(conn, tables.DEFAULTS, project_id)


def usage(conn: sa.Connection, project_id: str) -> dict[str, int]:
    """Return {resource: used amount} of a project: numbers, or sums in GiB."""
    used = dict.fromkeys(BUILTIN, 0)
    for name, table, counted, size_name in COUNTED:
        count, size = conn.execute(
            sa.select(sa.func.count(), sa.func.coalesce(sa.func.sum(table.c.size), 0)).where(
                table.c.project_id == project_id, counted
            )
        ).one()
        used[name] = count
        used[size_name] += int(size)
    return used


def require(conn: sa.Connection, project_id: str, **wanted: int) -> None:
    """Raise TooLarge if the project may not use `wanted` more. wanted: amount by resource"""
    found = _limits(conn, project_id)
    limited = {name: limit for name, limit in found.items() if limit != project_limits.UNLIMITED}
    if not limited.keys() & wanted.keys():
        return
    used = usage(conn, project_id)
    for name, amount in wanted.items():
        if name in limited and used[name] + amount > limited[name]:
            raise faults.TooLarge(
                f'{EXCEEDED[name]} exceeds allowed quota: requested {amount}, quota is '
                f'{limited[name]} and {used[name]} has been consumed.'
            )


class QuotaResource:
    """Answers requests below /v3/os-quota-sets and /v3/os-quota-class-sets."""

    def __init__(self, db: database.Database) -> None:
        self._db = db

    @staticmethod
    def _require_own(req: web.Request, project_id: str) -> None:
        if project_id != req.context.caller.project_id:
            req.context.caller.require_admin('the quotas of another project')

    def on_get(self, req: web.Request, resp: falcon.Response, project_id: str) -> None:
        self._require_own(req, project_id)
        with self._db.read() as conn:
            shown: bodies.Json = dict(_limits(conn, project_id))
            if paging.flag_of(req, 'usage'):
                used = usage(conn, project_id)
                shown = {
                    name: {'limit': limit, 'in_use': used[name], 'reserved': 0, 'allocated': 0}
                    for name, limit in shown.items()
                }
        resp.media = {'quota_set': {'id': project_id, **shown}}

    def on_get_defaults(self, req: web.Request, resp: falcon.Response, project_id: str) -> None:
        with self._db.read() as conn:
            resp.media = {'quota_set': {'id': project_id, **LIMITS.of(conn, tables.DEFAULTS)}}

    def on_put(self, req: web.Request, resp: falcon.Response, project_id: str) -> None:
        req.context.caller.require_admin('changing quotas')
        self._db.change(LIMITS.change, project_id, bodies.read(req, UPDATE, 'quota_set'))
        with self._db.read() as conn:
            resp.media = {'quota_set': _limits(conn, project_id)}

    def on_delete(self, req: web.Request, resp: falcon.Response, project_id: str) -> None:
        req.context.caller.require_admin('resetting quotas')
        self._db.change(LIMITS.reset, project_id)

    def on_get_class(self, req: web.Request, resp: falcon.Response, name: str) -> None:
        req.context.caller.require_admin('showing default quotas')
        with self._db.read() as conn:
            resp.media = {'quota_class_set': {'id': name, **LIMITS.of(conn, tables.DEFAULTS)}}

    def on_put_class(self, req: web.Request, resp: falcon.Response, name: str) -> None:
        req.context.caller.require_admin('changing default quotas')
        self._db.change(
            LIMITS.change, tables.DEFAULTS, bodies.read(req, UPDATE_CLASS, 'quota_class_set')
        )
        with self._db.read() as conn:
            resp.media = {'quota_class_set': LIMITS.of(conn, tables.DEFAULTS)}


class LimitsResource:
    """Answers GET /v3/limits: the limits and the use of the caller's project."""

    NAMES = {
        'volumes': ('maxTotalVolumes', 'totalVolumesUsed'),
        'snapshots': ('maxTotalSnapshots', 'totalSnapshotsUsed'),
        'gigabytes': ('maxTotalVolumeGigabytes', 'totalGigabytesUsed'),
        'backups': ('maxTotalBackups', 'totalBackupsUsed'),
        'backup_gigabytes': ('maxTotalBackupGigabytes', 'totalBackupGigabytesUsed'),
    }

    def __init__(self, db: database.Database) -> None:
        self._db = db

    def on_get(self, req: web.Request, resp: falcon.Response) -> None:
        project_id = req.get_param('project_id') or req.context.caller.project_id or ''
        if project_id != (req.context.caller.project_id or ''):
            req.context.caller.require_admin('the limits of another project')
        with self._db.read() as conn:
            limit, used = _limits(conn, project_id), usage(conn, project_id)
        absolute: dict[str, int] = {}
        for name, (most, now) in self.NAMES.items():
            absolute |= {most: limit[name], now: used[name]}
        resp.media = {'limits': {'rate': [], 'absolute': absolute}}
