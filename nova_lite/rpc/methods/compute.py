"""The compute daemon: one queue per simulated host, on its cell's bus."""

import typing

from nova_lite import context
from nova_lite import rpc
from nova_lite.objects import block_device
from nova_lite.objects import instance as objects
from nova_lite.objects import selection

# Timeout of methods of moves, which reply within two seconds unless the machine is busy. A process
# that was killed sends no RPC heartbeat, and the call is repeated after a shorter time.
MOVE, SILENCE = 20, 8
# Timeout of methods that upload or download a whole image.
UPLOAD = 'long_rpc_timeout'

Ctxt: typing.TypeAlias = context.RequestContext
Instance: typing.TypeAlias = objects.Instance
Devices: typing.TypeAlias = list[block_device.BlockDevice]
# 'auto', 'none', or [{'network_id', 'fixed_ip', 'port_id', 'tag'}].
Networks: typing.TypeAlias = typing.Literal['auto', 'none'] | list[dict[str, typing.Any]]
# {name: plain value}
Json: typing.TypeAlias = dict[str, typing.Any]


class Arrival(typing.TypedDict):
    """The destination of a cold move, and the guest to create there. node: a node of the host"""

    node: str
    power_on: bool
    key: str


class HandedOver(Arrival):
    """The arrival of a guest whose disks the source has handed over."""

    handover: Json


class Uploaded(Arrival):
    """The arrival of a guest from the image of its disk. None: it boots from a volume"""

    image_id: str | None


class Returning(Arrival):
    """The return of a guest to the source of a move. move: the migration's uuid"""

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
        """Build the server. The host reports the result to the cell conductor.

        instance: Instance; selection: Selection of the claim; block_devices: [BlockDevice, ...]
        requested_networks: 'auto', 'none' or [{'network_id', 'fixed_ip', 'port_id', 'tag'}]
        options: {'injected_files': [[path, base64 text], ...], 'retry': bool,
        'admin_pass': only with a config drive, 'group': absent or {'uuid', 'policy',
        'rules', 'members': [uuids of all its servers]}}
        """

    @rpc.cast(since='1.0')
    def external_instance_event(
        self, ctxt: Ctxt, host: str, instance_uuid: str, events: list[Json]
    ) -> None:
        """Report events about ports for which the build of a server waits.

        events: [{'tag': port id, 'status': 'completed', 'failed' or 'in-progress'}, ...]
        """

    @rpc.cast(since='1.0')
    def delete_instance(
        self, ctxt: Ctxt, host: str, instance: Instance, block_devices: Devices
    ) -> None:
        """Destroy the guest, release its ports, volumes and allocations, and delete the record."""

    # ---- power ----

    @rpc.cast(since='1.0')
    def start_instance(self, ctxt: Ctxt, host: str, instance: Instance) -> None:
        """Power on the guest."""

    @rpc.cast(since='1.0')
    def stop_instance(self, ctxt: Ctxt, host: str, instance: Instance) -> None:
        """Power off the guest."""

    @rpc.cast(since='1.0')
    def soft_delete_instance(self, ctxt: Ctxt, host: str, instance: Instance) -> None:
        """Power off the guest, which is kept until the server is restored or deleted."""

    @rpc.cast(since='1.0')
    def restore_instance(self, ctxt: Ctxt, host: str, instance: Instance) -> None:
        """Power on the guest of a soft-deleted server."""

    @rpc.cast(since='1.0')
    def reboot_instance(self, ctxt: Ctxt, host: str, instance: Instance, reboot_type: str) -> None:
        """Reboot the guest. reboot_type: SOFT or HARD, which creates a missing guest again

        A guest that is created again gets the devices that are recorded at that time.
        """

    @rpc.cast(since='1.0')
    def pause_instance(self, ctxt: Ctxt, host: str, instance: Instance) -> None:
        """Stop the guest's CPUs and keep its memory."""

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
        """Boot the guest from another image. Its own disk becomes the second disk."""

    @rpc.cast(since='1.0')
    def unrescue_instance(self, ctxt: Ctxt, host: str, instance: Instance) -> None:
        """Boot a rescued guest from its own disk again."""

    # ---- passwords ----

    @rpc.call(since='1.0')
    def check_set_admin_password(
        self, ctxt: Ctxt, host: str, instance_uuid: str, has_agent: bool
    ) -> None:
        """Raise unless a password can be set in the guest.

        has_agent: whether the image has the property of the QEMU guest agent
        Raises NotImplementedHere, GuestAgentNotEnabled, PasswordSetFailed.
        """

    @rpc.cast(since='1.0')
    def set_admin_password(self, ctxt: Ctxt, host: str, instance: Instance, password: str) -> None:
        """Set the administrator's password in the guest."""

    @rpc.call(since='1.0', timeout=MOVE, silence=SILENCE, fenced=True)
    def trigger_crash_dump(self, ctxt: Ctxt, host: str, instance: Instance, key: str) -> Json:
        """Send a non-maskable interrupt to the guest. The guest decides about its effect.

        A repeated call with the same key polls, as for cold moves. Replies {'power_state'}.
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
        """Connect the host to a volume, plug the volume in, and complete its attachment.

        block_device: BlockDevice with an attachment
        Replies {'connection_info'}. Raises MoveRefused if the host cannot reach the volume.
        """

    @rpc.call(since='1.0', timeout=MOVE, silence=SILENCE, fenced=True)
    def detach_volume(
        self, ctxt: Ctxt, host: str, instance: Instance, volume_id: str, key: str
    ) -> Json:
        """Unplug a volume and keep its attachment. An absent volume is no error.

        Replies {'detached': whether the guest had the volume}.
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
        """Plug a volume in as attach_volume does, and unplug the old volume.

        Replies {'connection_info', 'detached'}: see attach_volume and detach_volume.
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
        """Unplug a port, which stays bound. An absent port is no error.

        Replies {'detached': whether the guest had the port}.
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
        """Upload a copy of the guest's disk to the queued image."""

    # ---- cold moves ----
    #
    # Each method replies {'done': True, ...} or {'pending': seconds}; a repeated call with the same
    # key polls. node: a node of the host; move: the migration's uuid.

    @rpc.call(since='1.0', timeout=MOVE, silence=SILENCE, fenced=True)
    def prep_resize(
        self, ctxt: Ctxt, host: str, instance: Instance, node: str, block_devices: Devices
    ) -> Json:
        """Destination: claim resources and connect the volumes, without any change of a guest.

        instance: with the new flavor; block_devices: with attachments for the destination
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
        """Source: stop the guest and hand it over. Replies {'handover': ...}."""

    @rpc.call(since='1.0', timeout=MOVE, silence=SILENCE, fenced=True)
    def finish_resize(
        self, ctxt: Ctxt, host: str, instance: Instance, block_devices: Devices, arrival: HandedOver
    ) -> Json:
        """Destination: create the guest from the disks that the source handed over.

        instance, block_devices: see prep_resize
        Replies {'power_state', 'block_devices': [{'uuid', 'connection_info'}]}.
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
        """Source: restore the guest as it was before the move. Replies {'power_state'}."""

    @rpc.call(since='1.0', timeout=MOVE, silence=SILENCE, fenced=True)
    def restore_guest(
        self, ctxt: Ctxt, host: str, instance: Instance, block_devices: Devices, arrival: Returning
    ) -> Json:
        """Source: as finish_revert_resize, with the current devices of the server.

        instance: with the source's flavor; block_devices: with attachments for the source
        Replies {'power_state', 'block_devices': [{'uuid', 'connection_info'}]}.
        """

    @rpc.call(since='1.0', timeout=MOVE, silence=SILENCE, fenced=True)
    def confirm_resize(
        self, ctxt: Ctxt, host: str, instance_uuid: str, node: str, move: str, key: str
    ) -> Json:
        """Source: remove the guest that was kept."""

    @rpc.call(since='1.0', timeout=MOVE, silence=SILENCE, fenced=True)
    def discard_guest(
        self, ctxt: Ctxt, host: str, instance_uuid: str, node: str, move: str, key: str
    ) -> Json:
        """Either end: remove the guest of a server that was deleted during its move."""

    # ---- cold moves between cells ----
    #
    # As cold moves. prep_resize, resize_instance and the methods that end a move serve both
    # kinds.

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
        """Destination: create the guest from the image.

        instance, block_devices: see prep_resize
        Replies {'power_state', 'block_devices': [{'uuid', 'connection_info'}]}.
        """

    # ---- live migration ----
    #
    # As cold moves. source, dest: the driver's NodeFacts of that node, as a dict.

    @rpc.call(since='1.0', timeout=MOVE, silence=SILENCE, fenced=True)
    def check_can_live_migrate_destination(
        self, ctxt: Ctxt, host: str, instance: Instance, *, node: str, source: Json, key: str
    ) -> Json:
        """Check whether the destination accepts the guest. source: NodeFacts of the source

        Replies {'facts': of this node, 'block_migration': whether disks must be copied}.
        Raises MigrationPreCheckError.
        """

    @rpc.call(since='1.0', timeout=MOVE, silence=SILENCE, fenced=True)
    def check_can_live_migrate_source(
        self, ctxt: Ctxt, host: str, instance: Instance, *, dest: Json, key: str
    ) -> Json:
        """Check whether the guest can leave the source. dest: NodeFacts of the destination

        Replies and errors are those of check_can_live_migrate_destination, with {'max_concurrent':
        number of migrations that may leave the host at the same time}.
        """

    @rpc.call(since='1.0', timeout=MOVE, silence=SILENCE, fenced=True)
    def take_live_migration_turn(
        self, ctxt: Ctxt, host: str, instance: Instance, move: str
    ) -> Json:
        """Source: wait until fewer migrations than the limit leave the host.

        Raises LiveMigrationAborted, as `live_migration` does.
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
        """Destination: claim resources, connect volumes, prepare for the guest.

        block_devices: with attachments for the destination
        Replies {'ticket', 'block_devices': [{'uuid', 'connection_info'}]}.
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
        """Source: copy the running guest. Replies {'handover', counters in bytes}."""

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
        """Destination: start the guest. Replies {'power_state'}."""

    @rpc.call(since='1.0', timeout=MOVE, silence=SILENCE, fenced=True)
    def post_live_migration(
        self, ctxt: Ctxt, host: str, instance: Instance, *, move: str, key: str
    ) -> Json:
        """Source: remove the guest after the end of the copy."""

    @rpc.call(since='1.0', timeout=MOVE, silence=SILENCE, fenced=True)
    def rollback_live_migration(
        self, ctxt: Ctxt, host: str, instance: Instance, *, move: str, key: str, gone: bool
    ) -> Json:
        """Source: run the guest as before the migration.

        gone: the server was deleted, so remove the guest
        """

    @rpc.call(since='1.0', timeout=MOVE, silence=SILENCE, fenced=True)
    def rollback_live_migration_at_destination(
        self, ctxt: Ctxt, host: str, instance: Instance, *, node: str, move: str, key: str
    ) -> Json:
        """Destination: undo pre_live_migration."""

    @rpc.cast(since='1.0')
    def live_migration_abort(
        self, ctxt: Ctxt, host: str, instance_uuid: str, migration_uuid: str
    ) -> None:
        """Source: abort the migration. The command is recorded."""

    @rpc.cast(since='1.0')
    def live_migration_force_complete(
        self, ctxt: Ctxt, host: str, instance_uuid: str, migration_uuid: str
    ) -> None:
        """Source: force the copy to complete. The command is recorded."""

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
        """Destination: rebuild a guest whose host has failed.

        block_devices: with attachments for the destination
        Replies {'power_state', 'block_devices': [{'uuid', 'connection_info'}]}.
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
        """Return counters of the guest, in the format of the API since 2.48.

        Raises InstanceInvalidState if the guest does not run.
        """

    @rpc.call(since='1.0', timeout=MOVE, silence=SILENCE)
    def guest_ports(self, ctxt: Ctxt, host: str) -> dict[str, list[str]]:
        """Return {uuid: ids of the ports} of the guests of the host, without those that move."""

    # ---- the host ----

    @rpc.call(since='1.0')
    def set_host_enabled(self, ctxt: Ctxt, host: str, enabled: bool) -> None:
        """Set or remove the trait COMPUTE_STATUS_DISABLED of the host's providers."""

    @rpc.call(since='1.0')
    def host_uptime(self, ctxt: Ctxt, host: str) -> str:
        """Return the hypervisor's `uptime` line."""

    @rpc.call(since='1.0', timeout=UPLOAD)
    def cache_images(self, ctxt: Ctxt, host: str, image_ids: list[str]) -> Json:
        """Cache images on the host. Replies {image id: 'cached', 'existing' or 'error'}.

        The value is {'pending': seconds} for an image whose result must be polled.
        """


def queue_of(host: str) -> str:
    """Return the name of a host's queue, which its daemon consumes."""
    return f'{ComputeAPI.topic}.{host}'
