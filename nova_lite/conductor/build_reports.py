"""Transactions of a cell: start and end of builds on their hosts.

Source: reference/nova/create-server 5.
"""

from collections.abc import Iterable
import traceback

from oslo_config import cfg
from oslo_log import log
import sqlalchemy as sa

from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite import states
from nova_lite.db import rows
from nova_lite.db.cell import actions
from nova_lite.db.cell import building
from nova_lite.db.cell import children
from nova_lite.db.cell import compute_nodes
from nova_lite.db.cell import group_places
from nova_lite.db.cell import instances
from nova_lite.db.cell import network_info as network_infos
from nova_lite.db.cell import reset_builds
from nova_lite.objects import instance_group
from nova_lite.objects import selection as selections
from nova_lite.rpc.methods import conductor as methods
from nova_lite.states import transitions

LOG = log.getLogger(__name__)

EVENT = 'compute__do_build_and_run_instance'
# A search that found no other host has no recorded event, as in nova.
SEARCH_EVENT = 'conductor_schedule_and_build_instances'
DELETED: methods.Failure = {
    'error': 'The server was deleted during the operation.',
    'details': None,
}
BUILDING = (states.VmState.BUILDING,)
# States of servers that never run. A host may still have remains of their builds.
OVER = (states.VmState.ERROR, states.VmState.DELETED)


def start(
    connection: sa.Connection,
    ctxt: context.RequestContext,
    host: str,
    instance_uuid: str,
    node: str,
    group: instance_group.Group | None,
) -> str | bool:
    """Record that the host takes a build. Return FIRST, AGAIN, or False if it was deleted."""
    row = building.find(connection, instance_uuid)
    if row is None or instances.is_gone(row):
        return False
    if _was_reset(row, host):
        group_places.check(connection, instance_uuid, host, group)
        instances.update(connection, instance_uuid, {'node': node}, expect_host=(host,))
        return methods.AGAIN
    _require_building(row, host)
    if row.task_state == states.TaskState.SPAWNING and row.node == node:
        return methods.AGAIN
    group_places.check(connection, instance_uuid, host, group)
    instances.update(
        connection,
        instance_uuid,
        {'task_state': states.TaskState.SPAWNING, 'node': node},
        former=row,
        expect_task=transitions.BUILD.tasks,
        expect_vm=BUILDING,
        expect_host=(host,),
    )
    actions.start_event(connection, instance_uuid, ctxt.request_id, EVENT, host=host)
    return methods.FIRST


def finish(
    connection: sa.Connection,
    ctxt: context.RequestContext,
    host: str,
    instance_uuid: str,
    *,
    network_info: list[methods.Json],
    block_devices: Iterable[methods.Json],
    power_state: int,
) -> bool:
    """Record that the guest of a build runs. Return False if its server was deleted."""
    former = network_infos.lock_built(connection, instance_uuid)
    values = {
        'network_info': network_infos.of_build(former, network_info),
        'power_state': power_state,
        'vm_state': states.VmState.ACTIVE,
        'task_state': None,
        'launched_at': runtime.naive_now(),
        'launched_on': host,
        'build': None,
    }
    try:
        _end(connection, host, instance_uuid, values, former)
    except exception.StateChanged:
        row = instances.find(connection, instance_uuid)
        if row is None or instances.is_gone(row):
            _fail_event(connection, ctxt, host, instance_uuid, DELETED)
            return False
        if row.host == host and row.launched_on == host:
            return True
        if not _was_reset(row, host):
            raise
        kept = {name: each for name, each in values.items() if name not in instances.STATE}
        instances.update(connection, instance_uuid, kept, expect_host=(host,))
    for device in block_devices:
        children.update_block_device(connection, device['uuid'], device)
    actions.finish_event(connection, instance_uuid, ctxt.request_id, EVENT, host=host)
    compute_nodes.count_build(connection, host, failed=False)
    return True


def fail(
    connection: sa.Connection,
    ctxt: context.RequestContext,
    host: str,
    uuid: str,
    *,
    failure: methods.Failure,
    keep_host: bool,
    counts: bool,
) -> bool:
    """Record that a build has failed. Return False if the server is deleted or elsewhere.

    counts: whether the failed builds of the host are counted
    """
    values = {'vm_state': states.VmState.ERROR, 'task_state': None}
    if not keep_host:
        values.update(host=None, node=None, build=None)
    done = True
    try:
        _end(connection, host, uuid, values)
    except exception.StateChanged as changed:
        done = _fail_reset(connection, host, uuid, values)
        if not done:
            LOG.info('Cannot set server %s to ERROR: %s', uuid, changed)
    if done:
        instances.add_fault(
            connection,
            uuid,
            message=failure['error'],
            details=failure['details'],
            host=host,
        )
        if counts:
            compute_nodes.count_build(connection, host, failed=True)
    _fail_event(connection, ctxt, host, uuid, failure)
    return done


def _was_reset(row: rows.Row, host: str) -> bool:
    """Return whether an administrator has set the state of a server that this host builds."""
    return bool(row.host == host) and reset_builds.continues(row)


def _fail_reset(connection: sa.Connection, host: str, uuid: str, values: rows.Values) -> bool:
    """Set a server in `_was_reset` to ERROR. Return whether it was one."""
    row = _held_reset(connection, host, uuid)
    if row is not None:
        instances.force(connection, uuid, {'build': reset_builds.unmarked(row), **values})
    return row is not None


def _leave_reset(connection: sa.Connection, host: str, uuid: str) -> bool:
    """Take the build of a server in `_was_reset` off its host. Return whether it was one."""
    row = _held_reset(connection, host, uuid)
    if row is not None:
        values = {'host': None, 'node': None, 'updated_at': runtime.naive_now()}
        instances.force(connection, uuid, values)
    return row is not None


def _held_reset(connection: sa.Connection, host: str, uuid: str) -> rows.Row | None:
    """Return the row of a server in `_was_reset` that is not being deleted, locked, or None."""
    row = instances.held(connection, uuid)
    is_one = row is not None and not instances.is_gone(row) and _was_reset(row, host)
    return row if is_one else None


def is_over(connection: sa.Connection, host: str, uuid: str) -> bool:
    """Return whether the host must clean up a build that failed or lost its server."""
    row = _over(connection, uuid)
    return row is not None and _is_kept_by(host, row)


def _over(connection: sa.Connection, uuid: str) -> rows.Row | None:
    """Return the row of a server that never runs and has no task, or None."""
    row = rows.lock(connection, instances.TABLE, uuid=uuid)
    if row is None or row.vm_state not in OVER or row.task_state is not None:
        return None
    return None if reset_builds.continues(row) else row


def _is_kept_by(host: str, row: rows.Row) -> bool:
    return row.host == host and row.build is not None


def clear(connection: sa.Connection, host: str, uuid: str) -> bool:
    """Record that the host has cleaned up a build. Return False if its server is deleted."""
    row = _over(connection, uuid)
    if row is None:
        return False
    if _is_kept_by(host, row):
        values = {'build': None, 'updated_at': runtime.naive_now()}
        if row.deleted:
            children.destroy_block_devices(connection, uuid)
        else:
            values.update(host=None, node=None)
        rows.change(connection, instances.TABLE, values, uuid=uuid)
    return row.deleted or row.host in (host, None)


def counts(conf: cfg.ConfigOpts) -> bool:
    """Return whether failed builds of hosts are counted."""
    return bool(conf.compute.consecutive_build_service_disable_threshold)


def leave_host(
    connection: sa.Connection,
    ctxt: context.RequestContext,
    host: str,
    uuid: str,
    *,
    failure: methods.Failure,
    counts: bool,
) -> rows.Row | None:
    """Take the build off `host`, on which it failed, so that it can be rescheduled.

    counts: whether the host's failed builds are counted
    Return the changed row, or None when there is nothing to reschedule.
    """
    values = {
        'task_state': states.TaskState.SCHEDULING,
        'host': None,
        'node': None,
        'updated_at': runtime.naive_now(),
    }
    try:
        _end(connection, host, uuid, values)
    except exception.StateChanged as changed:
        if not _leave_reset(connection, host, uuid):
            LOG.info('Not rescheduling the build of server %s: %s', uuid, changed)
            _fail_event(connection, ctxt, host, uuid, failure)
            return None
    _fail_event(connection, ctxt, host, uuid, failure)
    actions.clear_failure(connection, uuid, ctxt.request_id)
    if counts:
        compute_nodes.count_build(connection, host, failed=True)
    return instances.find(connection, uuid)


def place(
    connection: sa.Connection,
    ctxt: context.RequestContext,
    row: rows.Row,
    *,
    selection: selections.Selection,
    alternates: Iterable[selections.Selection],
) -> rows.Row | None:
    """Assign a build without a host to the selected host. Return the new row.

    row: as this process last read it. Raises StateChanged if it has changed since.
    """
    _take(
        connection,
        row,
        {
            'host': selection.service_host,
            'node': selection.nodename,
            'availability_zone': selection.availability_zone,
            'build': {
                **row.build,
                'selection': selection.as_dict(),
                'alternates': [alternate.as_dict() for alternate in alternates],
            },
        },
    )
    return instances.find(connection, row.uuid)


def give_up(
    connection: sa.Connection,
    ctxt: context.RequestContext,
    row: rows.Row,
    *,
    error: exception.NovaLiteError,
) -> None:
    """Set a server to ERROR with a fault, because no host is left for its build.

    Raises StateChanged if `row` is no longer as this process last read it.
    """
    _take(
        connection,
        row,
        {'vm_state': states.VmState.ERROR, 'task_state': None, 'build': None},
    )
    actions.tell_failure(connection, row.uuid, ctxt.request_id, SEARCH_EVENT, error=error.message)
    actions.end_open(connection, row.uuid, ctxt.request_id, error=error.message)
    instances.add_fault(
        connection,
        row.uuid,
        message=error.message,
        details=''.join(traceback.format_exception(error)),
    )


def take_up(connection: sa.Connection, row: rows.Row) -> rows.Row | None:
    """Acquire a build that has no host and no conductor. Return the new row.

    Raise StateChanged if another conductor has acquired it first.
    """
    _take(connection, row, {})
    return instances.find(connection, row.uuid)


def _take(connection: sa.Connection, row: rows.Row, values: rows.Values) -> None:
    """Change a build without a host if it was last changed at the time in `row`."""
    is_reset = reset_builds.continues(row)
    change = instances.force if is_reset else instances.update
    change(
        connection,
        row.uuid,
        values,
        expect_task=(row.task_state if is_reset else states.TaskState.SCHEDULING,),
        expect_vm=(row.vm_state,) if is_reset else BUILDING,
        expect_host=(None,),
        expect_change=(row.updated_at,),
    )


def _end(
    connection: sa.Connection,
    host: str,
    uuid: str,
    values: rows.Values,
    former: rows.Row | None = None,
) -> None:
    instances.update(
        connection,
        uuid,
        values,
        former=former,
        expect_task=transitions.BUILD.tasks,
        expect_vm=BUILDING,
        expect_host=(host,),
    )


def _fail_event(
    connection: sa.Connection,
    ctxt: context.RequestContext,
    host: str,
    uuid: str,
    failure: methods.Failure,
) -> None:
    actions.finish_event(
        connection,
        uuid,
        ctxt.request_id,
        EVENT,
        host=host,
        error=failure['error'],
        traceback=failure['details'],
    )


def _require_building(row: rows.Row, host: str) -> None:
    if row.host != host or row.vm_state != states.VmState.BUILDING:
        raise exception.StateChanged(
            what='Instance',
            key=row.uuid,
            detail=f'found {row.vm_state} on host {row.host}',
        )
