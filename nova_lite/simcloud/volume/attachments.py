"""/v3/attachments: the attachment flow of microversion 3.27, completed in 3.44.

The flow is: reserve (no connector), connect (PUT a connector), complete, delete. A volume may have
several attachments for one server, as moves need. To have attachments for several servers, it must
be multiattach. The rules are those of Cinder 29; tests/peers compares both.
"""

import falcon
import sqlalchemy as sa

from nova_lite import runtime
from nova_lite.simcloud import bodies
from nova_lite.simcloud import caller as callers
from nova_lite.simcloud import database
from nova_lite.simcloud import external_events
from nova_lite.simcloud import faults
from nova_lite.simcloud import microversions
from nova_lite.simcloud import storage
from nova_lite.simcloud import web
from nova_lite.simcloud.volume import encryptions
from nova_lite.simcloud.volume import qos_specs
from nova_lite.simcloud.volume import records
from nova_lite.simcloud.volume import releases
from nova_lite.simcloud.volume import tables
from nova_lite.simcloud.volume import views

ATTACHMENTS = tables.attachments
MODE = {'enum': ['rw', 'ro']}
CONNECTOR = bodies.record(
    {
        'host': bodies.NAME,
        'mode': bodies.nullable(MODE),
        'mountpoint': bodies.OPTIONAL_STRING,
    }
)
CREATE = bodies.wrapped(
    'attachment',
    {
        'volume_uuid': bodies.UUID,
        'instance_uuid': bodies.UUID,
        'connector': bodies.nullable(CONNECTOR),
        'mode': MODE,
    },
    ['volume_uuid'],
)
UPDATE = bodies.wrapped(
    'attachment', {'connector': {**CONNECTOR, 'minProperties': 1}}, ['connector']
)
ACTION = bodies.compiled(bodies.record({'os-complete': {}}, ['os-complete'], extra=False))
FILTERS = {
    'volume_id': 'volume_id',
    'instance_id': 'instance_uuid',
    'attach_status': 'attach_status',
    'status': 'attach_status',
}
# Statuses in which a volume can be reserved: in general, and for a server that already has it.
RESERVABLE, SHARED = ('available', 'downloading'), ('available', 'in-use', 'downloading')
OWN = ('in-use', 'reserved')
# Defaults of the mode and of the mountpoint of an attachment in views.
NO_MODE, NO_MOUNTPOINT = 'null', 'na'


def get(conn: sa.Connection, caller: callers.Caller, attachment_id: str) -> database.Row:
    """Return one row that the caller's project owns. Raise NotFound."""
    row = database.find(conn, ATTACHMENTS, id=attachment_id)
    if row is None or not caller.sees(row['project_id']):
        raise faults.NotFound(
            f'Volume attachment could not be found with filter: attachment_id '
            f'= {attachment_id[:64]}.'
        )
    return row


def _take(conn: sa.Connection, volume: database.Row, instance_uuid: str | None) -> None:
    """Mark a volume as reserved. A volume in use by the same server stays in use."""
    allowed = SHARED if volume['multiattach'] else RESERVABLE
    if volume['status'] in allowed:
        records.save(conn, volume, status='reserved')
        return
    others = records.attachments_of(conn, volume['id'])
    if (
        instance_uuid is None
        or volume['status'] not in OWN
        or all(one['instance_uuid'] != instance_uuid for one in others)
    ):
        raise records.invalid(
            f'Volume {volume["id"]} status must be {" or ".join(allowed)} to '
            f'reserve, but the current status is {volume["status"]}.'
        )


def create(conn: sa.Connection, caller: callers.Caller, wanted: bodies.Json) -> database.Row:
    """Insert an attachment, with a connection if a connector is given. Return its row.

    Unlike `update`, this can connect a volume to a second host, as a server that moves needs.
    """
    row = _reserve(conn, caller, wanted)
    if not wanted.get('connector'):
        return row
    return {**row, **_connect(conn, row, wanted['connector'], keep_mode=True)}


def _reserve(conn: sa.Connection, caller: callers.Caller, wanted: bodies.Json) -> database.Row:
    """Insert an attachment without a connection and return its row."""
    caller.require_writer()
    volume = records.get(conn, caller, wanted['volume_uuid'])
    if 'error' in volume['status']:
        raise records.invalid(
            f'Volume attachments can not be created if the volume is in an '
            f'error state: {volume["status"]}.'
        )
    instance_uuid = wanted.get('instance_uuid')
    _take(conn, volume, instance_uuid)
    return database.insert(
        conn,
        ATTACHMENTS,
        project_id=volume['project_id'],
        volume_id=volume['id'],
        instance_uuid=instance_uuid,
        attach_mode='ro' if volume['readonly'] else wanted.get('mode', NO_MODE),
    )


def connection_info(
    conn: sa.Connection, volume: database.Row, attachment_id: str | None, mode: str
) -> bodies.Json:
    """Return the connection info of a volume for a hypervisor. No storage is behind it."""
    type_id = volume['volume_type_id']
    return {
        'driver_volume_type': 'fake',
        'volume_id': volume['id'],
        'attachment_id': attachment_id,
        'access_mode': mode,
        'encrypted': encryptions.find(conn, type_id) is not None,
        'cacheable': False,
        'qos_specs': qos_specs.for_front_end(conn, type_id),
        'target_lun': 1,
        'target_discovered': False,
        'target_portal': '127.0.0.1:3260',
        'target_iqn': f'iqn.2010-10.org.openstack:volume-{volume["id"]}',
    }


def update(
    conn: sa.Connection, caller: callers.Caller, attachment_id: str, connector: dict[str, str]
) -> database.Row:
    """Export the volume to the host of `connector`. Return the row of the attachment.

    Raise Conflict if the volume is not multiattach and has several attachments, one of them
    connected.
    """
    caller.require_writer()
    row = get(conn, caller, attachment_id)
    volume = records.get(conn, caller, row['volume_id'])
    if 'error' in volume['status']:
        raise faults.Conflict(
            f'Resource conflict: Volume attachments can not be updated if the volume is in an '
            f'error state: {volume["status"]}.'
        )
    known = records.attachments_of(conn, volume['id'])
    connected = any(one['connection_info'] for one in known)
    if connected and len(known) > 1 and not volume['multiattach']:
        raise faults.Conflict(
            f'Resource conflict: duplicate connectors detected on volume {volume["id"]}'
        )
    return {**row, **_connect(conn, row, connector)}


def _connect(
    conn: sa.Connection, row: database.Row, connector: database.Row, *, keep_mode: bool = False
) -> bodies.Json:
    """Store the connection of the host of `connector` to the volume. Return what the answer adds.

    keep_mode: whether the row keeps its mode even if the connector names a mode
    As in Cinder, the answer shows the former row with the new connection.
    """
    mode = row['attach_mode']
    if mode == NO_MODE:
        mode = connector.get('mode') or 'rw'
    volume = database.get(conn, tables.volumes, id=row['volume_id'])
    info = connection_info(conn, volume, row['id'], mode)
    database.save(
        conn,
        ATTACHMENTS,
        row,
        attach_status='attaching',
        attached_host=connector.get('host'),
        attach_mode=row['attach_mode'] if keep_mode else mode,
        mountpoint=connector.get('mountpoint') or NO_MOUNTPOINT,
        attach_time=runtime.naive_now(),
        connector=connector,
        connection_info=info,
    )
    records.save(conn, volume, status='attaching')
    return {'connection_info': info}


def complete(conn: sa.Connection, caller: callers.Caller, attachment_id: str) -> None:
    """Complete an attachment. Its volume becomes in-use."""
    caller.require_writer()
    row = get(conn, caller, attachment_id)
    volume = records.get(conn, caller, row['volume_id'])
    database.save(conn, ATTACHMENTS, row, attach_status='attached')
    records.save(conn, volume, status='in-use')


def delete(conn: sa.Connection, caller: callers.Caller, attachment_id: str) -> list[database.Row]:
    """Delete an attachment. Return the other attachments of its volume."""
    caller.require_writer()
    row = get(conn, caller, attachment_id)
    volume = records.get(conn, caller, row['volume_id'])
    database.delete(conn, ATTACHMENTS, id=attachment_id)
    records.settle(conn, volume)
    return records.attachments_of(conn, volume['id'])


class AttachmentResource:
    """Requests to list, create, show, update, complete and delete attachments."""

    def __init__(self, db: database.Database, compute: external_events.Sender) -> None:
        self._db = db
        self._compute = compute

    def _listed(self, req: web.Request) -> list[database.Row]:
        """Return the rows of a page. As in Cinder, the answer has no link to the next page."""
        with self._db.read() as conn:
            return storage.listed(conn, req, ATTACHMENTS, FILTERS)

    def on_get(self, req: web.Request, resp: falcon.Response) -> None:
        resp.media = {'attachments': [views.attachment_brief(row) for row in self._listed(req)]}

    def on_get_detail(self, req: web.Request, resp: falcon.Response) -> None:
        resp.media = {'attachments': [views.attachment(row) for row in self._listed(req)]}

    def on_post(self, req: web.Request, resp: falcon.Response) -> None:
        wanted = bodies.read(req, CREATE, 'attachment')
        if 'mode' in wanted and req.context.minor < 54:
            raise faults.BadRequest('Invalid input for attachment: mode needs microversion 3.54.')
        row = self._db.change(create, req.context.caller, wanted)
        resp.media = {'attachment': views.attachment(row)}

    def on_get_one(self, req: web.Request, resp: falcon.Response, attachment_id: str) -> None:
        with self._db.read() as conn:
            row = get(conn, req.context.caller, attachment_id)
        resp.media = {'attachment': views.attachment(row)}

    def on_put_one(self, req: web.Request, resp: falcon.Response, attachment_id: str) -> None:
        wanted = bodies.read(req, UPDATE, 'attachment')
        row = self._db.change(update, req.context.caller, attachment_id, wanted['connector'])
        resp.media = {'attachment': views.attachment(row)}

    def on_delete_one(self, req: web.Request, resp: falcon.Response, attachment_id: str) -> None:
        with self._db.read() as conn:
            row = get(conn, req.context.caller, attachment_id)
        releases.check(req.context.caller, self._compute, [row])
        left = self._db.change(delete, req.context.caller, attachment_id)
        resp.media = {'attachments': [views.attachment_brief(row) for row in left]}

    def on_post_action(self, req: web.Request, resp: falcon.Response, attachment_id: str) -> None:
        microversions.require(req, 44)
        bodies.read(req, ACTION)
        self._db.change(complete, req.context.caller, attachment_id)
        resp.status = falcon.HTTP_204
