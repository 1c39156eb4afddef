"""Signatures about a guest as a whole: its life, power, passwords, images and console."""

from nova_lite import rpc
from nova_lite.objects import selection
from nova_lite.rpc.methods.compute import arguments


class Guests:
    """Methods about one guest, which no move and no change of a device calls."""

    @rpc.cast(since='1.0')
    def build_instance(
        self,
        ctxt: arguments.Ctxt,
        host: str,
        instance: arguments.Instance,
        *,
        selection: selection.Selection,
        block_devices: arguments.Devices,
        requested_networks: arguments.Networks,
        options: arguments.Json,
    ) -> None:
        """Build the server. The host reports the result to the cell conductor.

        instance: Instance; selection: Selection of the claim; block_devices: [BlockDevice, ...]
        requested_networks: 'auto', 'none' or [{'network_id', 'fixed_ip', 'port_id', 'tag'}]
        options: {'injected_files': [[path, base64 text], ...], 'retry': bool,
        'admin_pass': only with a config drive, 'group': absent or {'uuid', 'policy',
        'rules', 'members': [uuids of all its servers]}}
        """

    @rpc.cast(since='1.0')
    def build_instances(
        self, ctxt: arguments.Ctxt, host: str, builds: list[arguments.Json]
    ) -> None:
        """Build several servers of the host, as `build_instance`, at the same time.

        builds: [{'context': that of RequestContext.to_wire, and the arguments of
            `build_instance` by name}, ...]
        """

    @rpc.cast(since='1.0')
    def external_instance_event(
        self, ctxt: arguments.Ctxt, host: str, instance_uuid: str, events: list[arguments.Json]
    ) -> None:
        """Report events about ports for which the build of a server waits.

        events: [{'tag': port id, 'status': 'completed', 'failed' or 'in-progress'}, ...]
        """

    @rpc.cast(since='1.0')
    def delete_instance(
        self, ctxt: arguments.Ctxt, host: str, instance: arguments.Instance
    ) -> None:
        """Destroy the guest, release its ports, volumes and allocations, and delete the record.

        instance: may have only the fields of Instance.for_deletion
        """

    @rpc.cast(since='1.0')
    def delete_instances(
        self, ctxt: arguments.Ctxt, host: str, deletions: list[arguments.Json]
    ) -> None:
        """Delete several servers of the host, as `delete_instance`, at the same time.

        deletions: [{'context': that of RequestContext.to_wire, 'instance'}, ...]
        """

    @rpc.cast(since='1.0')
    def start_instance(self, ctxt: arguments.Ctxt, host: str, instance: arguments.Instance) -> None:
        """Power on the guest."""

    @rpc.cast(since='1.0')
    def stop_instance(self, ctxt: arguments.Ctxt, host: str, instance: arguments.Instance) -> None:
        """Power off the guest."""

    @rpc.cast(since='1.0')
    def power_update(
        self,
        ctxt: arguments.Ctxt,
        host: str,
        instance: arguments.Instance,
        target_power_state: str,
    ) -> None:
        """Power the guest on or off, because an event says so, which the API has recorded.

        target_power_state: POWER_ON or POWER_OFF
        """

    @rpc.cast(since='1.0')
    def soft_delete_instance(
        self, ctxt: arguments.Ctxt, host: str, instance: arguments.Instance
    ) -> None:
        """Power off the guest, which is kept until the server is restored or deleted."""

    @rpc.cast(since='1.0')
    def restore_instance(
        self, ctxt: arguments.Ctxt, host: str, instance: arguments.Instance
    ) -> None:
        """Power on the guest of a soft-deleted server."""

    @rpc.cast(since='1.0')
    def reboot_instance(
        self, ctxt: arguments.Ctxt, host: str, instance: arguments.Instance, reboot_type: str
    ) -> None:
        """Reboot the guest. reboot_type: SOFT or HARD, which creates a missing guest again

        A guest that is created again gets the devices that are recorded at that time.
        """

    @rpc.cast(since='1.0')
    def pause_instance(self, ctxt: arguments.Ctxt, host: str, instance: arguments.Instance) -> None:
        """Stop the guest's CPUs and keep its memory."""

    @rpc.cast(since='1.0')
    def unpause_instance(
        self, ctxt: arguments.Ctxt, host: str, instance: arguments.Instance
    ) -> None:
        """Unpause a guest."""

    @rpc.cast(since='1.0')
    def suspend_instance(
        self, ctxt: arguments.Ctxt, host: str, instance: arguments.Instance
    ) -> None:
        """Save the guest's memory to disk and stop it."""

    @rpc.cast(since='1.0')
    def resume_instance(
        self, ctxt: arguments.Ctxt, host: str, instance: arguments.Instance
    ) -> None:
        """Resume a suspended guest."""

    @rpc.cast(since='1.0')
    def rescue_instance(
        self, ctxt: arguments.Ctxt, host: str, instance: arguments.Instance, rescue_image_ref: str
    ) -> None:
        """Boot the guest from another image. Its own disk becomes the second disk."""

    @rpc.cast(since='1.0')
    def unrescue_instance(
        self, ctxt: arguments.Ctxt, host: str, instance: arguments.Instance
    ) -> None:
        """Boot a rescued guest from its own disk again."""

    @rpc.call(since='1.0')
    def check_set_admin_password(
        self, ctxt: arguments.Ctxt, host: str, instance_uuid: str, has_agent: bool
    ) -> None:
        """Raise unless a password can be set in the guest.

        has_agent: whether the image has the property of the QEMU guest agent
        Raises NotImplementedHere, GuestAgentNotEnabled, PasswordSetFailed.
        """

    @rpc.cast(since='1.0')
    def set_admin_password(
        self, ctxt: arguments.Ctxt, host: str, instance: arguments.Instance, password: str
    ) -> None:
        """Set the administrator's password in the guest."""

    @rpc.call(since='1.0', timeout=arguments.MOVE, silence=arguments.SILENCE, fenced=True)
    def trigger_crash_dump(
        self, ctxt: arguments.Ctxt, host: str, instance: arguments.Instance, key: str
    ) -> arguments.Json:
        """Send a non-maskable interrupt to the guest. The guest decides about its effect.

        A repeated call with the same key polls, as for cold moves. Replies {'power_state'}.
        """

    @rpc.cast(since='1.0')
    def snapshot_instance(
        self, ctxt: arguments.Ctxt, host: str, instance: arguments.Instance, image_id: str
    ) -> None:
        """Upload a copy of the guest's disk to the queued image."""

    @rpc.call(since='1.0')
    def get_console_output(
        self, ctxt: arguments.Ctxt, host: str, instance_uuid: str, tail_length: int | None
    ) -> str:
        """Return the last `tail_length` lines (None for all) of the guest's serial console."""

    @rpc.call(since='1.0')
    def get_diagnostics(
        self, ctxt: arguments.Ctxt, host: str, instance_uuid: str
    ) -> arguments.Json:
        """Return counters of the guest, in the format of the API since 2.48.

        Raises InstanceInvalidState if the guest does not run.
        """
