"""The table of actions: the states in which they may start, and those to which they lead.

The API's guards and the power actions of hosts are rows of it. A write that is not part of a
row is refused (`db.cell.instances`), and `verify` (I9) reports servers in states to which no
row leads. Source: reference/nova/moves 1, reference/nova/create-server 5.
"""

import dataclasses
import functools
import typing

from nova_lite import states

# A server's vm state and task state.
State: typing.TypeAlias = tuple[str, str | None]
# The event of a start or stop that follows an event of another service, which the API begins.
POWER_UPDATE = 'compute_power_update'


@dataclasses.dataclass(frozen=True)
class Transition:
    """One action: the states in which it may start, and those that it sets.

    verb: the action's name in messages ("Cannot 'verb' instance ...")
    vm_states: allowed at the start; None allows any
    task_states: allowed at the start ((None,) means no task runs); None allows any
    during: task state while the action runs; None does not change the task state
    through: further task states while the action runs
    after: vm state after a success; None does not change it
    or_off: a server that was off at the start is STOPPED after a success instead
    after_failure: vm state that the host reports after a failure; None does not change it
    after_undo: vm state that the undo of the saga may leave, beside the one at the start
    saga: whether a saga carries it out, and not a host by itself
    launched: refuse a server that was never launched
    shareless: refuse a server that has shares
    """

    verb: str
    vm_states: tuple[states.VmState, ...] | None
    task_states: tuple[states.TaskState | None, ...] | None = (None,)
    during: states.TaskState | None = None
    after: states.VmState | None = None
    launched: bool = True
    through: tuple[states.TaskState, ...] = ()
    or_off: bool = False
    after_failure: states.VmState | None = None
    after_undo: states.VmState | None = None
    saga: bool = False
    shareless: bool = False

    @property
    def tasks(self) -> tuple[states.TaskState, ...]:
        """Return the task states while the action runs, in order."""
        return () if self.during is None else (self.during, *self.through)

    @property
    def results(self) -> tuple[states.VmState, ...]:
        """Return the vm states that a success of the action may leave."""
        if self.after is None:
            return ()
        return (self.after, states.VmState.STOPPED) if self.or_off else (self.after,)

    def may_start(self, vm_state: str, task_state: str | None) -> bool:
        """Return whether the action may start in these states."""
        return (self.vm_states is None or vm_state in self.vm_states) and (
            self.task_states is None or task_state in self.task_states
        )


_V, _T = states.VmState, states.TaskState
_ENDING = (_T.DELETING, _T.SOFT_DELETING)
_REBOOTING = (_T.REBOOTING, _T.REBOOT_PENDING, _T.REBOOT_STARTED)
_RESIZING = (_T.RESIZE_MIGRATING, _T.RESIZE_FINISH)
_UPLOADING = (_T.IMAGE_PENDING_UPLOAD, _T.IMAGE_UPLOADING)

START = Transition('start', (_V.STOPPED,), during=_T.POWERING_ON, after=_V.ACTIVE)
STOP = Transition(
    'stop', (_V.ACTIVE, _V.ERROR), during=_T.POWERING_OFF, after=_V.STOPPED, launched=False
)
REBOOT_SOFT = Transition(
    'reboot',
    (_V.ACTIVE,),
    during=_T.REBOOTING,
    through=_REBOOTING[1:],
    after=_V.ACTIVE,
    after_failure=_V.ERROR,
)
REBOOT_HARD = Transition(
    'reboot',
    (_V.ACTIVE, _V.STOPPED, _V.PAUSED, _V.SUSPENDED, _V.ERROR),
    (
        None,
        *_REBOOTING,
        *states.REBOOTING_HARD,
        _T.POWERING_OFF,
        _T.POWERING_ON,
        _T.PAUSING,
        _T.UNPAUSING,
        _T.SUSPENDING,
        _T.RESUMING,
    ),
    during=_T.REBOOTING_HARD,
    through=states.REBOOTING_HARD[1:],
    after=_V.ACTIVE,
    after_failure=_V.ERROR,
)
PAUSE = Transition('pause', (_V.ACTIVE,), during=_T.PAUSING, after=_V.PAUSED)
UNPAUSE = Transition('unpause', (_V.PAUSED,), during=_T.UNPAUSING, after=_V.ACTIVE)
SUSPEND = Transition(
    'suspend',
    (_V.ACTIVE,),
    during=_T.SUSPENDING,
    after=_V.SUSPENDED,
    after_failure=_V.ERROR,
    shareless=True,
)
RESUME = Transition(
    'resume', (_V.SUSPENDED,), during=_T.RESUMING, after=_V.ACTIVE, after_failure=_V.ERROR
)
RESCUE = Transition(
    'rescue',
    (_V.ACTIVE, _V.STOPPED, _V.ERROR),
    during=_T.RESCUING,
    after=_V.RESCUED,
    after_failure=_V.ERROR,
)
UNRESCUE = Transition(
    'unrescue', (_V.RESCUED,), during=_T.UNRESCUING, after=_V.ACTIVE, after_failure=_V.ERROR
)
CHANGE_PASSWORD = Transition(
    'changePassword', (_V.ACTIVE,), during=_T.UPDATING_PASSWORD, after_failure=_V.ERROR
)
RESIZE = Transition(
    'resize',
    (_V.ACTIVE, _V.STOPPED),
    during=_T.RESIZE_PREP,
    through=_RESIZING,
    after=_V.RESIZED,
    saga=True,
    shareless=True,
)
MIGRATE = dataclasses.replace(RESIZE, verb='migrate')
CONFIRM_RESIZE = Transition('confirmResize', (_V.RESIZED,), after=_V.ACTIVE, or_off=True, saga=True)
# Of a server whose state an administrator has reset: its resize can no longer be reverted.
CONFIRM_RESET = Transition(
    'confirmResize', tuple(each for each in _V if each not in (_V.RESIZED, _V.DELETED)), saga=True
)
REVERT_RESIZE = Transition(
    'revertResize',
    (_V.RESIZED,),
    during=_T.RESIZE_REVERTING,
    after=_V.ACTIVE,
    or_off=True,
    saga=True,
)
LIVE_MIGRATE = Transition(
    'os-migrateLive', (_V.ACTIVE, _V.PAUSED), during=_T.MIGRATING, saga=True, shareless=True
)
LIVE_MIGRATION_ABORT = Transition('abort live migration', None, (_T.MIGRATING,))
LIVE_MIGRATION_FORCE_COMPLETE = Transition('force_complete', (_V.ACTIVE,), (_T.MIGRATING,))
# An accepted deletion continues, whatever other tasks the server has.
_NOT_DELETING = (None, *(task for task in _T if task not in (_T.DELETING, _T.SOFT_DELETING)))
EVACUATE = Transition(
    'evacuate',
    (_V.ACTIVE, _V.STOPPED, _V.ERROR),
    _NOT_DELETING,
    during=_T.REBUILDING,
    after=_V.ACTIVE,
    or_off=True,
    saga=True,
    shareless=True,
)
REBUILD = Transition(
    'rebuild',
    (_V.ACTIVE, _V.STOPPED, _V.ERROR),
    during=_T.REBUILDING,
    through=(_T.REBUILD_BLOCK_DEVICE_MAPPING, _T.REBUILD_SPAWNING),
    after=_V.ACTIVE,
    or_off=True,
    saga=True,
    shareless=True,
)
SHELVE = Transition(
    'shelve',
    (_V.ACTIVE, _V.STOPPED, _V.PAUSED, _V.SUSPENDED),
    during=_T.SHELVING,
    through=(_T.SHELVING_IMAGE_UPLOADING, _T.SHELVING_OFFLOADING),
    after=_V.SHELVED,
    # A guest that was paused or suspended has lost its memory.
    after_undo=_V.STOPPED,
    saga=True,
    shareless=True,
)
SHELVE_OFFLOAD = Transition(
    'shelveOffload',
    (_V.SHELVED,),
    during=_T.SHELVING_OFFLOADING,
    after=_V.SHELVED_OFFLOADED,
    saga=True,
)
UNSHELVE = Transition(
    'unshelve',
    (_V.SHELVED, _V.SHELVED_OFFLOADED),
    during=_T.UNSHELVING,
    after=_V.ACTIVE,
    or_off=True,
    saga=True,
)
SNAPSHOT = Transition(
    'createImage',
    (_V.ACTIVE, _V.STOPPED, _V.PAUSED, _V.SUSPENDED),
    during=_T.IMAGE_SNAPSHOT_PENDING,
    through=(_T.IMAGE_SNAPSHOT, *_UPLOADING),
)
BACKUP = Transition(
    'createBackup',
    (_V.ACTIVE, _V.STOPPED, _V.PAUSED, _V.SUSPENDED),
    during=_T.IMAGE_BACKUP,
    # The host does the same work as for createImage.
    through=SNAPSHOT.through,
)
# If the server boots from a volume, its volumes are snapshotted without a task.
SNAPSHOT_VOLUMES = Transition('createImage', SNAPSHOT.vm_states, saga=True)
TRIGGER_CRASH_DUMP = Transition(
    'trigger_crash_dump',
    (_V.ACTIVE, _V.PAUSED, _V.RESCUED, _V.RESIZED, _V.ERROR),
    saga=True,
)
_HAS_DISKS = (
    _V.ACTIVE,
    _V.PAUSED,
    _V.STOPPED,
    _V.RESIZED,
    _V.SOFT_DELETED,
    _V.SHELVED,
    _V.SHELVED_OFFLOADED,
)
ATTACH_VOLUME = Transition('attach_volume', _HAS_DISKS, saga=True)
DETACH_VOLUME = Transition('detach_volume', _HAS_DISKS, saga=True)
# Before a reboot: detach a volume whose attachment was deleted in the volume service.
DETACH_LOST_VOLUME = Transition('detach_volume', REBOOT_HARD.vm_states, saga=True)
SWAP_VOLUME = Transition('swap_volume', (_V.ACTIVE, _V.PAUSED, _V.RESIZED), saga=True)
# The guest must be off; the share of a server that could not be started can be detached.
ATTACH_SHARE = Transition('attach_share', (_V.STOPPED,), saga=True)
DETACH_SHARE = Transition('detach_share', (_V.STOPPED, _V.ERROR), saga=True)
ATTACH_INTERFACE = Transition('attach_interface', (_V.ACTIVE, _V.PAUSED, _V.STOPPED), saga=True)
DETACH_INTERFACE = Transition('detach_interface', (_V.ACTIVE, _V.PAUSED, _V.STOPPED), saga=True)
DELETE = Transition('delete', None, None, during=_T.DELETING, after=_V.DELETED, launched=False)
SOFT_DELETE = Transition(
    'delete',
    None,
    None,
    during=_T.SOFT_DELETING,
    after=_V.SOFT_DELETED,
    launched=False,
    after_failure=_V.SOFT_DELETED,
)
# A saga confirms the resize, and the host deletes the server afterwards.
DELETE_RESIZED = Transition('delete', (_V.RESIZED,), None, during=_T.DELETING)
SOFT_DELETE_RESIZED = dataclasses.replace(DELETE_RESIZED, during=_T.SOFT_DELETING)
# Also while its host, which was down at the deletion, has not stopped the guest yet.
RESTORE = Transition(
    'restore',
    (_V.SOFT_DELETED,),
    (None, _T.SOFT_DELETING),
    during=_T.RESTORING,
    after=_V.ACTIVE,
    or_off=True,
    launched=False,
    after_failure=_V.ERROR,
)
FORCE_DELETE = Transition(
    'forceDelete', None, None, during=_T.DELETING, after=_V.DELETED, launched=False
)
BUILD = Transition(
    'create',
    (_V.BUILDING,),
    during=_T.SCHEDULING,
    through=(_T.BLOCK_DEVICE_MAPPING, _T.NETWORKING, _T.SPAWNING),
    after=_V.ACTIVE,
    launched=False,
)
# These change no states.
_AT_REST = (_V.ACTIVE, _V.PAUSED, _V.SUSPENDED, _V.STOPPED)
UPDATE_METADATA = Transition('update metadata', _AT_REST, None, launched=False)
DELETE_METADATA = dataclasses.replace(UPDATE_METADATA, verb='delete metadata')
UPDATE_TAG = dataclasses.replace(UPDATE_METADATA, verb='update tag')
UPDATE_TAGS = dataclasses.replace(UPDATE_METADATA, verb='update tags')
DELETE_TAG = dataclasses.replace(UPDATE_METADATA, verb='delete tag')
DELETE_TAGS = dataclasses.replace(UPDATE_METADATA, verb='delete tags')
# Its verb names the protocol.
OPEN_CONSOLE = Transition(
    'get_console',
    None,
    (None, *(task for task in _T if task not in (_T.DELETING, _T.MIGRATING))),
    launched=False,
)
INJECT_NETWORK_INFO = Transition('inject_network_info', None)
CREATE_VOLUME_SNAPSHOT = Transition('volume_snapshot_create', None)
DELETE_VOLUME_SNAPSHOT = Transition('volume_snapshot_delete', None)

TRANSITIONS = tuple(value for value in dict(globals()).values() if isinstance(value, Transition))
# Tasks that one host carries out by itself.
HOST_TASKS = tuple(dict.fromkeys(task for row in TRANSITIONS if not row.saga for task in row.tasks))


@functools.lru_cache(4096)
def is_allowed(before: State, after: State) -> bool:
    """Return whether a server may go from one (vm state, task state) to another at once.

    An action begins in a state of its row, may pass through further task states, and ends
    where its row says, where it began, or in ERROR.
    """
    if before == after:
        return True
    parts = (_begins, _goes_on, _ends)
    return any(part(row, before, after) for row in TRANSITIONS for part in parts) or _has_gone_off(
        before, after
    )


def _begins(row: Transition, before: State, after: State) -> bool:
    return row.during is not None and row.may_start(*before) and after == (before[0], row.during)


def _goes_on(row: Transition, before: State, after: State) -> bool:
    (vm_state, task), (then, during) = before, after
    return task in row.tasks and during in row.tasks and then in (vm_state, *row.results)


def _ends(row: Transition, before: State, after: State) -> bool:
    """Return whether the change is the success, the failure or the immediate end of an action."""
    (vm_state, task), (then, during) = before, after
    if row.during is None:
        # A deletion may have been accepted while the action ran.
        begun = row.vm_states is not None and vm_state in row.vm_states
        return begun and task in (None, *_ENDING) and during == task and then in row.results
    over = task in row.tasks and during is None
    return over and then in (vm_state, _V.ERROR, row.after_failure, row.after_undo, *row.results)


def _has_gone_off(before: State, after: State) -> bool:
    """Return whether the change is that of an audit that found a guest without a task off."""
    (vm_state, task), (then, during) = before, after
    return task is during is None and then == _V.STOPPED and vm_state in states.POWERED


def may_be(vm_state: str, task_state: str | None) -> bool:
    """Return whether a server may have this vm state while it has this task state."""
    if task_state is None:
        return True
    return any(
        task_state in row.tasks
        and (row.vm_states is None or vm_state in (*row.vm_states, *row.results))
        for row in TRANSITIONS
    )
