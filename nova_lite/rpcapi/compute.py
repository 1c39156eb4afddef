"""The compute daemon: one queue per simulated host, on its cell's bus."""

from nova_lite import rpc


class ComputeAPI(rpc.Interface):
    """What a host does to its guests. `host` is the host addressed."""

    topic, version = 'compute', '1.0'
    server_argument = 'host'

    # ---- life ----

    @rpc.cast(since='1.0')
    def build_instance(
        self,
        ctxt,
        host,
        instance,
        image,
        selection,
        alternates,
        block_devices,
        requested_networks,
        options,
    ):
        """Spawn; the outcome goes to the cell conductor.

        instance: Instance; image: ImageMeta or None; selection: the claim;
        alternates: [Selection, ...]; block_devices: [BlockDevice, ...]
        requested_networks: 'auto', 'none' or [{'network_id', 'fixed_ip', 'port_id', 'tag'}]
        options: {'injected_files': [...], 'retry': bool, 'group': absent or {'uuid',
        'policy', 'rules', 'members': [uuids of all its servers]}}
        """

    @rpc.cast(since='1.0')
    def delete_instance(self, ctxt, host, instance, block_devices):
        """Destroy the guest, give back ports, volumes and allocations, end the record."""

    # ---- power ----

    @rpc.cast(since='1.0')
    def start_instance(self, ctxt, host, instance):
        """Power on."""

    @rpc.cast(since='1.0')
    def stop_instance(self, ctxt, host, instance):
        """Power off."""

    @rpc.cast(since='1.0')
    def soft_delete_instance(self, ctxt, host, instance):
        """Power off; the guest is kept until it is restored or deleted."""

    @rpc.cast(since='1.0')
    def restore_instance(self, ctxt, host, instance):
        """Power on a soft-deleted guest."""

    @rpc.cast(since='1.0')
    def reboot_instance(self, ctxt, host, instance, reboot_type, block_devices):
        """Reboot; reboot_type is SOFT or HARD, and HARD repairs a missing guest."""

    @rpc.cast(since='1.0')
    def pause_instance(self, ctxt, host, instance):
        """Stop the guest's CPUs; its memory stays."""

    @rpc.cast(since='1.0')
    def unpause_instance(self, ctxt, host, instance):
        """Let a paused guest go on."""

    @rpc.cast(since='1.0')
    def suspend_instance(self, ctxt, host, instance):
        """Save the guest's memory to disk and stop it."""

    @rpc.cast(since='1.0')
    def resume_instance(self, ctxt, host, instance):
        """Let a suspended guest go on."""

    @rpc.cast(since='1.0')
    def rescue_instance(self, ctxt, host, instance, rescue_image_ref):
        """Boot the guest from another image; its own disk is the second one."""

    @rpc.cast(since='1.0')
    def unrescue_instance(self, ctxt, host, instance):
        """Boot a rescued guest from its own disk again."""

    # ---- images ----

    @rpc.cast(since='1.0')
    def snapshot_instance(self, ctxt, host, instance, image_id):
        """Upload a copy of the guest's disk as the image, which exists as queued."""

    # ---- reading ----

    @rpc.call(since='1.0')
    def get_console_output(self, ctxt, host, instance_uuid, tail_length):
        """The last `tail_length` lines (None for all) of the guest's serial console."""

    @rpc.call(since='1.0')
    def get_diagnostics(self, ctxt, host, instance_uuid):
        """Counters of the guest, in the form of the API since 2.48."""

    # ---- the host ----

    @rpc.call(since='1.0')
    def set_host_enabled(self, ctxt, host, enabled):
        """Put or remove the trait COMPUTE_STATUS_DISABLED on the host's providers."""

    @rpc.call(since='1.0')
    def host_uptime(self, ctxt, host):
        """The hypervisor's `uptime` line."""
