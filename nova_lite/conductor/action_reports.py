"""Transactions of a cell: reports of hosts about actions of one step.

Every function takes a connection and the context first, writes only where the
record is as the host believes it to be, and may be repeated.
"""

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Sequence
import dataclasses
import datetime
import typing

from oslo_log import log
import sqlalchemy as sa

from nova_lite import context
from nova_lite import exception
from nova_lite import metrics
from nova_lite import runtime
from nova_lite import states
from nova_lite.db.cell import action_lists
from nova_lite.db.cell import actions
from nova_lite.db.cell import instances
from nova_lite.db.cell import remarks
from nova_lite.db.cell import shares
from nova_lite.rpc.methods import conductor as methods

LOG = log.getLogger(__name__)

# Columns of a server that the report of an action may change.
REPORTED = frozenset(('power_state', 'vm_state'))
STOP_EVENT = 'compute_stop_instance'
IMAGE_EVENTS = ('compute_snapshot_instance', 'compute_backup_instance')


@dataclasses.dataclass(frozen=True)
class Report:
    """The reporting host, the server of the action, and the task that the host expects."""

    host: str
    uuid: str
    event: str
    expect_task: list[str | None]
    request_id: str


def start(
    connection: sa.Connection,
    ctxt: context.RequestContext,
    host: str,
    instance_uuid: str,
    event: str,
    *,
    task_state: str | None,
    expect_task: list[str | None],
    interrupted: Sequence[str] = (),
) -> list[methods.Share]:
    """Begin an action's event if the server's task is an expected one. Return its shares.

    A late or repeated message must not begin a newer request of the same kind, whose task the
    server may have by now: an action that has ended does not begin again, and an image does not go
    on after a request for another one.
    """
    report = Report(host, instance_uuid, event, expect_task, ctxt.request_id)
    row = instances.get(connection, report.uuid, hidden=True)
    if actions.has_ended(connection, report.uuid, ctxt.request_id, report.event, report.host):
        raise exception.StateChanged(
            what='Instance', key=report.uuid, detail=f'{report.event} of the request has ended'
        )
    _require_task(connection, report)
    if task_state is not None and task_state != row.task_state:
        instances.update(
            connection,
            report.uuid,
            {'task_state': task_state},
            expect_task=report.expect_task,
            expect_host=(report.host,),
        )
    elif row.host != report.host or row.task_state not in report.expect_task:
        raise exception.StateChanged(
            what='Instance',
            key=report.uuid,
            detail=f'found task {row.task_state} on host {row.host}',
        )
    if interrupted:
        actions.end_interrupted(
            connection,
            report.uuid,
            error=f'Interrupted by {report.event}.',
            events=interrupted,
            besides=ctxt.request_id,
        )
    actions.start_event(connection, report.uuid, ctxt.request_id, report.event, host=report.host)
    return _shares(connection, report.uuid)


def _require_task(connection: sa.Connection, report: Report) -> None:
    """Raise StateChanged if the task belongs to a newer request for an image."""
    if report.event in IMAGE_EVENTS:
        action_lists.require_newest_copy(connection, report.uuid, report.request_id)


def _shares(connection: sa.Connection, uuid: str) -> list[methods.Share]:
    return typing.cast(list[methods.Share], shares.of_server(connection, uuid))


def finish(
    connection: sa.Connection,
    ctxt: context.RequestContext,
    host: str,
    instance_uuid: str,
    event: str,
    *,
    changes: methods.Json,
    expect_task: list[str | None],
    remark: str | None = None,
) -> bool:
    """Apply the changes of a successful action. Return False if the task has changed.

    An action whose changes the table of states refuses has failed.
    remark: text about a failure after the requested effect; None
    """
    report = Report(host, instance_uuid, event, expect_task, ctxt.request_id)
    try:
        done = _apply(connection, report, changes)
    except exception.TransitionRefused as refused:
        failure: methods.ActionFailure = {
            'error': refused.message,
            'details': None,
            'changes': changes,
        }
        _fail(connection, ctxt, report, failure)
        return False
    actions.finish_event(connection, report.uuid, ctxt.request_id, report.event, host=report.host)
    if remark is not None:
        of_event = {'event': report.event, 'host': report.host, 'text': remark}
        remarks.add(connection, report.uuid, ctxt.request_id, **of_event)
    return done


def fail(
    connection: sa.Connection,
    ctxt: context.RequestContext,
    host: str,
    instance_uuid: str,
    event: str,
    *,
    expect_task: list[str | None],
    failure: methods.ActionFailure,
) -> bool:
    """Apply the changes of a failed action, with a fault. Return False if the task has changed."""
    report = Report(host, instance_uuid, event, expect_task, ctxt.request_id)
    return _fail(connection, ctxt, report, failure)


def _fail(
    connection: sa.Connection,
    ctxt: context.RequestContext,
    report: Report,
    failure: methods.ActionFailure,
) -> bool:
    done = _apply_failure(connection, report, failure['changes'])
    if done:
        instances.add_fault(
            connection,
            report.uuid,
            message=failure['error'],
            details=failure['details'],
            host=report.host,
        )
    actions.finish_event(
        connection,
        report.uuid,
        ctxt.request_id,
        report.event,
        host=report.host,
        error=failure['error'],
        traceback=failure['details'],
    )
    return done


def _apply_failure(
    connection: sa.Connection, report: Report, changes: dict[str, typing.Any]
) -> bool:
    """Apply the changes of a failed action, with ERROR in place of states that the table refuses.

    The server would keep its task otherwise, and its host would report it again and again.
    """
    try:
        return _apply(connection, report, changes)
    except exception.TransitionRefused as refused:
        LOG.error(
            'Rejected what host %s reports of %s. The status of the server is ERROR: %s',
            report.host,
            report.event,
            refused,
        )
        metrics.REJECTED.labels(event=report.event).inc()
        lost = {**changes, 'vm_state': states.VmState.ERROR}
        return _apply(connection, report, lost, write=instances.force)


def _apply(
    connection: sa.Connection,
    report: Report,
    changes: dict[str, typing.Any],
    *,
    write: Callable[..., None] = instances.update,
) -> bool:
    others = sorted(changes.keys() - REPORTED)
    if others:
        raise exception.Invalid(reason=f'a host does not report {", ".join(others)} of a server')
    try:
        _require_task(connection, report)
        write(
            connection,
            report.uuid,
            {'task_state': None, **changes},
            expect_task=report.expect_task,
            expect_host=(report.host,),
        )
    except exception.StateChanged as error:
        LOG.info('Ignoring a late report of host %s: %s', report.host, error)
        return False
    return True


def note_power(
    connection: sa.Connection, ctxt: context.RequestContext, found: Iterable[methods.Json]
) -> None:
    """Store the power states that hosts have found. found: see ConductorAPI.power_states

    A server with a task, and a server that has changed since its host read the record, are not
    changed. Source: nova's periodic power state sync.
    """
    for report in sorted(found, key=lambda report: report['uuid']):
        _note_power(connection, ctxt, report)


def _note_power(
    connection: sa.Connection, ctxt: context.RequestContext, report: methods.Json
) -> None:
    uuid, host, seen = report['uuid'], report['host'], report['seen']
    power_state = states.PowerState(report['power_state'])
    changes: dict[str, typing.Any] = {'power_state': int(power_state)}
    if states.has_gone_off(seen['vm_state'], power_state):
        changes['vm_state'] = states.VmState.STOPPED
    changed = seen['updated_at']
    try:
        instances.update(
            connection,
            uuid,
            changes,
            expect_task=(None,),
            expect_vm=(seen['vm_state'],),
            expect_host=(host,),
            expect_change=(changed and datetime.datetime.fromisoformat(changed),),
        )
    except exception.StateChanged as error:
        LOG.debug('Server %s was changed; not storing its power state: %s', uuid, error)
        return
    if 'vm_state' in changes:
        # The host unmounts the shares at its next comparison.
        shares.deactivate(connection, uuid)
        LOG.warning('Server %s was found shut down on host %s. Set to STOPPED', uuid, host)
        now = runtime.naive_now()
        actions.start(connection, ctxt, uuid, 'stop')
        actions.record_event(
            connection, uuid, ctxt.request_id, STOP_EVENT, host=host, started_at=now
        )
