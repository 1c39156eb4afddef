"""The compute daemon: one queue per simulated host, on its cell's bus."""

import typing

from nova_lite import context
from nova_lite import rpc
from nova_lite.objects import block_device
from nova_lite.objects import instance as objects
from nova_lite.objects import selection

# A method of a move answers within two seconds; the rest is for a busy machine. A process
# that was killed with the call is silent, and asked again after less: users wait for it.
MOVE, SILENCE = 20, 8
# An image is uploaded, or fetched, in one go.
UPLOAD = 'long_rpc_timeout'

Ctxt: typing.TypeAlias = context.RequestContext
Instance: typing.TypeAlias = objects.Instance
Devices: typing.TypeAlias = list[block_device.BlockDevice]
# 'auto', 'none', or what each port is to be.
Networks: typing.TypeAlias = typing.Literal['auto', 'none'] | list[dict[str, typing.Any]]
# Plain values by name.
Json: typing.TypeAlias = dict[str, typing.Any]


class Arrival(typing.TypedDict):
    """The destination of a cold move, and the guest to make there. node: the host's"""

    node: str
    power_on: bool
    key: str


class HandedOver(Arrival):
    """The arrival of a guest whose disks the source has handed over."""

    handover: Json


class Uploaded(Arrival):
    """The arrival of a guest from the image of its disk; None: it boots from a volume."""

    image_id: str | None


class Returning(Arrival):
    """The return of a guest to the source of a move, the uuid of its migration."""

    move: str


class ComputeAPI(rpc.Interface):
    """Methods of a host that change its guests. `host` is the host addressed."""

    topic, version = 'compute', '1.0'
    server_argument = 'host'

    # ---- life ----

    @rpc.cast(since='1.0')
    def build_instance(
        self,
        ctxt: Ctxt,
        host: str,
        instance: Instance,
        *,
        selection: selection.Selection,
        block_devices: Devices,
        requested_networks: Networks,
        options: Json,
    ) -> None:
        """Spawn; the outcome goes to the cell conductor, which knows the alternates.

        instance: Instance; selection: the claim; block_devices: [BlockDevice, ...]
        requested_networks: 'auto', 'none' or [{'network_id', 'fixed_ip', 'port_id', 'tag'}]
        options: {'injected_files': [[path, base64 text], ...], 'retry': bool,
        'admin_pass': of a server with a config drive, 'group': absent or {'uuid', 'policy',
        'rules', 'members': [uuids of all its servers]}}
        """

    @rpc.cast(since='1.0')
    def external_instance_event(
        self, ctxt: Ctxt, host: str, instance_uuid: str, events: list[Json]
    ) -> None:
        """Report what has become of ports for which the build of a server waits.

        events: [{'tag': port id, 'status': 'completed', 'failed' or 'in-progress'}, ...]
        """

    @rpc.cast(since='1.0')
    def delete_instance(
        self, ctxt: Ctxt, host: str, instance: Instance, block_devices: Devices
    ) -> None:
        """Destroy the guest, give back ports, volumes and allocations, end the record."""

    # ---- power ----

    @rpc.cast(since='1.0')
    def start_instance(self, ctxt: Ctxt, host: str, instance: Instance) -> None:
        """Power on."""

    @rpc.cast(since='1.0')
    def stop_instance(self, ctxt: Ctxt, host: str, instance: Instance) -> None:
        """Power off."""

    @rpc.cast(since='1.0')
    def soft_delete_instance(self, ctxt: Ctxt, host: str, instance: Instance) -> None:
        """Power off; the guest is kept until it is restored or deleted."""

    @rpc.cast(since='1.0')
    def restore_instance(self, ctxt: Ctxt, host: str, instance: Instance) -> None:
        """Power on a soft-deleted guest."""

    @rpc.cast(since='1.0')
    def reboot_instance(self, ctxt: Ctxt, host: str, instance: Instance, reboot_type: str) -> None:
        """Reboot; reboot_type is SOFT or HARD, and HARD repairs a missing guest.

        A guest that is made again gets the devices that are on record then.
        """

    @rpc.cast(since='1.0')
    def pause_instance(self, ctxt: Ctxt, host: str, instance: Instance) -> None:
        """Stop the guest's CPUs; its memory stays."""

    @rpc.cast(since='1.0')
    def unpause_instance(self, ctxt: Ctxt, host: str, instance: Instance) -> None:
        """Unpause a guest."""

    @rpc.cast(since='1.0')
    def suspend_instance(self, ctxt: Ctxt, host: str, instance: Instance) -> None:
        """Save the guest's memory to disk and stop it."""

    @rpc.cast(since='1.0')
    def resume_instance(self, ctxt: Ctxt, host: str, instance: Instance) -> None:
        """Resume a suspended guest."""

    @rpc.cast(since='1.0')
    def rescue_instance(
        self, ctxt: Ctxt, host: str, instance: Instance, rescue_image_ref: str
    ) -> None:
        """Boot the guest from another image; its own disk is the second one."""

    @rpc.cast(since='1.0')
    def unrescue_instance(self, ctxt: Ctxt, host: str, instance: Instance) -> None:
        """Boot a rescued guest from its own disk again."""

    # ---- passwords ----

    @rpc.call(since='1.0')
    def check_set_admin_password(
        self, ctxt: Ctxt, host: str, instance_uuid: str, has_agent: bool
    ) -> None:
        """Raise unless a password can be set in the guest.

        has_agent: whether its image says that it has the QEMU guest agent
        Raises NotImplementedHere, GuestAgentNotEnabled, PasswordSetFailed.
        """

    @rpc.cast(since='1.0')
    def set_admin_password(self, ctxt: Ctxt, host: str, instance: Instance, password: str) -> None:
        """Set the administrator's password in the guest."""

    @rpc.call(since='1.0', timeout=MOVE, silence=SILENCE, fenced=True)
    def trigger_crash_dump(self, ctxt: Ctxt, host: str, instance: Instance, key: str) -> Json:
        """Send the guest a non-maskable interrupt; what that does is the guest's business.

        As cold moves: the same call with the same key asks again. Answers {'power_state'}.
        """

    # ---- devices ----
    #
    # As cold moves: the same call with the same key asks again.

    @rpc.call(since='1.0', timeout=MOVE, silence=SILENCE, fenced=True)
    def attach_volume(
        self,
        ctxt: Ctxt,
        host: str,
        instance: Instance,
        block_device: block_device.BlockDevice,
        key: str,
    ) -> Json:
        """Connect the host to a volume, plug it in, say that it is in use.

        block_device: BlockDevice with an attachment
        Answers {'connection_info'}. Raises MoveRefused when the host cannot reach it.
        """

    @rpc.call(since='1.0', timeout=MOVE, silence=SILENCE, fenced=True)
    def detach_volume(
        self, ctxt: Ctxt, host: str, instance: Instance, volume_id: str, key: str
    ) -> Json:
        """Unplug a volume; its attachment stays. One that is not there is no error.

        Answers {'detached'}: whether it was there.
        """

    @rpc.call(since='1.0', timeout=MOVE, silence=SILENCE, fenced=True)
    def swap_volume(
        self,
        ctxt: Ctxt,
        host: str,
        instance: Instance,
        *,
        old_volume_id: str,
        block_device: block_device.BlockDevice,
        key: str,
    ) -> Json:
        """Plug a volume in as attach_volume does, and unplug another.

        Answers {'connection_info', 'detached'}: see detach_volume.
        """

    @rpc.call(since='1.0', timeout=MOVE, silence=SILENCE, fenced=True)
    def attach_interface(
        self, ctxt: Ctxt, host: str, instance: Instance, vif: Json, key: str
    ) -> Json:
        """Plug a port in. vif: its entry of network information."""

    @rpc.call(since='1.0', timeout=MOVE, silence=SILENCE, fenced=True)
    def detach_interface(
        self, ctxt: Ctxt, host: str, instance: Instance, port_id: str, key: str
    ) -> Json:
        """Unplug a port, which stays bound. One that is not there is no error.

        Answers {'detached'}: whether it was there.
        """

    @rpc.cast(since='1.0')
    def drop_interface(self, ctxt: Ctxt, host: str, instance_uuid: str, port_id: str) -> None:
        """Unplug a port that its owner has deleted."""

    @rpc.call(since='1.0', timeout=MOVE, silence=SILENCE, fenced=True)
    def get_volume_connector(self, ctxt: Ctxt, host: str, node: str) -> Json:
        """Return the connector with which the volume service exports a volume to the node."""

    # ---- images ----

    @rpc.cast(since='1.0')
    def snapshot_instance(self, ctxt: Ctxt, host: str, instance: Instance, image_id: str) -> None:
        """Upload a copy of the guest's disk as the image, which exists as queued."""

    # ---- cold moves ----
    #
    # Each answers {'done': True, ...} or {'pending': seconds}; the same call with the same
    # key asks again. node: the host's; move: the migration's uuid.

    @rpc.call(since='1.0', timeout=MOVE, silence=SILENCE, fenced=True)
    def prep_resize(
        self, ctxt: Ctxt, host: str, instance: Instance, node: str, block_devices: Devices
    ) -> Json:
        """Destination: promise room and connect the volumes; changes no guest.

        instance: with the flavor to be; block_devices: with attachments of their own
        Raises NoCapacity, MoveRefused.
        """

    @rpc.call(since='1.0', timeout=MOVE, silence=SILENCE, fenced=True)
    def drop_move_claim_at_destination(
        self, ctxt: Ctxt, host: str, instance_uuid: str, node: str
    ) -> Json:
        """Destination: undo prep_resize."""

    @rpc.call(since='1.0', timeout=MOVE, silence=SILENCE, fenced=True)
    def resize_instance(
        self, ctxt: Ctxt, host: str, instance_uuid: str, node: str, move: str, key: str
    ) -> Json:
        """Source: stop the guest and hand it over. Answers {'handover': ...}."""

    @rpc.call(since='1.0', timeout=MOVE, silence=SILENCE, fenced=True)
    def finish_resize(
        self, ctxt: Ctxt, host: str, instance: Instance, block_devices: Devices, arrival: HandedOver
    ) -> Json:
        """Destination: make the guest from what the source handed over.

        instance, block_devices: as prep_resize
        Answers {'power_state', 'block_devices': [{'uuid', 'connection_info'}]}.
        """

    @rpc.call(since='1.0', timeout=MOVE, silence=SILENCE, fenced=True)
    def revert_resize(
        self, ctxt: Ctxt, host: str, instance_uuid: str, node: str, move: str, key: str
    ) -> Json:
        """Destination: remove the guest of a move that is reverted or undone."""

    @rpc.call(since='1.0', timeout=MOVE, silence=SILENCE, fenced=True)
    def finish_revert_resize(
        self,
        ctxt: Ctxt,
        host: str,
        instance_uuid: str,
        node: str,
        move: str,
        key: str,
        power_on: bool,
    ) -> Json:
        """Source: the guest is as it was before the move. Answers {'power_state'}."""

    @rpc.call(since='1.0', timeout=MOVE, silence=SILENCE, fenced=True)
    def restore_guest(
        self, ctxt: Ctxt, host: str, instance: Instance, block_devices: Devices, arrival: Returning
    ) -> Json:
        """Source: as finish_revert_resize, with the devices that the server has by now.

        instance: of the source; block_devices: with attachments for it
        Answers {'power_state', 'block_devices': [{'uuid', 'connection_info'}]}.
        """

    @rpc.call(since='1.0', timeout=MOVE, silence=SILENCE, fenced=True)
    def confirm_resize(
        self, ctxt: Ctxt, host: str, instance_uuid: str, node: str, move: str, key: str
    ) -> Json:
        """Source: remove what was kept of the guest."""

    @rpc.call(since='1.0', timeout=MOVE, silence=SILENCE, fenced=True)
    def discard_guest(
        self, ctxt: Ctxt, host: str, instance_uuid: str, node: str, move: str, key: str
    ) -> Json:
        """Either end: remove all there is of a server that was deleted while it moved."""

    # ---- cold moves between cells ----
    #
    # As cold moves, of which prep_resize, resize_instance and all that ends one serve
    # both kinds.

    @rpc.call(since='1.0', timeout=UPLOAD, fenced=True)
    def prep_snapshot_based_resize_at_source(
        self,
        ctxt: Ctxt,
        host: str,
        instance_uuid: str,
        *,
        node: str,
        image_id: str | None,
        key: str,
    ) -> Json:
        """Source: stop the guest and upload its disk to the image, which is queued.

        image_id: None for a server that boots from a volume
        """

    @rpc.call(since='1.0', timeout=MOVE, silence=SILENCE, fenced=True)
    def finish_snapshot_based_resize_at_dest(
        self, ctxt: Ctxt, host: str, instance: Instance, block_devices: Devices, arrival: Uploaded
    ) -> Json:
        """Destination: make the guest from the image.

        instance, block_devices: as prep_resize
        Answers {'power_state', 'block_devices': [{'uuid', 'connection_info'}]}.
        """

    # ---- live migration ----
    #
    # As cold moves. facts: of a node, as the driver's NodeFacts have them.

    @rpc.call(since='1.0', timeout=MOVE, silence=SILENCE, fenced=True)
    def check_can_live_migrate_destination(
        self, ctxt: Ctxt, host: str, instance: Instance, *, node: str, source: Json, key: str
    ) -> Json:
        """Check whether the guest could come. source: facts.

        Answers {'facts': this end's, 'block_migration': whether disks must be copied}.
        Raises MigrationPreCheckError.
        """

    @rpc.call(since='1.0', timeout=MOVE, silence=SILENCE, fenced=True)
    def check_can_live_migrate_source(
        self, ctxt: Ctxt, host: str, instance: Instance, *, dest: Json, key: str
    ) -> Json:
        """Check whether the guest could go. dest: facts. Answers and raises as the other end.

        Also answers {'max_concurrent': how many migrations may leave the host at once}.
        """

    @rpc.call(since='1.0', timeout=MOVE, silence=SILENCE, fenced=True)
    def take_live_migration_turn(
        self, ctxt: Ctxt, host: str, instance: Instance, move: str
    ) -> Json:
        """Source: wait until fewer migrations leave the host than may, then begin.

        Raises LiveMigrationAborted, here and in `live_migration`.
        """

    @rpc.call(since='1.0', timeout=MOVE, silence=SILENCE, fenced=True)
    def pre_live_migration(
        self,
        ctxt: Ctxt,
        host: str,
        instance: Instance,
        *,
        node: str,
        block_devices: Devices,
        move: str,
        key: str,
    ) -> Json:
        """Destination: claim, connect volumes, await the guest.

        block_devices: with attachments of their own
        Answers {'ticket', 'block_devices': [{'uuid', 'connection_info'}]}.
        Raises NoCapacity, MoveRefused.
        """

    @rpc.call(since='1.0', timeout=MOVE, silence=SILENCE, fenced=True)
    def live_migration(
        self,
        ctxt: Ctxt,
        host: str,
        instance: Instance,
        *,
        ticket: Json,
        block_migration: bool,
        move: str,
        key: str,
    ) -> Json:
        """Source: copy the running guest. Answers {'handover', counters in bytes}."""

    @rpc.call(since='1.0', timeout=MOVE, silence=SILENCE, fenced=True)
    def post_live_migration_at_destination(
        self,
        ctxt: Ctxt,
        host: str,
        instance: Instance,
        *,
        node: str,
        handover: Json,
        move: str,
        key: str,
    ) -> Json:
        """Destination: let the guest run. Answers {'power_state'}."""

    @rpc.call(since='1.0', timeout=MOVE, silence=SILENCE, fenced=True)
    def post_live_migration(
        self, ctxt: Ctxt, host: str, instance: Instance, *, move: str, key: str
    ) -> Json:
        """Source: remove what is left, once the copy has ended."""

    @rpc.call(since='1.0', timeout=MOVE, silence=SILENCE, fenced=True)
    def rollback_live_migration(
        self, ctxt: Ctxt, host: str, instance: Instance, *, move: str, key: str, gone: bool
    ) -> Json:
        """Source: the guest runs as if it never had been asked to leave.

        gone: the server was deleted, and nothing of it is to stay
        """

    @rpc.call(since='1.0', timeout=MOVE, silence=SILENCE, fenced=True)
    def rollback_live_migration_at_destination(
        self, ctxt: Ctxt, host: str, instance: Instance, *, node: str, move: str, key: str
    ) -> Json:
        """Destination: the guest is not awaited any more."""

    @rpc.cast(since='1.0')
    def live_migration_abort(
        self, ctxt: Ctxt, host: str, instance_uuid: str, migration_uuid: str
    ) -> None:
        """Source: abort the migration. The command is on record."""

    @rpc.cast(since='1.0')
    def live_migration_force_complete(
        self, ctxt: Ctxt, host: str, instance_uuid: str, migration_uuid: str
    ) -> None:
        """Source: force the copy to complete. The command is on record."""

    # ---- evacuation ----

    @rpc.call(since='1.0', timeout=MOVE, silence=SILENCE, fenced=True)
    def rebuild_instance(
        self,
        ctxt: Ctxt,
        host: str,
        instance: Instance,
        *,
        node: str,
        block_devices: Devices,
        power_on: bool,
        key: str,
    ) -> Json:
        """Destination: rebuild the guest whose host has failed.

        block_devices: with attachments of their own
        Answers {'power_state', 'block_devices': [{'uuid', 'connection_info'}]}.
        Raises NoCapacity, MoveRefused.
        """

    @rpc.call(since='1.0', timeout=MOVE, silence=SILENCE, fenced=True)
    def undo_rebuild(
        self, ctxt: Ctxt, host: str, instance: Instance, *, node: str, move: str, key: str
    ) -> Json:
        """Destination: undo rebuild_instance."""

    # ---- reading ----

    @rpc.call(since='1.0')
    def get_console_output(
        self, ctxt: Ctxt, host: str, instance_uuid: str, tail_length: int | None
    ) -> str:
        """Return the last `tail_length` lines (None for all) of the guest's serial console."""

    @rpc.call(since='1.0')
    def get_diagnostics(self, ctxt: Ctxt, host: str, instance_uuid: str) -> Json:
        """Counters of the guest, in the form of the API since 2.48.

        Raises InstanceInvalidState for a guest that does not run.
        """

    # ---- the host ----

    @rpc.call(since='1.0')
    def set_host_enabled(self, ctxt: Ctxt, host: str, enabled: bool) -> None:
        """Put or remove the trait COMPUTE_STATUS_DISABLED on the host's providers."""

    @rpc.call(since='1.0')
    def host_uptime(self, ctxt: Ctxt, host: str) -> str:
        """Return the hypervisor's `uptime` line."""

    @rpc.call(since='1.0', timeout=UPLOAD)
    def cache_images(self, ctxt: Ctxt, host: str, image_ids: list[str]) -> Json:
        """Keep images at hand. Answers {id: 'cached', 'existing' or 'error'}.

        Or {'pending': seconds}, for an image that is to be asked for once more.
        """


def queue_of(host: str) -> str:
    """Return the name of a host's queue, which its daemon consumes."""
    return f'{ComputeAPI.topic}.{host}'
