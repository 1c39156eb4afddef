"""DELETE /servers/{server_id}.

The place of a server decides which process deletes it: its host, or the API if no host can (a build
request, a record in cell0, a server on no host or on a host that is down).
Source: reference/nova/create-server 7.
"""

import dataclasses
import typing

from oslo_log import log
import sqlalchemy as sa

from nova_lite import exception
from nova_lite import runtime
from nova_lite import states
from nova_lite.api import operation
from nova_lite.api import quota
from nova_lite.api import quota_rules
from nova_lite.api import request
from nova_lite.api import server_access
from nova_lite.api.policies import server_actions
from nova_lite.api.policies import servers as rules
from nova_lite.api.servers import acting
from nova_lite.api.servers import confirm_revert
from nova_lite.api.servers import left_guest
from nova_lite.clients import release
from nova_lite.db import rows
from nova_lite.db.api import build_requests
from nova_lite.db.api import instance_mappings
from nova_lite.db.api import quota_locks
from nova_lite.db.api import request_specs
from nova_lite.db.api import sagas
from nova_lite.db.api import server_groups
from nova_lite.db.cell import actions
from nova_lite.db.cell import deletions
from nova_lite.db.cell import instances
from nova_lite.db.cell import services
from nova_lite.lifecycle import counting
from nova_lite.lifecycle import disposal
from nova_lite.moves.parts import shelving
from nova_lite.states import transitions

LOG = log.getLogger(__name__)
# States in which a server has a guest on its host, which is kept.
KEPT = tuple(
    state
    for state in states.VmState
    if state
    not in (
        states.VmState.BUILDING,
        states.VmState.RESIZED,
        states.VmState.SHELVED_OFFLOADED,
        states.VmState.DELETED,
    )
)
# A server that is being deleted for good is not kept by a further request. One that is leaving its
# host is deleted like one that has left it: its guest may be destroyed already.
_FINAL = (states.TaskState.DELETING, states.TaskState.SHELVING_OFFLOADING)
SOFT_DELETE = dataclasses.replace(
    transitions.SOFT_DELETE,
    vm_states=KEPT,
    task_states=(None, *(task for task in states.TaskState if task not in _FINAL)),
)
# A confirmation of its resize records it as ACTIVE or SHUTOFF soon, unless it is kept before that.
SOFT_DELETE_CONFIRMED = dataclasses.replace(SOFT_DELETE, vm_states=(*KEPT, states.VmState.RESIZED))
# Its host is down, and will stop the guest when it returns.
SOFT_DELETED = dataclasses.replace(
    SOFT_DELETE_CONFIRMED, task_states=(states.TaskState.SOFT_DELETING,), during=None
)
# A server that a resize has brought here since it was read is confirmed first.
NOT_RESIZED = dataclasses.replace(
    transitions.DELETE,
    vm_states=tuple(state for state in states.VmState if state != states.VmState.RESIZED),
)
TRIES = 3
EVENT = 'compute_soft_delete_instance'


@operation.operation(
    'DELETE',
    '/servers/{server_id}',
    policy=rules.DELETE,
    guard=transitions.DELETE,
    success=204,
    faults=(400, 403, 404, 409),
)
def delete(req: request.Request, server: server_access.Server) -> None:
    """Delete a server in any state."""
    for _attempt in range(TRIES):
        if server.is_in_cell:
            delete_from_cell(req, server)
            return
        if _delete_request(req, server):
            return
        # The server has been mapped to a cell since it was loaded.
        server = server_access.load(req, server.uuid)
    raise exception.InstanceNotReady(instance_id=server.uuid)


@operation.server_action(
    'forceDelete',
    policy=server_actions.FORCE_DELETE,
    guard=transitions.FORCE_DELETE,
    success=202,
    faults=(400, 403, 404, 409),
)
def force_delete(req: request.Request, server: server_access.Server) -> None:
    """Delete a server at once, without a soft deletion, even if it is soft-deleted."""
    acting.require_cell(server)
    delete_from_cell(req, server, keep_s=0)


@operation.server_action(
    'restore',
    policy=server_actions.RESTORE,
    guard=transitions.RESTORE,
    success=202,
    faults=(400, 403, 404, 409),
)
def restore(req: request.Request, server: server_access.Server) -> None:
    """Restore a soft-deleted server, if the quota of its owner allows it."""
    left_guest.remove(req, server)
    # An offload that met a reset of the state may have destroyed the guest.
    is_held = bool(req.app.api_db.read(sagas.every, active=True, instance_uuid=server.uuid))
    # The quota counts the server first: if this process is killed, the deletion continues.
    quota_locks.write(req.app.api_db, _count_again, quota.rules(req, server.row.project_id), server)
    try:
        instance = acting.begin(req, server, 'restore', transitions.RESTORE, deleted_at=None)
    except (exception.Conflict, exception.NotFound):
        if _is_going(server):
            counting.follow(req.app.api_db, server.uuid, counts=False)
        raise
    if server.row.task_state == states.TaskState.SOFT_DELETING:
        server.cell.db.write(_end_soft_deletion, server.uuid)
    if not is_held:
        _drop_shelf(req, server)
    acting.send(req, server, 'restore_instance', instance=instance)


def _end_soft_deletion(connection: sa.Connection, uuid: str) -> None:
    """End the event of the soft deletion, which its host has not ended because it went down."""
    actions.end_interrupted(connection, uuid, error='Interrupted by restore.', events=[EVENT])


def _drop_shelf(req: request.Request, server: server_access.Server) -> None:
    """Delete the image in which a restored server was shelved: its guest is on its host."""
    metadata = server.row.system_metadata or {}
    if release.SHELVED_IMAGE not in metadata:
        return
    images = release.Images(shelved=metadata[release.SHELVED_IMAGE])
    try:
        release.drop_images(req.app.image, req.ctxt, server.uuid, images)
    except exception.Unavailable as error:
        LOG.warning(
            'Cannot delete the image in which server %s was shelved: %s. It is deleted with the '
            'server.',
            server.uuid,
            error,
        )
        return
    server.cell.db.write(_unshelve, server.uuid)


def _unshelve(connection: sa.Connection, uuid: str) -> None:
    row = instances.lock(connection, uuid)
    instances.update(
        connection, uuid, {'system_metadata': shelving.without_shelf(row.system_metadata)}
    )


def _is_going(server: server_access.Server) -> bool:
    """Return whether the server is deleted or being deleted."""
    row = server.cell.db.read(instances.find, server.uuid)
    return (
        row is None
        or row.deleted
        or row.deleted_at is not None
        or row.task_state in (states.TaskState.DELETING, states.TaskState.SOFT_DELETING)
    )


def delete_from_cell(
    req: request.Request, server: server_access.Server, *, keep_s: float | None = None
) -> None:
    """Request the deletion from the host, or delete the server here if no host can.

    keep_s: seconds for which the server can be restored; default: as configured
    """
    if keep_s is None:
        keep_s = req.conf.reclaim_instance_interval
    for attempt in range(TRIES):
        try:
            _delete_or_keep(req, server, keep_s)
            return
        except exception.InstanceInvalidState:
            if attempt == TRIES - 1:
                raise
            # A resize of the server has ended since the server was read.
            server.follow(server_access.load(req, server.uuid))


def _delete_or_keep(req: request.Request, server: server_access.Server, keep_s: float) -> None:
    resized_before = server.row.vm_state == states.VmState.RESIZED
    answers = bool(keep_s or resized_before) and _host_answers(req, server)
    if keep_s and _confirm_first(req, server, guard=transitions.SOFT_DELETE_RESIZED, keep=True):
        _cease_to_count(req, server)
        return
    if keep_s and _is_kept(server) and _soft_delete(req, server, answers=answers):
        return
    if _confirm_first(req, server, guard=transitions.DELETE_RESIZED, delete=answers) and answers:
        counting.follow(req.app.api_db, server.uuid, counts=False)
        return
    guard = transitions.DELETE if server.row.vm_state == states.VmState.RESIZED else NOT_RESIZED
    accepted = acting.persist(
        req,
        server,
        guard,
        lambda: req.app.deletions.accept(
            server.cell, deletions.Request(req.ctxt, server.row, guard)
        ),
    )
    if not accepted.answers:
        _delete_here(req, server)


def _cease_to_count(req: request.Request, server: server_access.Server) -> bool:
    """Stop counting a soft-deleted server that is deleted. Return False if it was restored."""
    counting.follow(req.app.api_db, server.uuid, counts=False)
    if _is_going(server):
        return True
    counting.follow(req.app.api_db, server.uuid, counts=True)
    return False


def _confirm_first(
    req: request.Request, server: server_access.Server, **options: typing.Any
) -> bool:
    """Confirm a resize, and continue with the deletion if requested. options: of the deletion

    A saga that already confirms or reverts the resize detects the deletion itself. Other sagas of
    the server do not: without a confirmation the source would keep its part of the server.
    """
    if server.row.vm_state != states.VmState.RESIZED:
        return False
    try:
        return confirm_revert.confirm_for_deletion(req, server, **options)
    except exception.Conflict as error:
        if not confirm_revert.is_ending(req, server):
            server.follow(server_access.load(req, server.uuid))
            if server.row.vm_state == states.VmState.RESIZED:
                raise
            # Another request confirmed or reverted the resize.
            return False
        LOG.info('Deleting server %s without ending its resize first: %s', server.uuid, error)
        return False


def _delete_request(req: request.Request, server: server_access.Server) -> bool:
    """Withdraw a build request. Return False if the server has a record now."""
    withdrawn = req.app.api_db.write(_withdraw, server.uuid, req.conf.conductor.build_lease_s)
    if withdrawn is None:
        return False
    LOG.info('Server %s was deleted before it was built', server.uuid)
    try:
        disposal.withdraw(req.app, req.ctxt, withdrawn)
    except exception.NovaLiteError as error:
        LOG.warning(
            'Cannot release all resources of server %s: %s. The sweep will release them.',
            server.uuid,
            error,
        )
    return True


def _withdraw(connection: sa.Connection, uuid: str, lease_s: float) -> rows.Row | None:
    withdrawn = build_requests.withdraw(connection, uuid, lease_s)
    if withdrawn is not None:
        instance_mappings.destroy(connection, uuid)
        request_specs.destroy(connection, uuid)
        server_groups.leave(connection, [uuid])
    return withdrawn


def _host_answers(req: request.Request, server: server_access.Server) -> bool:
    """Return whether the server is on a host that is up, or that its cell cannot hear.

    An unheard host may be running the guest: it deletes the server when it receives the message.
    """
    host = server.row.host
    if not host or server.cell.is_cell0:
        return False
    return not server.cell.db.read(services.is_lost, host, req.conf.service_down_time)


def _delete_here(req: request.Request, server: server_access.Server) -> None:
    """Delete a server without its host. An audit repeats requests that a neighbour refuses."""
    row = server.cell.db.read(instances.find, server.uuid)
    if row is None or row.deleted:
        # The saga that moved the server between cells has seen the deletion, and finished it.
        return
    try:
        disposal.finish(req.app, req.ctxt, server.cell, row)
    except exception.NovaLiteError as error:
        if error.transient:
            raise
        LOG.warning('Server %s is not deleted yet; retrying at an audit: %s', server.uuid, error)
        return
    LOG.info('Server %s was deleted without its host', server.uuid)


def _is_kept(server: server_access.Server) -> bool:
    """Return whether a server could be restored: not if it never ran, or is on no host."""
    row = server.row
    if row.launched_at is None or row.host is None or server.cell.is_cell0:
        return False
    return row.vm_state in KEPT or _is_confirmed(server)


def _is_confirmed(server: server_access.Server) -> bool:
    resized = server.row.vm_state == states.VmState.RESIZED
    return resized and confirm_revert.is_confirmed(server)


def _soft_delete(req: request.Request, server: server_access.Server, *, answers: bool) -> bool:
    """Request the soft deletion from the host. Return False if the server has left it.

    answers: whether the host ends the deletion; otherwise the server is soft-deleted at once
    """
    guard = SOFT_DELETE_CONFIRMED if _is_confirmed(server) else SOFT_DELETE
    try:
        instance = acting.begin(req, server, 'delete', guard, deleted_at=runtime.naive_now())
    except exception.InstanceInvalidState:
        return False
    if not _cease_to_count(req, server):
        return True
    if answers:
        acting.send(req, server, 'soft_delete_instance', instance=instance)
        return True
    try:
        acting.swap(req, server, SOFT_DELETED, {'vm_state': str(states.VmState.SOFT_DELETED)})
    except exception.InstanceInvalidState as error:
        LOG.info('Server %s was changed by its host or another request: %s', server.uuid, error)
    return True


def _count_again(
    connection: sa.Connection, by: quota_rules.Rules, server: server_access.Server
) -> None:
    """Count the server in quotas again. Raise OverQuota."""
    row = server.row
    quota_locks.hold(connection, row.project_id)
    quota.admit(
        connection,
        by,
        by.scopes(connection, row.project_id, row.user_id),
        row.project_id,
        wanted=1,
        least=1,
        size=by.size_of(row.flavor, row.image_properties or {}),
    )
    instance_mappings.set_queued_for_delete(connection, [server.uuid], False)
