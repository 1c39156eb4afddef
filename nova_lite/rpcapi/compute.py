"""The compute daemon: one queue per simulated host, on its cell's bus."""

from nova_lite import rpc


class ComputeAPI(rpc.Interface):
    """What a host does to its guests. `host` is the host addressed."""

    topic, version = 'compute', '1.0'
    server_argument = 'host'

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
        options: {'injected_files': [...], 'group': {'uuid', 'policy', 'rules'} or absent,
        'retry': bool}
        """

    @rpc.cast(since='1.0')
    def delete_instance(self, ctxt, host, instance, block_devices):
        """Destroy the guest, give back ports, volumes and allocations, end the record."""

    @rpc.cast(since='1.0')
    def start_instance(self, ctxt, host, instance):
        """Power on."""

    @rpc.cast(since='1.0')
    def stop_instance(self, ctxt, host, instance):
        """Power off."""

    @rpc.cast(since='1.0')
    def reboot_instance(self, ctxt, host, instance, reboot_type, block_devices):
        """Reboot; reboot_type is SOFT or HARD, and HARD repairs a missing guest."""

    @rpc.call(since='1.0')
    def set_host_enabled(self, ctxt, host, enabled):
        """Put or remove the trait COMPUTE_STATUS_DISABLED on the host's providers."""

    @rpc.call(since='1.0')
    def host_uptime(self, ctxt, host):
        """The hypervisor's `uptime` line."""
