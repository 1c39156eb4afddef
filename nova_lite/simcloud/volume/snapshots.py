"""/v3/snapshots and their actions."""

import falcon
import sqlalchemy as sa

from nova_lite.simcloud import bodies
from nova_lite.simcloud import caller as callers
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import paging
from nova_lite.simcloud import resources
from nova_lite.simcloud import web
from nova_lite.simcloud.volume import lists
from nova_lite.simcloud.volume import quotas
from nova_lite.simcloud.volume import records
from nova_lite.simcloud.volume import tables
from nova_lite.simcloud.volume import views
from nova_lite.simcloud.volume import volume_metadata

SNAPSHOTS = tables.snapshots
_NAMES = {'name': bodies.OPTIONAL_STRING, 'description': bodies.OPTIONAL_STRING}
CREATE = bodies.wrapped(
    'snapshot',
    {
        **_NAMES,
        'volume_id': bodies.ID,
        'metadata': bodies.nullable(volume_metadata.METADATA),
        'force': {'type': ['boolean', 'string', 'integer'], 'maxLength': 8},
    },
    ['volume_id'],
)
UPDATE = bodies.wrapped('snapshot', _NAMES)
FILTERS = ('name', 'status', 'volume_id')
_STATUS = {'type': 'string', 'minLength': 1, 'maxLength': 32}
RESET, REPORT = 'os-reset_status', 'os-update_snapshot_status'
_PROGRESS = {'type': 'string', 'pattern': r'^[0-9]{1,3}%\Z'}
ACTION = bodies.action(
    {
        RESET: bodies.record({'status': _STATUS}, ['status'], extra=False),
        REPORT: bodies.record({'status': _STATUS, 'progress': _PROGRESS}, ['status'], extra=False),
    }
)
# Statuses that hypervisors may report for a snapshot, by its current status.
REPORTED = {
    'creating': ('creating', 'available', 'error'),
    'deleting': ('deleting', 'error_deleting'),
}


def _listed(conn: sa.Connection, req: web.Request) -> list[database.Row]:
    return lists.listed(conn, req, SNAPSHOTS, FILTERS)


def _prepared(req: web.Request, wanted: bodies.Json) -> database.Row:
    """Return the values of a request. Raise BadRequest for a wrong value of `force`."""
    force = paging.boolean(str(wanted.get('force', False)), 'force')
    return {**wanted, 'force': force or req.context.minor >= 66}


def create(conn: sa.Connection, caller: callers.Caller, wanted: bodies.Json) -> database.Row:
    """Insert a snapshot. Return its row with the status `creating`."""
    volume = records.get(conn, caller, wanted['volume_id'])
    if records.is_migrating(volume):
        raise records.invalid('Snapshot cannot be created while volume is migrating.')
    records.require_status(volume, 'available', *(('in-use',) if wanted['force'] else ()))
    quotas.require(conn, volume['project_id'], snapshots=1, gigabytes=volume['size'])
    row = database.insert(conn, SNAPSHOTS, **records.taken_of(volume, caller, wanted))
    database.save(conn, SNAPSHOTS, row, status='available')
    return row


def update(
    conn: sa.Connection, caller: callers.Caller, snapshot_id: str, wanted: bodies.Json
) -> database.Row:
    """Rename or describe a snapshot and return its row."""
    row = records.get_snapshot(conn, caller, snapshot_id)
    values = {name: wanted[name] for name in _NAMES if name in wanted}
    if 'name' in values:
        values['name'] = values['name'] or ''
    return database.save(conn, SNAPSHOTS, row, **values)


def delete(conn: sa.Connection, caller: callers.Caller, snapshot_id: str) -> None:
    """Delete a snapshot."""
    records.get_snapshot(conn, caller, snapshot_id)
    database.delete(conn, SNAPSHOTS, id=snapshot_id)


def act(conn: sa.Connection, caller: callers.Caller, snapshot_id: str, action: bodies.Json) -> None:
    """Set the status of a snapshot on the request of an administrator or a hypervisor."""
    ((name, wanted),) = action.items()
    if name == RESET:
        caller.require_admin('resetting the status of a snapshot')
    else:
        caller.require_writer()
    row = records.get_snapshot(conn, caller, snapshot_id)
    if name == REPORT and wanted['status'] not in REPORTED.get(row['status'], ()):
        raise faults.BadRequest(
            f'Provided snapshot status {wanted["status"]} not allowed for snapshot with '
            f'status {row["status"]}.'
        )
    database.save(conn, SNAPSHOTS, row, status=wanted['status'])


class ActionResource:
    """Runs the action that the body names."""

    def __init__(self, db: database.Database) -> None:
        self._db = db

    def on_post(self, req: web.Request, resp: falcon.Response, snapshot_id: str) -> None:
        self._db.change(act, req.context.caller, snapshot_id, bodies.read(req, ACTION))
        resp.status = falcon.HTTP_202


_views = resources.each_as_asked(views.snapshot)
RESOURCE = resources.Resource(
    name='snapshot',
    style=lists.STYLE,
    listed=_listed,
    get=records.get_snapshot,
    views=_views,
    brief=_views,
    prepare=_prepared,
    create=(create, CREATE),
    update=(update, UPDATE),
    delete=delete,
)
