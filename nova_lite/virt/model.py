"""The data of the driver protocol: guests, devices, jobs, facts of a node.

Plain values in hypervisor terms, without states of servers, migrations or allocations, which
the compute daemon knows.
"""

from collections.abc import Mapping
import dataclasses
import enum
from typing import Any
from typing import Self

from nova_lite import states
from nova_lite.virt import topology

# A JSON object, which is sent or stored as text.
Json = dict[str, Any]
# The handover between the ends of a move; see `nova_lite.virt.driver`.
Ticket = Json
Handover = Json


class Verb(enum.StrEnum):
    """The operations of a driver. Jobs and behaviour profiles use these names."""

    SPAWN = 'spawn'
    DESTROY = 'destroy'
    POWER_ON = 'power_on'
    POWER_OFF = 'power_off'
    SOFT_REBOOT = 'soft_reboot'
    HARD_REBOOT = 'hard_reboot'
    PAUSE = 'pause'
    UNPAUSE = 'unpause'
    SUSPEND = 'suspend'
    RESUME = 'resume'
    RESCUE = 'rescue'
    UNRESCUE = 'unrescue'
    SET_PASSWORD = 'set_password'
    TRIGGER_CRASH_DUMP = 'trigger_crash_dump'
    SNAPSHOT = 'snapshot'
    ATTACH_VOLUME = 'attach_volume'
    DETACH_VOLUME = 'detach_volume'
    ATTACH_INTERFACE = 'attach_interface'
    DETACH_INTERFACE = 'detach_interface'
    MOUNT_SHARE = 'mount_share'
    UNMOUNT_SHARE = 'unmount_share'
    MIGRATE_OUT = 'migrate_out'
    FINISH_MIGRATION = 'finish_migration'
    REVERT_MIGRATION = 'revert_migration'
    CONFIRM_MIGRATION = 'confirm_migration'
    CHECK_LIVE_MIGRATION = 'check_live_migration'
    PRE_LIVE_MIGRATION = 'pre_live_migration'
    LIVE_MIGRATE = 'live_migrate'
    ABORT_LIVE_MIGRATION = 'abort_live_migration'
    FORCE_COMPLETE = 'force_complete_live_migration'
    POST_LIVE_MIGRATION = 'post_live_migration'
    ROLLBACK_LIVE_MIGRATION = 'rollback_live_migration'
    CACHE_IMAGE = 'cache_image'


class PowerAction(enum.StrEnum):
    """The verbs of `Driver.change_power`."""

    ON = Verb.POWER_ON
    OFF = Verb.POWER_OFF
    SOFT_REBOOT = Verb.SOFT_REBOOT
    HARD_REBOOT = Verb.HARD_REBOOT
    PAUSE = Verb.PAUSE
    UNPAUSE = Verb.UNPAUSE
    SUSPEND = Verb.SUSPEND
    RESUME = Verb.RESUME
    RESCUE = Verb.RESCUE
    UNRESCUE = Verb.UNRESCUE
    TRIGGER_CRASH_DUMP = Verb.TRIGGER_CRASH_DUMP


class Role(enum.StrEnum):
    """The role of a node for a guest.

    Only a resident guest can run; the other roles are preparations or remains of moves.
    """

    RESIDENT = 'resident'  # defined here
    INCOMING = 'incoming'  # awaits the memory of a live migration
    DEPARTED = 'departed'  # left for another node; its disks are kept
    DISKS_ONLY = 'disks_only'  # destroyed, its disks were kept


class DeviceKind(enum.StrEnum):
    VOLUME = 'volume'
    INTERFACE = 'interface'
    SHARE = 'share'


# Key of the data of an interface that is a PCI device.
PCI_ADDRESS = 'pci_address'


class PasswordSupport(enum.StrEnum):
    """The guests in which a hypervisor can set a password."""

    ALWAYS = 'always'
    AGENT = 'agent'  # where the guest has an agent for it
    NEVER = 'never'


class JobState(enum.StrEnum):
    RUNNING = 'running'
    DONE = 'done'
    FAILED = 'failed'


@dataclasses.dataclass(frozen=True, slots=True)
class Device:
    """A volume (id: the volume's), an interface (id: the port's) or a share (id: the share's).

    data: JSON-serializable values for the hypervisor (connection_info, mac_address, tag, ...)
    """

    kind: DeviceKind
    id: str
    data: Json = dataclasses.field(default_factory=dict)

    def to_dict(self) -> Json:
        return {'kind': str(self.kind), 'id': self.id, 'data': self.data}

    @classmethod
    def from_dict(cls, value: Json) -> Self:
        return cls(DeviceKind(value['kind']), value['id'], value['data'])


@dataclasses.dataclass(frozen=True, slots=True)
class GuestSpec:
    """The definition from which a guest is created, or created again by a hard reboot.

    name: the guest's name on the hypervisor; title: the server's name; flavor: the flavor's name
    disk_gb: root, ephemeral and swap disks together, without volumes
    image_id: None for a guest that boots from a volume; password: a hash of the guest's password
    numa: the parts of the host's NUMA nodes that the guest holds, or None
    drive: the files of the config drive, packed by metadata.drive.pack. They may be large and
        contain secrets, so they are stored apart and are not in the dictionary
    """

    uuid: str
    name: str
    flavor: str
    vcpus: int
    memory_mb: int
    disk_gb: int
    image_id: str | None = None
    metadata: Json = dataclasses.field(default_factory=dict)
    devices: tuple[Device, ...] = ()
    config_drive: bool = False
    title: str = ''
    password: str = ''
    numa: topology.Held | None = None
    drive: Json | None = dataclasses.field(default=None, repr=False)

    @property
    def port_devices(self) -> list[tuple[str, str]]:
        """Return pairs of a port's id and the address of the PCI device that the port is."""
        return [
            (device.id, device.data[PCI_ADDRESS])
            for device in self.devices
            if device.kind is DeviceKind.INTERFACE and PCI_ADDRESS in device.data
        ]

    @property
    def parts(self) -> tuple[topology.Held, ...]:
        """Return the parts of its node that the guest holds: one of its own, one for each port."""
        own = (self.numa,) if self.numa else ()
        return (*own, *(topology.Held.of_port(*pair) for pair in self.port_devices))

    def to_dict(self) -> Json:
        numa = {'numa': self.numa.to_dict()} if self.numa else {}
        return {
            'uuid': self.uuid,
            'name': self.name,
            'flavor': self.flavor,
            'vcpus': self.vcpus,
            'memory_mb': self.memory_mb,
            'disk_gb': self.disk_gb,
            'image_id': self.image_id,
            'metadata': dict(self.metadata),
            'devices': [device.to_dict() for device in self.devices],
            'config_drive': self.config_drive,
            'title': self.title,
            'password': self.password,
            **numa,
        }

    @classmethod
    def from_dict(cls, value: Json) -> Self:
        devices = tuple(Device.from_dict(device) for device in value['devices'])
        found = value.get('numa')
        numa = topology.Held.from_dict(found) if found else None
        return cls(**{**value, 'devices': devices, 'numa': numa})


@dataclasses.dataclass(frozen=True, slots=True)
class Guest:
    """A guest on a node. move: the last move in which it took part, or None

    started_at: time by a clock of the node; None: the guest does not run
    plugged: {device id: time by that clock} of devices that were plugged into the running guest
    """

    uuid: str
    node: str
    role: Role
    power_state: states.PowerState
    spec: GuestSpec
    rescued: bool = False
    move: str | None = None
    started_at: float | None = None
    plugged: Mapping[str, float] = dataclasses.field(default_factory=dict)

    def since(self, device: Device, now: float) -> float:
        """Return since when a device has been in the guest, which runs at `now`."""
        started = now if self.started_at is None else self.started_at
        return min(now, max(started, self.plugged.get(device.id, started)))

    @property
    def last_move(self) -> str:
        """Return the move of a departed or incoming guest."""
        if self.move is None:
            raise ValueError(f'guest {self.uuid} took part in no move')
        return self.move


# The error class of a job that ended because its node lost power.
POWER_LOST = 'HypervisorUnavailable'
# The error classes of jobs, which failures of a profile may have.
ERRORS = (
    'AbortRefused',
    'DestinationHypervisorTooOld',
    'DriverError',
    'GuestBusy',
    'GuestExists',
    'GuestNotFound',
    POWER_LOST,
    'InstanceInvalidState',
    'Interrupted',
    'InvalidCPUInfo',
    'InvalidHandover',
    'InvalidHypervisorType',
    'InvalidTicket',
    'MigrationAborted',
    'MigrationNotRunning',
    'MoveEnded',
    'NoCapacity',
    'UnableToMigrateToSelf',
)


@dataclasses.dataclass(frozen=True, slots=True)
class JobError:
    """The error of a failed job. reschedule: whether another node might succeed"""

    error_class: str
    message: str
    reschedule: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class Job:
    """One effect on one guest, identified by `key`.

    ready_in: seconds until the next useful poll; 0 after the end of the job
    progress: percent; result: see the method that started the job. A failed job has a result if
        its effect took place before the failure
    subject: the migration or the device of the job; '' for other verbs
    device: the interface that a running job attaches, or None
    """

    id: str
    guest: str
    node: str
    verb: Verb
    state: JobState
    ready_in: float = 0.0
    progress: int = 100
    result: Json = dataclasses.field(default_factory=dict)
    error: JobError | None = None
    subject: str = ''
    device: Device | None = None

    @property
    def failure(self) -> JobError:
        """Return the error of a job that failed."""
        if self.error is None:
            raise ValueError(f'job {self.id} has not failed')
        return self.error


@dataclasses.dataclass(frozen=True, slots=True)
class CpuStats:
    """The CPU time of a node since it was booted, of all of its CPUs together."""

    user_ns: int
    kernel_ns: int
    idle_ns: int
    iowait_ns: int
    frequency_mhz: int


@dataclasses.dataclass(frozen=True, slots=True)
class VolumeUsage:
    """The counters of a volume in a guest that runs.

    since: when they began at zero; at: the present; both by the clock of the node, in seconds
    """

    guest: str
    volume_id: str
    since: float
    at: float
    reads: int
    read_bytes: int
    writes: int
    write_bytes: int


@dataclasses.dataclass(frozen=True, slots=True)
class Inventory:
    """A node's total of one resource class, and the part that its profile reserves.

    reserved: None means the reserve in the compute daemon's configuration
    initial_ratio: allocation ratio of a new inventory; None means that of the configuration
    """

    total: int
    reserved: int | None = None
    initial_ratio: float | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class NestedProvider:
    """A resource provider below a node's, such as a network agent has.

    name: part of the name after the node's name; parent: name of its parent, None: the node
    totals: {resource class: amount}
    """

    name: str
    traits: tuple[str, ...]
    totals: dict[str, int]
    parent: str | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class NodeFacts:
    """The facts of a hypervisor.

    supported_instances: [(architecture, hypervisor type, vm mode)].
    traits: names of os-traits or CUSTOM_*.
    """

    hypervisor_hostname: str
    hypervisor_type: str
    hypervisor_version: int
    architecture: str
    host_ip: str
    booted_at: float
    cpu_info: Json
    supported_instances: tuple[tuple[str, str, str], ...]
    traits: tuple[str, ...]
