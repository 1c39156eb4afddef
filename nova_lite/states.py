"""The states a server and a migration may be in, and which action leads where.

Data only. The API's guards, the documentation's diagram, `verify` (I9) and the
property tests all read the rows of `TRANSITIONS`. The words are nova's.
Source: reference/nova/moves 1, reference/nova/create-server 5.
"""

import dataclasses
import enum


class VmState(enum.StrEnum):
    """What a server is, apart from what is being done to it."""

    ACTIVE = 'active'
    BUILDING = 'building'
    PAUSED = 'paused'
    SUSPENDED = 'suspended'
    STOPPED = 'stopped'
    RESCUED = 'rescued'
    RESIZED = 'resized'
    SOFT_DELETED = 'soft-delete'
    DELETED = 'deleted'
    ERROR = 'error'
    SHELVED = 'shelved'
    SHELVED_OFFLOADED = 'shelved_offloaded'


class TaskState(enum.StrEnum):
    """What is being done to a server right now; NULL when nothing is."""

    SCHEDULING = 'scheduling'
    BLOCK_DEVICE_MAPPING = 'block_device_mapping'
    NETWORKING = 'networking'
    SPAWNING = 'spawning'
    IMAGE_SNAPSHOT_PENDING = 'image_snapshot_pending'
    IMAGE_SNAPSHOT = 'image_snapshot'
    IMAGE_PENDING_UPLOAD = 'image_pending_upload'
    IMAGE_UPLOADING = 'image_uploading'
    IMAGE_BACKUP = 'image_backup'
    UPDATING_PASSWORD = 'updating_password'
    RESIZE_PREP = 'resize_prep'
    RESIZE_MIGRATING = 'resize_migrating'
    RESIZE_MIGRATED = 'resize_migrated'
    RESIZE_FINISH = 'resize_finish'
    RESIZE_REVERTING = 'resize_reverting'
    RESIZE_CONFIRMING = 'resize_confirming'
    REBOOTING = 'rebooting'
    REBOOT_PENDING = 'reboot_pending'
    REBOOT_STARTED = 'reboot_started'
    REBOOTING_HARD = 'rebooting_hard'
    REBOOT_PENDING_HARD = 'reboot_pending_hard'
    REBOOT_STARTED_HARD = 'reboot_started_hard'
    PAUSING = 'pausing'
    UNPAUSING = 'unpausing'
    SUSPENDING = 'suspending'
    RESUMING = 'resuming'
    POWERING_OFF = 'powering-off'
    POWERING_ON = 'powering-on'
    RESCUING = 'rescuing'
    UNRESCUING = 'unrescuing'
    REBUILDING = 'rebuilding'
    REBUILD_BLOCK_DEVICE_MAPPING = 'rebuild_block_device_mapping'
    REBUILD_SPAWNING = 'rebuild_spawning'
    MIGRATING = 'migrating'
    DELETING = 'deleting'
    SOFT_DELETING = 'soft-deleting'
    RESTORING = 'restoring'
    SHELVING = 'shelving'
    SHELVING_IMAGE_PENDING_UPLOAD = 'shelving_image_pending_upload'
    SHELVING_IMAGE_UPLOADING = 'shelving_image_uploading'
    SHELVING_OFFLOADING = 'shelving_offloading'
    UNSHELVING = 'unshelving'


class PowerState(enum.IntEnum):
    """What the hypervisor says of a guest."""

    NOSTATE = 0
    RUNNING = 1
    PAUSED = 3
    SHUTDOWN = 4
    CRASHED = 6
    SUSPENDED = 7


# States in which a guest has power.
POWERED = (VmState.ACTIVE, VmState.PAUSED)
_OFF = (PowerState.SHUTDOWN, PowerState.CRASHED)


def has_gone_off(vm_state, power_state):
    """Whether a server in this state is to be STOPPED, since its guest has this power state."""
    return vm_state in POWERED and power_state in _OFF


class MigrationType(enum.StrEnum):
    """The kinds of move a migration record stands for."""

    MIGRATION = 'migration'
    RESIZE = 'resize'
    LIVE_MIGRATION = 'live-migration'
    EVACUATION = 'evacuation'
    # Never shown: of one that is under way, or was undone and may have left a guest.
    UNSHELVE = 'unshelve'


class MigrationStatus(enum.StrEnum):
    """How far a move has come."""

    ACCEPTED = 'accepted'
    QUEUED = 'queued'
    PREPARING = 'preparing'
    RUNNING = 'running'
    PRE_MIGRATING = 'pre-migrating'
    MIGRATING = 'migrating'
    POST_MIGRATING = 'post-migrating'
    FINISHED = 'finished'
    CONFIRMING = 'confirming'
    CONFIRMED = 'confirmed'
    REVERTING = 'reverting'
    REVERTED = 'reverted'
    DONE = 'done'
    COMPLETED = 'completed'
    CANCELLED = 'cancelled'
    FAILED = 'failed'
    ERROR = 'error'


# "In progress" for GET /servers/{id}/migrations.
MIGRATION_LIVE = frozenset(
    (
        MigrationStatus.QUEUED,
        MigrationStatus.PREPARING,
        MigrationStatus.RUNNING,
        MigrationStatus.POST_MIGRATING,
    )
)

# Statuses in which a migration no longer holds anything on a host.
MIGRATION_OVER = frozenset(
    (
        MigrationStatus.CONFIRMED,
        MigrationStatus.REVERTED,
        MigrationStatus.ERROR,
        MigrationStatus.FAILED,
        MigrationStatus.COMPLETED,
        MigrationStatus.CANCELLED,
        MigrationStatus.DONE,
    )
)


# ---- server status ---------------------------------------------------------

_RESIZE = dict.fromkeys(
    (
        TaskState.RESIZE_PREP,
        TaskState.RESIZE_MIGRATING,
        TaskState.RESIZE_MIGRATED,
        TaskState.RESIZE_FINISH,
    ),
    'RESIZE',
)
_REBUILD = dict.fromkeys(
    (TaskState.REBUILDING, TaskState.REBUILD_BLOCK_DEVICE_MAPPING, TaskState.REBUILD_SPAWNING),
    'REBUILD',
)

STATUS = {
    VmState.ACTIVE: (
        'ACTIVE',
        {
            **_RESIZE,
            **_REBUILD,
            TaskState.MIGRATING: 'MIGRATING',
            TaskState.REBOOT_PENDING: 'REBOOT',
            TaskState.REBOOT_STARTED: 'REBOOT',
            TaskState.REBOOTING: 'REBOOT',
            TaskState.REBOOT_PENDING_HARD: 'HARD_REBOOT',
            TaskState.REBOOT_STARTED_HARD: 'HARD_REBOOT',
            TaskState.REBOOTING_HARD: 'HARD_REBOOT',
            TaskState.UPDATING_PASSWORD: 'PASSWORD',
        },
    ),
    VmState.BUILDING: ('BUILD', {}),
    VmState.STOPPED: ('SHUTOFF', {**_RESIZE, **_REBUILD}),
    VmState.RESIZED: ('VERIFY_RESIZE', {TaskState.RESIZE_REVERTING: 'REVERT_RESIZE'}),
    VmState.PAUSED: ('PAUSED', {TaskState.MIGRATING: 'MIGRATING'}),
    VmState.SUSPENDED: ('SUSPENDED', {}),
    VmState.RESCUED: ('RESCUE', {}),
    VmState.ERROR: ('ERROR', dict(_REBUILD)),
    VmState.DELETED: ('DELETED', {}),
    VmState.SOFT_DELETED: ('SOFT_DELETED', {}),
    VmState.SHELVED: ('SHELVED', {}),
    VmState.SHELVED_OFFLOADED: ('SHELVED_OFFLOADED', {}),
}


def status_of(vm_state, task_state):
    """The `status` field of the API for a pair of states."""
    default, exceptions = STATUS.get(vm_state, ('UNKNOWN', {}))
    return exceptions.get(task_state, default)


def states_of(status):
    """The (vm_state, {task_state, ...}) pairs that the API shows as `status`.

    An empty set of task states means "any that no exception of this vm_state names".
    """
    pairs = []
    for vm_state, (default, exceptions) in STATUS.items():
        if default == status:
            pairs.append((vm_state, frozenset()))
        tasks = frozenset(t for t, name in exceptions.items() if name == status)
        if tasks:
            pairs.append((vm_state, tasks))
    return pairs


# ---- actions ---------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Transition:
    """One action: from which states it may start, what it does to them.

    verb: the action's name in messages ("Cannot 'verb' instance ...")
    vm_states: allowed before; None allows any
    task_states: allowed before ((None,) means no task runs); None allows any
    during: task state while it runs; None leaves the task state alone
    through: further task states while it runs
    after: vm state when it succeeded; None leaves it
    or_off: a server that was off before is STOPPED after it instead
    launched: refuse a server that was never launched
    """

    verb: str
    vm_states: tuple | None
    task_states: tuple | None = (None,)
    during: TaskState | None = None
    after: VmState | None = None
    launched: bool = True
    through: tuple = ()
    or_off: bool = False


_V, _T = VmState, TaskState
_REBOOTING = (_T.REBOOTING, _T.REBOOT_PENDING, _T.REBOOT_STARTED)
# The task states of a hard reboot, which are no saga's.
REBOOTING_HARD = (_T.REBOOTING_HARD, _T.REBOOT_PENDING_HARD, _T.REBOOT_STARTED_HARD)
_RESIZING = (_T.RESIZE_MIGRATING, _T.RESIZE_MIGRATED, _T.RESIZE_FINISH)
_UPLOADING = (_T.IMAGE_PENDING_UPLOAD, _T.IMAGE_UPLOADING)
_REMAKING = (_T.REBUILD_BLOCK_DEVICE_MAPPING, _T.REBUILD_SPAWNING)

START = Transition('start', (_V.STOPPED,), during=_T.POWERING_ON, after=_V.ACTIVE)
STOP = Transition(
    'stop', (_V.ACTIVE, _V.ERROR), during=_T.POWERING_OFF, after=_V.STOPPED, launched=False
)
REBOOT_SOFT = Transition(
    'reboot', (_V.ACTIVE,), during=_T.REBOOTING, through=_REBOOTING[1:], after=_V.ACTIVE
)
REBOOT_HARD = Transition(
    'reboot',
    (_V.ACTIVE, _V.STOPPED, _V.PAUSED, _V.SUSPENDED, _V.ERROR),
    (
        None,
        *_REBOOTING,
        *REBOOTING_HARD,
        _T.POWERING_OFF,
        _T.POWERING_ON,
        _T.PAUSING,
        _T.UNPAUSING,
        _T.SUSPENDING,
        _T.RESUMING,
    ),
    during=_T.REBOOTING_HARD,
    through=REBOOTING_HARD[1:],
    after=_V.ACTIVE,
)
PAUSE = Transition('pause', (_V.ACTIVE,), during=_T.PAUSING, after=_V.PAUSED)
UNPAUSE = Transition('unpause', (_V.PAUSED,), during=_T.UNPAUSING, after=_V.ACTIVE)
SUSPEND = Transition('suspend', (_V.ACTIVE,), during=_T.SUSPENDING, after=_V.SUSPENDED)
RESUME = Transition('resume', (_V.SUSPENDED,), during=_T.RESUMING, after=_V.ACTIVE)
RESCUE = Transition(
    'rescue', (_V.ACTIVE, _V.STOPPED, _V.ERROR), during=_T.RESCUING, after=_V.RESCUED
)
UNRESCUE = Transition('unrescue', (_V.RESCUED,), during=_T.UNRESCUING, after=_V.ACTIVE)
RESIZE = Transition(
    'resize',
    (_V.ACTIVE, _V.STOPPED),
    during=_T.RESIZE_PREP,
    through=_RESIZING,
    after=_V.RESIZED,
)
MIGRATE = dataclasses.replace(RESIZE, verb='migrate')
CONFIRM_RESIZE = Transition('confirmResize', (_V.RESIZED,), after=_V.ACTIVE, or_off=True)
REVERT_RESIZE = Transition(
    'revertResize', (_V.RESIZED,), during=_T.RESIZE_REVERTING, after=_V.ACTIVE, or_off=True
)
LIVE_MIGRATE = Transition('os-migrateLive', (_V.ACTIVE, _V.PAUSED), during=_T.MIGRATING)
LIVE_MIGRATION_ABORT = Transition('abort live migration', None, (_T.MIGRATING,))
LIVE_MIGRATION_FORCE_COMPLETE = Transition('force_complete', (_V.ACTIVE,), (_T.MIGRATING,))
# Whatever else is being done to a server: a deletion that was accepted goes on.
_NOT_DELETING = (None, *(task for task in _T if task not in (_T.DELETING, _T.SOFT_DELETING)))
EVACUATE = Transition(
    'evacuate',
    (_V.ACTIVE, _V.STOPPED, _V.ERROR),
    _NOT_DELETING,
    during=_T.REBUILDING,
    through=_REMAKING,
    after=_V.ACTIVE,
    or_off=True,
)
REBUILD = Transition(
    'rebuild',
    (_V.ACTIVE, _V.STOPPED, _V.ERROR),
    during=_T.REBUILDING,
    through=_REMAKING,
    after=_V.ACTIVE,
    or_off=True,
)
SHELVE = Transition(
    'shelve',
    (_V.ACTIVE, _V.STOPPED, _V.PAUSED, _V.SUSPENDED),
    during=_T.SHELVING,
    through=(
        _T.SHELVING_IMAGE_PENDING_UPLOAD,
        _T.SHELVING_IMAGE_UPLOADING,
        _T.SHELVING_OFFLOADING,
    ),
    after=_V.SHELVED,
)
SHELVE_OFFLOAD = Transition(
    'shelveOffload', (_V.SHELVED,), during=_T.SHELVING_OFFLOADING, after=_V.SHELVED_OFFLOADED
)
UNSHELVE = Transition(
    'unshelve',
    (_V.SHELVED, _V.SHELVED_OFFLOADED),
    during=_T.UNSHELVING,
    after=_V.ACTIVE,
    or_off=True,
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
    through=_UPLOADING,
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
ATTACH_VOLUME = Transition('attach_volume', _HAS_DISKS)
DETACH_VOLUME = Transition('detach_volume', _HAS_DISKS)
SWAP_VOLUME = Transition('swap_volume', (_V.ACTIVE, _V.PAUSED, _V.RESIZED))
ATTACH_INTERFACE = Transition('attach_interface', (_V.ACTIVE, _V.PAUSED, _V.STOPPED))
DETACH_INTERFACE = Transition('detach_interface', (_V.ACTIVE, _V.PAUSED, _V.STOPPED))
CHANGE_PASSWORD = Transition('changePassword', (_V.ACTIVE,), during=_T.UPDATING_PASSWORD)
DELETE = Transition('delete', None, None, during=_T.DELETING, after=_V.DELETED, launched=False)
SOFT_DELETE = Transition(
    'delete', None, None, during=_T.SOFT_DELETING, after=_V.SOFT_DELETED, launched=False
)
RESTORE = Transition(
    'restore',
    (_V.SOFT_DELETED,),
    during=_T.RESTORING,
    after=_V.ACTIVE,
    or_off=True,
    launched=False,
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

TRANSITIONS = tuple(value for value in dict(globals()).values() if isinstance(value, Transition))
