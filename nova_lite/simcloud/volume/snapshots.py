"""/v3/snapshots."""

import falcon
import sqlalchemy as sa

from nova_lite import runtime
from nova_lite.simcloud import bodies
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import listing
from nova_lite.simcloud.volume import lists
from nova_lite.simcloud.volume import metadata
from nova_lite.simcloud.volume import quotas
from nova_lite.simcloud.volume import records
from nova_lite.simcloud.volume import tables
from nova_lite.simcloud.volume import views

SNAPSHOTS = tables.snapshots
_NAMES = {'name': bodies.nullable(bodies.STRING), 'description': bodies.nullable(bodies.STRING)}
CREATE = bodies.wrapped(
    'snapshot',
    {
        **_NAMES,
        'volume_id': bodies.ID,
        'metadata': bodies.nullable(metadata.METADATA),
        'force': {'type': ['boolean', 'string', 'integer'], 'maxLength': 8},
    },
    ['volume_id'],
)
UPDATE = bodies.wrapped('snapshot', _NAMES)
FILTERS = {name: name for name in ('name', 'status', 'volume_id')}


def get(conn, caller, snapshot_id):
    """One row that the caller's project owns; NotFound otherwise."""
    row = database.one(conn, sa.select(SNAPSHOTS).where(SNAPSHOTS.c.id == snapshot_id))
    if row is None or not caller.sees(row['project_id']):
        raise faults.NotFound(f'Snapshot {snapshot_id[:64]} could not be found.')
    return row


def create(conn, caller, wanted, *, in_use):
    """Insert a snapshot and return it as it was when it began."""
    caller.require_writer()
    volume = records.get(conn, caller, wanted['volume_id'])
    records.require_status(volume, 'available', *(('in-use',) if in_use else ()))
    quotas.require(conn, volume['project_id'], snapshots=1, gigabytes=volume['size'])
    now = runtime.naive_now()
    row = {
        'id': runtime.new_uuid(),
        'project_id': volume['project_id'],
        'user_id': caller.user_id,
        'volume_id': volume['id'],
        'name': wanted.get('name') or '',
        'description': wanted.get('description'),
        'size': volume['size'],
        'status': 'creating',
        'metadata': wanted.get('metadata') or {},
        'created_at': now,
        'updated_at': now,
    }
    conn.execute(SNAPSHOTS.insert().values(**row))
    conn.execute(SNAPSHOTS.update().where(SNAPSHOTS.c.id == row['id']).values(status='available'))
    return row


def update(conn, caller, snapshot_id, wanted):
    """Rename or describe a snapshot and return its row."""
    caller.require_writer()
    row = get(conn, caller, snapshot_id)
    values = {'updated_at': runtime.naive_now(), **wanted}
    if 'name' in values:
        values['name'] = values['name'] or ''
    conn.execute(SNAPSHOTS.update().where(SNAPSHOTS.c.id == snapshot_id).values(**values))
    return {**row, **values}


def delete(conn, caller, snapshot_id):
    """Remove a snapshot."""
    caller.require_writer()
    get(conn, caller, snapshot_id)
    conn.execute(SNAPSHOTS.delete().where(SNAPSHOTS.c.id == snapshot_id))


class SnapshotResource:
    """List, create, show, update and delete."""

    def __init__(self, db):
        self._db = db

    def on_get(self, req, resp):
        with self._db.read() as conn:
            found, more = lists.page_of(
                conn,
                req,
                SNAPSHOTS,
                lists.filtered(lists.owned(req, SNAPSHOTS), req, SNAPSHOTS, FILTERS),
            )
        resp.media = lists.answer(
            req, 'snapshots', [views.snapshot(req, row) for row in found], more
        )

    def on_get_detail(self, req, resp):
        self.on_get(req, resp)

    def on_post(self, req, resp):
        wanted = bodies.read(req, CREATE, 'snapshot')
        force = listing.boolean(str(wanted.get('force', False)), 'force')
        in_use = force or req.context.minor >= 66
        row = self._db.change(create, req.context.caller, wanted, in_use=in_use)
        resp.status = falcon.HTTP_202
        resp.media = {'snapshot': views.snapshot(req, row)}

    def on_get_one(self, req, resp, snapshot_id):
        with self._db.read() as conn:
            row = get(conn, req.context.caller, snapshot_id)
        resp.media = {'snapshot': views.snapshot(req, row)}

    def on_put_one(self, req, resp, snapshot_id):
        wanted = bodies.read(req, UPDATE, 'snapshot')
        row = self._db.change(update, req.context.caller, snapshot_id, wanted)
        resp.media = {'snapshot': views.snapshot(req, row)}

    def on_delete_one(self, req, resp, snapshot_id):
        self._db.change(delete, req.context.caller, snapshot_id)
        resp.status = falcon.HTTP_202
