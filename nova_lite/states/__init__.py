"""The states of servers and migrations; `transitions` has the changes between them.

Data only. The words are nova's.
Source: reference/nova/moves 1, reference/nova/create-server 5.
"""

import enum
import typing


class VmState(enum.StrEnum):
    """The state of a server, apart from the task that runs."""

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
    """The task that runs on a server; its column is NULL if none runs."""

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
    SHELVING_IMAGE_UPLOADING = 'shelving_image_uploading'
    SHELVING_OFFLOADING = 'shelving_offloading'
    UNSHELVING = 'unshelving'


class PowerState(enum.IntEnum):
    """The power state of a guest, as the hypervisor reports it."""

    NOSTATE = 0
    RUNNING = 1
    PAUSED = 3
    SHUTDOWN = 4
    CRASHED = 6
    SUSPENDED = 7


# States in which a guest has power.
POWERED = (VmState.ACTIVE, VmState.PAUSED)
_OFF = (PowerState.SHUTDOWN, PowerState.CRASHED)


def has_gone_off(vm_state: str, power_state: int) -> bool:
    """Return whether to set a server in this state to STOPPED for its guest's power state."""
    return vm_state in POWERED and power_state in _OFF


class ShareStatus(enum.StrEnum):
    """The status of a share that is attached to a server."""

    ATTACHING = 'attaching'
    INACTIVE = 'inactive'
    ACTIVE = 'active'
    DETACHING = 'detaching'
    ERROR = 'error'


class MigrationType(enum.StrEnum):
    """The kinds of move a migration record stands for."""

    MIGRATION = 'migration'
    RESIZE = 'resize'
    LIVE_MIGRATION = 'live-migration'
    EVACUATION = 'evacuation'
    # The API never shows it: a move in progress, or one that was undone and may have left a guest.
    UNSHELVE = 'unshelve'


class MigrationStatus(enum.StrEnum):
    """The progress of a move."""

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


# Statuses that GET /servers/{id}/migrations lists as in progress.
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

# {task state: status}
Statuses: typing.TypeAlias = dict[str | None, str]

_RESIZE: Statuses = dict.fromkeys(
    (
        TaskState.RESIZE_PREP,
        TaskState.RESIZE_MIGRATING,
        TaskState.RESIZE_MIGRATED,
        TaskState.RESIZE_FINISH,
    ),
    'RESIZE',
)
_REBUILD: Statuses = dict.fromkeys(
    (TaskState.REBUILDING, TaskState.REBUILD_BLOCK_DEVICE_MAPPING, TaskState.REBUILD_SPAWNING),
    'REBUILD',
)

STATUS: dict[str, tuple[str, Statuses]] = {
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


def status_of(vm_state: str, task_state: str | None) -> str:
    """Return the `status` field of the API for a pair of states."""
    default, exceptions = STATUS.get(vm_state, ('UNKNOWN', {}))
    return exceptions.get(task_state, default)


def states_of(status: str) -> list[tuple[str, frozenset[str | None]]]:
    """Return the pairs (vm_state, {task_state, ...}) that the API shows as `status`.

    An empty set means all task states that have no status of their own with this vm_state.
    """
    pairs: list[tuple[str, frozenset[str | None]]] = []
    for vm_state, (default, exceptions) in STATUS.items():
        if default == status:
            pairs.append((vm_state, frozenset()))
        tasks = frozenset(t for t, name in exceptions.items() if name == status)
        if tasks:
            pairs.append((vm_state, tasks))
    return pairs


# The task states of a hard reboot, which is not a saga.
REBOOTING_HARD = (
    TaskState.REBOOTING_HARD,
    TaskState.REBOOT_PENDING_HARD,
    TaskState.REBOOT_STARTED_HARD,
)
