"""The actions createImage and createBackup: an image of a server.

The API creates a queued image, and the host uploads the disk to it. For a server that boots from a
volume, no disk is uploaded: a saga takes snapshots of the volumes and creates an image that names
the snapshots.
"""

import typing

from oslo_log import log
from oslo_utils import strutils
import sqlalchemy as sa

from nova_lite import exception
from nova_lite import runtime
from nova_lite import states
from nova_lite.api import links
from nova_lite.api import operation
from nova_lite.api import quota
from nova_lite.api import request
from nova_lite.api import schema_parts
from nova_lite.api import server_access
from nova_lite.api.policies import server_actions
from nova_lite.api.policies import servers as rules
from nova_lite.api.servers import acting
from nova_lite.api.servers import devices
from nova_lite.clients import backups
from nova_lite.clients import session
from nova_lite.db import rows
from nova_lite.db.cell import action_lists
from nova_lite.db.cell import actions
from nova_lite.db.cell import instances
from nova_lite.states import transitions

LOG = log.getLogger(__name__)

EVENT = 'api_snapshot_instance'
# The microversion from which no quota limits the metadata of images.
UNCOUNTED_SINCE = 39
# The microversion from which the answer has the id of the image, and no header with its address.
ID_SINCE = 45
# Of an action from its beginning to the end of the host's work.
TASKS = frozenset((*transitions.SNAPSHOT.tasks, *transitions.BACKUP.tasks))
# A property of images whose guests write nothing while a snapshot is taken.
QUIESCE = 'os_require_quiesce'
# Errors of requests whose server has changed since their image was created.
OVERTAKEN = exception.StateChanged, exception.InstanceNotFound
BODY = schema_parts.whole(
    {'name': schema_parts.NAME, 'metadata': schema_parts.METADATA}, required=['name']
)
BACKUP_BODY = schema_parts.whole(
    {
        'name': schema_parts.STRIPPED_NAME,
        'backup_type': {'type': 'string'},
        'rotation': schema_parts.UNBOUNDED,
        'metadata': schema_parts.METADATA,
    },
    required=['name', 'backup_type', 'rotation'],
)


@operation.server_action(
    'createImage',
    policy=rules.CREATE_IMAGE,
    guard=transitions.SNAPSHOT,
    lock=False,
    body={'2.1': BODY},
    success=202,
    faults=(400, 403, 404, 409),
)
def create_image(req: request.Request, server: server_access.Server) -> operation.Result:
    """Create an image of the server. A header below 2.45 or the body names the image."""
    _check_metadata(req)
    has_root_volume = acting.boots_from_volume(acting.devices(server))
    if has_root_volume:
        req.authorize(rules.CREATE_IMAGE_BFV, server.target)
    _check_quiesce(server)
    if has_root_volume:
        image = _of_volumes(req, server)
    else:
        image = _of_disk(req, server, transitions.SNAPSHOT, 'createImage')
    return _answer(req, image)


@operation.server_action(
    'createBackup',
    policy=server_actions.CREATE_BACKUP,
    guard=transitions.BACKUP,
    lock=False,
    body={'2.1': BACKUP_BODY},
    success=202,
    faults=(400, 403, 404, 409),
)
def create_backup(req: request.Request, server: server_access.Server) -> operation.Result:
    """Create a backup. The host then deletes the oldest backups of its kind beyond `rotation`.

    As in nova, a rotation of 0 also deletes the new image. The answer then has no URL of the image,
    but from 2.45 its id.
    """
    _check_metadata(req)
    if acting.boots_from_volume(acting.devices(server)):
        raise exception.Invalid('Backup is not supported for volume-backed instances.')
    _check_quiesce(server)
    kept, kind = int(req.content['rotation']), req.content['backup_type']
    options = {'backup_type': kind, 'rotation': kept}
    image = _of_disk(req, server, transitions.BACKUP, 'createBackup', **options)
    if req.minor >= ID_SINCE:
        return {'image_id': image['id']}
    # Unlike that of createImage, an address in the compute API.
    (address, _bookmark) = links.resource(req, 'images', image['id'])
    return operation.Answer(headers={'Location': address['href']}) if kept else None


def _check_metadata(req: request.Request) -> None:
    """Raise OverQuota before 2.39. Since then the metadata of images do not count."""
    if req.minor >= UNCOUNTED_SINCE:
        return
    metadata = req.content.get('metadata') or {}
    quota.rules(req).require(quota.own_limits(req), 'metadata_items', len(metadata))


def _check_quiesce(server: server_access.Server) -> None:
    """Raise Invalid if the disks of a running guest must be frozen, and its agent is missing."""
    is_required = strutils.bool_from_string((server.row.image_properties or {}).get(QUIESCE))
    is_active = server.row.vm_state == states.VmState.ACTIVE
    if is_required and is_active and not acting.has_agent(server):
        raise exception.Invalid('QEMU guest agent is not enabled')


def _of_disk(
    req: request.Request,
    server: server_access.Server,
    guard: transitions.Transition,
    action: str,
    **options: typing.Any,
) -> session.Json:
    """Begin the action, create the image, and cast its upload to the host.

    While the image service is slow to create the image, the host may take up the action, or an
    administrator may reset the state of the server.
    options: of backups.Order
    """
    former = backups.image_ids(server.row.system_metadata)
    order = backups.Order(runtime.new_uuid(), req.ctxt.request_id, former=former, **options)
    instance = acting.begin(req, server, action, guard, system_metadata=order.note())
    try:
        image = _queue(req, server, order)
        server.cell.db.read(_require_begun, server.uuid, req.ctxt.request_id)
    except exception.NovaLiteError as error:
        _drop(req, order.image_id, error)
        server.cell.db.write(_give_up, req, server.uuid, error.message)
        raise
    acting.send(req, server, 'snapshot_instance', instance=instance, image_id=image['id'])
    return image


def _drop(req: request.Request, image_id: str, reason: exception.NovaLiteError) -> None:
    """Delete an image that may exist although the request fails."""
    if not (reason.transient or isinstance(reason, OVERTAKEN)):
        return
    try:
        req.app.image.delete(req.ctxt, image_id, missing_ok=True)
    except exception.NovaLiteError as error:
        LOG.warning('Image %s may exist without contents. Delete it: %s', image_id, error)


def _queue(
    req: request.Request, server: server_access.Server, order: backups.Order
) -> session.Json:
    properties = dict(req.content.get('metadata') or {})
    if order.backup_type is not None:
        properties['backup_type'] = order.backup_type
    return req.app.image.create_snapshot(
        req.ctxt,
        req.content['name'].strip(),
        server.row,
        base=_base(req, server),
        properties=properties,
        kind='snapshot' if order.backup_type is None else 'backup',
        image_id=order.image_id,
    )


def _base(req: request.Request, server: server_access.Server) -> session.Json | None:
    """Return the image the server was made from, if it still exists."""
    if not server.row.image_ref:
        return None
    try:
        return req.app.image.get(req.ctxt, server.row.image_ref)
    except (exception.ImageNotFound, exception.Forbidden):
        return None


def _is_going_on(connection: sa.Connection, row: rows.Row, request_id: str) -> bool:
    """Return whether the action of a request has the server's task.

    The task may be that of a later request: an administrator's reset of the server's state leaves
    the actions of others open.
    """
    is_over = actions.get(connection, row.uuid, request_id).finish_time is not None
    is_newest = action_lists.is_newest_copy(connection, row.uuid, request_id)
    return row.task_state in TASKS and is_newest and not is_over


def _require_begun(connection: sa.Connection, uuid: str, request_id: str) -> None:
    """Raise StateChanged if nothing fills the new image of the action.

    The action may have ended. Or its host, which takes up an action that is idle for long, has
    begun the upload: the host may have found no image, and is about to end the action.
    """
    row = instances.get(connection, uuid)
    is_going_on = _is_going_on(connection, row, request_id)
    if not is_going_on or row.task_state == states.TaskState.IMAGE_UPLOADING:
        state = f'task_state is {row.task_state}'
        raise exception.StateChanged(what='Instance', key=uuid, detail=state)


def _give_up(connection: sa.Connection, req: request.Request, uuid: str, message: str) -> None:
    """End the action, and the server's task unless another action has that by now."""
    row = instances.find(connection, uuid)
    if row is None or row.deleted:
        return
    if _is_going_on(connection, row, req.ctxt.request_id):
        instances.update(connection, uuid, {'task_state': None}, expect_task=(row.task_state,))
    _end(connection, req, uuid, error=message)


def _of_volumes(req: request.Request, server: server_access.Server) -> session.Json:
    """Wait until a saga has created an image of the volumes. Return the image.

    As in nova, the image exists before the answer.
    """
    arguments = {
        'name': req.content['name'].strip(),
        'metadata': req.content.get('metadata') or {},
    }
    guard = transitions.SNAPSHOT_VOLUMES
    uuid = devices.begin(req, server, kind='volume-image', guard=guard, arguments=arguments)
    devices.wait(req, uuid)
    return {'id': uuid}


def _end(
    connection: sa.Connection, req: request.Request, uuid: str, error: str | None = None
) -> None:
    actions.record_event(
        connection, uuid, req.ctxt.request_id, EVENT, host=req.conf.host, error=error
    )


def _answer(req: request.Request, image: session.Json) -> operation.Result:
    if req.minor >= ID_SINCE:
        return {'image_id': image['id']}
    return operation.Answer(headers={'Location': req.app.image.url_of(image['id'])})
