"""/v3/attachments: the attachment flow of microversion 3.27, completed in 3.44.

Reserve (no connector), connect (PUT a connector), complete, delete. A volume may
have several attachments for one server, which is what moves need; for several
servers it must be multiattach.
"""

import falcon
import sqlalchemy as sa

from nova_lite import runtime
from nova_lite.simcloud import bodies
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud.volume import lists
from nova_lite.simcloud.volume import microversion
from nova_lite.simcloud.volume import records
from nova_lite.simcloud.volume import releases
from nova_lite.simcloud.volume import tables
from nova_lite.simcloud.volume import views

ATTACHMENTS = tables.attachments
MODE = {'enum': ['rw', 'ro']}
CONNECTOR = {
    'type': 'object',
    'properties': {
        'host': bodies.NAME,
        'mode': bodies.nullable(MODE),
        'mountpoint': bodies.nullable(bodies.STRING),
    },
}
CREATE = bodies.wrapped(
    'attachment',
    {
        'volume_uuid': bodies.ID,
        'instance_uuid': bodies.nullable(bodies.ID),
        'connector': bodies.nullable(CONNECTOR),
        'mode': MODE,
    },
    ['volume_uuid'],
)
UPDATE = bodies.wrapped('attachment', {'connector': CONNECTOR}, ['connector'])
ACTION = bodies.compiled(
    {
        'type': 'object',
        'required': ['os-complete'],
        'additionalProperties': False,
        'properties': {'os-complete': {}},
    }
)
FILTERS = {
    'volume_id': 'volume_id',
    'instance_id': 'instance_uuid',
    'attach_status': 'attach_status',
    'status': 'attach_status',
}
SHAREABLE = ('available', 'in-use', 'reserved', 'attaching')


def get(conn, caller, attachment_id):
    """One row that the caller's project owns; NotFound otherwise."""
    row = database.one(conn, sa.select(ATTACHMENTS).where(ATTACHMENTS.c.id == attachment_id))
    if row is None or not caller.sees(row['project_id']):
        raise faults.NotFound(
            f'Volume attachment could not be found with filter: attachment_id '
            f'= {attachment_id[:64]}.'
        )
    return row


def _save(conn, row, **values):
    conn.execute(ATTACHMENTS.update().where(ATTACHMENTS.c.id == row['id']).values(**values))
    return {**row, **values}


def _require_free(volume, others, instance_uuid):
    """Refuse a server that may not share the volume with those who have it."""
    if instance_uuid and any(one['instance_uuid'] == instance_uuid for one in others):
        return
    allowed = SHAREABLE if volume['multiattach'] else ('available', 'downloading')
    if volume['status'] not in allowed:
        raise records.invalid(
            f'Volume {volume["id"]} status must be {" or ".join(allowed)} to '
            f'reserve, but the current status is {volume["status"]}.'
        )


def reserve(conn, caller, wanted):
    """Insert an attachment without a connection and return its row."""
    caller.require_writer()
    volume = records.get(conn, caller, wanted['volume_uuid'])
    if 'error' in volume['status']:
        raise records.invalid(
            f'Volume attachments can not be created if the volume is in an '
            f'error state: {volume["status"]}.'
        )
    instance_uuid = wanted.get('instance_uuid')
    _require_free(volume, records.attachments_of(conn, volume['id']), instance_uuid)
    row = {
        'id': runtime.new_uuid(),
        'project_id': volume['project_id'],
        'volume_id': volume['id'],
        'instance_uuid': instance_uuid,
        'attach_status': 'reserved',
        'attached_host': None,
        'mountpoint': None,
        'attach_mode': 'ro' if volume['readonly'] else wanted.get('mode', 'rw'),
        'connector': {},
        'connection_info': {},
        'attach_time': None,
        'created_at': runtime.naive_now(),
    }
    conn.execute(ATTACHMENTS.insert().values(**row))
    records.settle(conn, volume)
    if wanted.get('connector'):
        row = connect(conn, caller, row['id'], wanted['connector'])
    return row


def connection_info(row, mode):
    """What a hypervisor needs to reach the volume; there is no storage behind it."""
    return {
        'driver_volume_type': 'fake',
        'volume_id': row['volume_id'],
        'attachment_id': row['id'],
        'access_mode': mode,
        'encrypted': False,
        'cacheable': False,
        'qos_specs': None,
        'target_lun': 1,
        'target_discovered': False,
        'target_portal': '127.0.0.1:3260',
        'target_iqn': f'iqn.2010-10.org.openstack:volume-{row["volume_id"]}',
    }


def connect(conn, caller, attachment_id, connector):
    """Export the volume to the host of `connector` and return the row."""
    caller.require_writer()
    row = get(conn, caller, attachment_id)
    volume = records.get(conn, caller, row['volume_id'])
    if 'error' in volume['status']:
        raise records.invalid(
            f'Volume attachments can not be updated if the volume is in an '
            f'error state: {volume["status"]}.'
        )
    host = connector.get('host')
    same_host = [
        one
        for one in records.attachments_of(conn, volume['id'])
        if one['id'] != row['id'] and one['connection_info'] and one['attached_host'] == host
    ]
    if same_host and not volume['multiattach']:
        raise records.invalid(f'duplicate connectors detected on volume {volume["id"]}')
    mode = 'ro' if volume['readonly'] else connector.get('mode') or row['attach_mode']
    row = _save(
        conn,
        row,
        attach_status='attaching',
        attached_host=host,
        attach_mode=mode,
        mountpoint=connector.get('mountpoint') or row['mountpoint'],
        connector=connector,
        connection_info=connection_info(row, mode),
    )
    records.settle(conn, volume)
    return row


def complete(conn, caller, attachment_id):
    """The host has the volume: it is in use."""
    caller.require_writer()
    row = get(conn, caller, attachment_id)
    volume = records.get(conn, caller, row['volume_id'])
    _save(
        conn, row, attach_status='attached', attach_time=row['attach_time'] or runtime.naive_now()
    )
    records.settle(conn, volume)


def delete(conn, caller, attachment_id):
    """Remove an attachment; the volume's other attachments are returned."""
    caller.require_writer()
    row = get(conn, caller, attachment_id)
    volume = records.get(conn, caller, row['volume_id'])
    conn.execute(ATTACHMENTS.delete().where(ATTACHMENTS.c.id == attachment_id))
    records.settle(conn, volume)
    return records.attachments_of(conn, volume['id'])


class AttachmentResource:
    """List, create, show, update, complete and delete."""

    def __init__(self, db, compute):
        self._db = db
        self._compute = compute

    def _listed(self, req):
        """The rows of a page. As in Cinder, the answer has no link to the next one."""
        microversion.require(req, 27)
        with self._db.read() as conn:
            found, _more = lists.page_of(
                conn,
                req,
                ATTACHMENTS,
                lists.filtered(lists.owned(req, ATTACHMENTS), req, ATTACHMENTS, FILTERS),
            )
        return found

    def on_get(self, req, resp):
        resp.media = {'attachments': [views.attachment_brief(row) for row in self._listed(req)]}

    def on_get_detail(self, req, resp):
        resp.media = {'attachments': [views.attachment(row) for row in self._listed(req)]}

    def on_post(self, req, resp):
        microversion.require(req, 27)
        wanted = bodies.read(req, CREATE, 'attachment')
        if 'mode' in wanted and req.context.minor < 54:
            raise faults.BadRequest('Invalid input for attachment: mode needs microversion 3.54.')
        row = self._db.change(reserve, req.context.caller, wanted)
        resp.media = {'attachment': views.attachment(row)}

    def on_get_one(self, req, resp, attachment_id):
        microversion.require(req, 27)
        with self._db.read() as conn:
            row = get(conn, req.context.caller, attachment_id)
        resp.media = {'attachment': views.attachment(row)}

    def on_put_one(self, req, resp, attachment_id):
        microversion.require(req, 27)
        wanted = bodies.read(req, UPDATE, 'attachment')
        row = self._db.change(connect, req.context.caller, attachment_id, wanted['connector'])
        resp.media = {'attachment': views.attachment(row)}

    def on_delete_one(self, req, resp, attachment_id):
        microversion.require(req, 27)
        with self._db.read() as conn:
            row = get(conn, req.context.caller, attachment_id)
        releases.check(req.context.caller, self._compute, [row])
        left = self._db.change(delete, req.context.caller, attachment_id)
        resp.media = {'attachments': [views.attachment_brief(row) for row in left]}

    def on_post_action(self, req, resp, attachment_id):
        microversion.require(req, 44)
        bodies.read(req, ACTION)
        self._db.change(complete, req.context.caller, attachment_id)
        resp.status = falcon.HTTP_204
