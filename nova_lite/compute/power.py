"""Power: actions of one step that change the state of a guest.

Each action is a row of `ACTIONS`: begin the event, run the driver's job, record the result.
A repeated or late message finds another task and changes nothing.
Source: reference/nova/cells-and-rpc 4.1.
"""

from collections.abc import Collection
import dataclasses
import functools
import traceback
import typing

from oslo_log import log

from nova_lite import context
from nova_lite import exception
from nova_lite import states
from nova_lite.compute import config_drives
from nova_lite.compute import guest_work
from nova_lite.compute import guests
from nova_lite.compute import mounts
from nova_lite.compute import move_audit
from nova_lite.compute import site
from nova_lite.compute import volumes
from nova_lite.objects import instance as objects
from nova_lite.rpc.methods import conductor as conductor_rpc
from nova_lite.states import transitions
from nova_lite.virt import model

LOG = log.getLogger(__name__)

Vm = states.VmState
SNAPSHOT_EVENT, BACKUP_EVENT = 'compute_snapshot_instance', 'compute_backup_instance'


@dataclasses.dataclass(frozen=True)
class Action:
    """One action. transition: its row of the table of states

    power: the change of power; None if the action is more than that
    interrupts: whether the action interrupts other work on the guest
    """

    event: str
    power: model.PowerAction | None
    transition: transitions.Transition
    interrupts: bool = False

    @property
    def tasks(self) -> tuple[states.TaskState, ...]:
        """Return the task states in which the server may be."""
        return self.transition.tasks

    @property
    def during(self) -> states.TaskState | None:
        """Return the task state that the server gets when the host begins, or None."""
        return self.tasks[-1] if len(self.tasks) > 1 else None

    @property
    def after(self) -> states.VmState | None:
        return self.transition.after

    @property
    def after_failure(self) -> states.VmState | None:
        """Return the vm state after a failure, or None if that leaves the guest as it was."""
        return self.transition.after_failure


class Failing(typing.Protocol):
    """A failed action: its event, and the task states in which it may have been."""

    @property
    def event(self) -> str: ...

    @property
    def tasks(self) -> tuple[states.TaskState, ...]: ...


class Begun(Failing, typing.Protocol):
    """An action that begins. during: the task state to write, or None; interrupts: as of Action"""

    @property
    def during(self) -> states.TaskState | None: ...

    @property
    def interrupts(self) -> bool: ...


@dataclasses.dataclass(frozen=True)
class Stage:
    """A stage of an action. during: the task state that the server gets"""

    event: str
    tasks: tuple[states.TaskState, ...]
    during: states.TaskState
    interrupts: bool = False


class Started(typing.NamedTuple):
    """An action whose event has begun. shares: those of the server"""

    shares: list[conductor_rpc.Share]


class RescueImageNotRead(exception.Conflict):
    msg = 'Cannot read the image to rescue the server: %(reason)s'


class Start(typing.Protocol):
    """A method of the driver that starts a job on a guest."""

    def __call__(self, node: str, guest: str, /, *, key: str) -> model.Job: ...


Do = model.PowerAction
ACTIONS = {
    'start': Action('compute_start_instance', Do.ON, transitions.START),
    'stop': Action('compute_stop_instance', Do.OFF, transitions.STOP),
    'power_update_on': Action(transitions.POWER_UPDATE, Do.ON, transitions.START),
    'power_update_off': Action(transitions.POWER_UPDATE, Do.OFF, transitions.STOP),
    'soft_delete': Action(
        'compute_soft_delete_instance', Do.OFF, transitions.SOFT_DELETE, interrupts=True
    ),
    'restore': Action('compute_restore_instance', Do.ON, transitions.RESTORE),
    'reboot_soft': Action('compute_reboot_instance', Do.SOFT_REBOOT, transitions.REBOOT_SOFT),
    'reboot_hard': Action(
        'compute_reboot_instance', Do.HARD_REBOOT, transitions.REBOOT_HARD, interrupts=True
    ),
    'pause': Action('compute_pause_instance', Do.PAUSE, transitions.PAUSE),
    'unpause': Action('compute_unpause_instance', Do.UNPAUSE, transitions.UNPAUSE),
    'suspend': Action('compute_suspend_instance', Do.SUSPEND, transitions.SUSPEND),
    'resume': Action('compute_resume_instance', Do.RESUME, transitions.RESUME),
    'rescue': Action('compute_rescue_instance', Do.RESCUE, transitions.RESCUE),
    'unrescue': Action('compute_unrescue_instance', Do.UNRESCUE, transitions.UNRESCUE),
    'set_admin_password': Action('compute_set_admin_password', None, transitions.CHANGE_PASSWORD),
}
# {target of a power update: its action}
UPDATES = {'POWER_ON': 'power_update_on', 'POWER_OFF': 'power_update_off'}
# A soft reboot that is about to become a hard one.
HARDENING = Stage(
    ACTIONS['reboot_hard'].event,
    (*transitions.REBOOT_SOFT.tasks, *transitions.REBOOT_HARD.tasks),
    transitions.REBOOT_HARD.tasks[0],
)
# The events of work that an interrupting action may end.
EVENTS = tuple(
    sorted({SNAPSHOT_EVENT, BACKUP_EVENT, *(action.event for action in ACTIONS.values())})
)


def act(
    site: site.Site,
    ctxt: context.RequestContext,
    host: str,
    instance: objects.Instance,
    *,
    name: str,
    check: guest_work.Work[None] | None = None,
    start: Start | None = None,
) -> guest_work.Work[None]:
    """Do an action of `ACTIONS` to a server's guest; work for `guest_work`.

    check: work that raises an error if the guest must stay as it is
    start: method of the driver, for actions that are more than a change of power
    """
    node = site.node_of(host, instance)
    name, started = yield from _begin(site, ctxt, host, instance.uuid, node=node, name=name)
    if started is None:
        return
    action = ACTIONS[name]
    power = action.power
    mounted = mounts.Mounts(site, ctxt, host, node=node, uuid=instance.uuid, shares=started.shares)
    try:
        yield from mounted.before(power)
        if check is not None:
            yield from check
        if start is None:
            start = yield from _starting(site, ctxt, host, mounted=mounted, name=name, power=power)
        job = start(node, instance.uuid, key=f'{ctxt.request_id}/{name}')
        job = yield from guest_work.ended(job)
        yield from mounted.after(power)
    except exception.NovaLiteError as error:
        LOG.warning('%s of server %s failed: %s', name, instance.uuid, error)
        yield from mounted.after_failure()
        changes = _after_failure(site, mounted, action, error)
        yield from fail(site, ctxt, host, instance.uuid, action, error=error, changes=changes)
        return
    changes = {'power_state': job.result['power_state']}
    changes |= {} if action.after is None else {'vm_state': action.after}
    done = yield from guest_work.insist(
        site.conductor.action_finished,
        ctxt,
        host=host,
        instance_uuid=instance.uuid,
        event=action.event,
        changes=changes,
        expect_task=list(action.tasks),
    )
    if done:
        LOG.info('Server %s: %s done', instance.uuid, name)


def _begin(
    site: site.Site, ctxt: context.RequestContext, host: str, uuid: str, *, node: str, name: str
) -> guest_work.Work[tuple[str, Started | None]]:
    """Begin an action. Return (name, result of `begin`). A soft reboot may become a hard one.

    That is recorded first, so that a restart resumes the hard reboot.
    """
    started = yield from begin(site, ctxt, host, uuid, ACTIONS[name])
    if started is None or name != 'reboot_soft' or not _must_be_hard(site, node, uuid):
        return name, started
    return 'reboot_hard', (yield from begin(site, ctxt, host, uuid, HARDENING))


def _after_failure(
    site: site.Site, mounted: mounts.Mounts, action: Action, error: exception.NovaLiteError
) -> model.Json:
    """Return the changes of the record after an action of `act` has failed."""
    changes = left_behind(site, mounted.node, mounted.uuid, action)
    if isinstance(error, mounts.ShareNotMounted):
        changes['vm_state'] = Vm.ERROR
    elif isinstance(error, RescueImageNotRead):
        changes.pop('vm_state')
    return changes


def _must_be_hard(site: site.Site, node: str, uuid: str) -> bool:
    """Return whether a guest does not run, so that a reboot of it is a hard one, as in nova."""
    try:
        guest = site.driver.get_guest(node, uuid)
    except (exception.GuestNotFound, exception.Unavailable):
        return False  # The reboot will fail with this error.
    return guest.power_state is not states.PowerState.RUNNING


def _starting(
    site: site.Site,
    ctxt: context.RequestContext,
    host: str,
    *,
    mounted: mounts.Mounts,
    name: str,
    power: model.PowerAction | None,
) -> guest_work.Work[Start]:
    """Return the method that starts a change of power. A hard reboot may make the guest again."""
    if power is None:
        raise ValueError(f'{name} is no change of power')
    if power is not model.PowerAction.HARD_REBOOT:
        return functools.partial(site.driver.change_power, action=power)
    yield from _return(site, ctxt, mounted.node, mounted.uuid)
    define = functools.partial(_definition, site, ctxt, host, mounted, tasks=ACTIONS[name].tasks)
    spec = yield from guest_work.repeat(define, 'Definition of the guest')
    return functools.partial(site.driver.change_power, action=power, spec=spec)


def _return(
    site: site.Site, ctxt: context.RequestContext, node: str, uuid: str
) -> guest_work.Work[None]:
    """Restore a guest of an ended move that left its node, or arrived there and was not started.

    The record has the server on this host, so no other host may start it.
    """
    try:
        guest = site.driver.get_guest(node, uuid)
    except exception.GuestNotFound:
        return
    if guest.role not in move_audit.LEFT:
        return
    ended = yield from guest_work.insist(site.conductor.ended_moves, ctxt, instances=[uuid])
    if uuid in ended:
        key = f'{ctxt.request_id}/return'
        job = move_audit.take_back(site.driver, guest, ended[uuid], key=key)
        yield from guest_work.ended(job)


def _definition(
    site: site.Site,
    ctxt: context.RequestContext,
    host: str,
    mounted: mounts.Mounts,
    *,
    tasks: Collection[states.TaskState],
) -> guest_work.Work[model.GuestSpec]:
    """Return the definition of a guest from its current records, with its current devices.

    It has the mounted shares. A volume without a recorded connection does not belong to the
    server yet, and is left out. Raises as `Volumes.attach_root`, and StateChanged if the server has
    none of the tasks: another operation may have removed the guest.
    """
    read = functools.partial(_records, site, ctxt, host, mounted.uuid, tasks=tasks)
    found = yield from read()
    known = found['block_devices']
    yield from volumes.Volumes(site, ctxt, host, found['instance'], known).attach_root(read)
    devices = [
        device
        for device in known
        if device.destination_type != guests.VOLUME or device.get('connection_info')
    ]
    spec = guests.spec_of(
        site.conf, found['instance'], block_devices=devices, shares=mounted.shares
    )
    node = site.node_of(host, found['instance'])
    spec = site.claims.keep_nodes(node, spec)
    return config_drives.written(site, spec, found['instance'], devices)


def _records(
    site: site.Site,
    ctxt: context.RequestContext,
    host: str,
    uuid: str,
    *,
    tasks: Collection[states.TaskState],
) -> guest_work.Work[model.Json]:
    """Return the records of a server. Raise StateChanged if it has none of the tasks."""
    found = yield from guest_work.insist(
        site.conductor.instance_records, ctxt, host=host, instance_uuid=uuid
    )
    task = found['instance'].task_state
    if task not in tasks:
        detail = f'found task {task}'
        raise exception.StateChanged(what='Instance', key=uuid, detail=detail)
    return found


def begin(
    site: site.Site, ctxt: context.RequestContext, host: str, uuid: str, action: Begun
) -> guest_work.Work[Started | None]:
    """Begin an action's event. Return None if the message is late, repeated or refused."""
    try:
        shares = yield from guest_work.insist(
            site.conductor.action_started,
            ctxt,
            host=host,
            instance_uuid=uuid,
            event=action.event,
            task_state=action.during,
            expect_task=list(action.tasks),
            interrupted=list(EVENTS) if action.interrupts else [],
        )
    except (exception.StateChanged, exception.InstanceNotFound) as error:
        LOG.info('Skipping %s of server %s: %s', action.event, uuid, error)
        return None
    except exception.TransitionRefused as error:
        LOG.error('Cannot begin %s of server %s: %s', action.event, uuid, error)
        yield from fail(site, ctxt, host, uuid, action, error=error, changes={})
        return None
    return Started(shares or [])


def fail(
    site: site.Site,
    ctxt: context.RequestContext,
    host: str,
    uuid: str,
    action: Failing,
    *,
    error: exception.NovaLiteError,
    changes: model.Json,
) -> guest_work.Work[None]:
    """Record a failed action: its event, a fault, and `changes` of the record."""
    failure: conductor_rpc.ActionFailure = {
        'error': error.message,
        'details': ''.join(traceback.format_exception(error)),
        'changes': changes,
    }
    yield from guest_work.insist(
        site.conductor.action_failed,
        ctxt,
        host=host,
        instance_uuid=uuid,
        event=action.event,
        expect_task=list(action.tasks),
        failure=failure,
    )


def left_behind(site: site.Site, node: str, uuid: str, action: Action) -> model.Json:
    """Return the changes of the record after a failure, by the current state of the guest."""
    try:
        guest = site.driver.get_guest(node, uuid)
    except (exception.GuestNotFound, exception.Unavailable):
        return {'vm_state': action.after_failure} if action.after_failure else {}
    changes: model.Json = {'power_state': int(guest.power_state)}
    survived = (
        action.after is Vm.ACTIVE
        and guest.power_state is states.PowerState.RUNNING
        and not guest.rescued
    )
    if action.after_failure:
        changes['vm_state'] = Vm.ACTIVE if survived else action.after_failure
    return changes
