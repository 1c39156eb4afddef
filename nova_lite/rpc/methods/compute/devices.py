"""Signatures about volumes and ports of guests.

They reply as those of cold moves: a repeated call with the same key polls.
"""

from nova_lite import rpc
from nova_lite.objects import block_device
from nova_lite.rpc.methods.compute import arguments


class Devices:
    """Methods that plug devices in and out."""

    @rpc.call(since='1.0', timeout=arguments.MOVE, silence=arguments.SILENCE, fenced=True)
    def attach_volume(
        self,
        ctxt: arguments.Ctxt,
        host: str,
        instance: arguments.Instance,
        block_device: block_device.BlockDevice,
        key: str,
    ) -> arguments.Json:
        """Connect the host to a volume, plug the volume in, and complete its attachment.

        block_device: BlockDevice with an attachment
        Replies {'connection_info'}. Raises MoveRefused if the host cannot reach the volume.
        """

    @rpc.call(since='1.0', timeout=arguments.MOVE, silence=arguments.SILENCE, fenced=True)
    def detach_volume(
        self,
        ctxt: arguments.Ctxt,
        host: str,
        instance: arguments.Instance,
        volume_id: str,
        key: str,
    ) -> arguments.Json:
        """Unplug a volume and keep its attachment. An absent volume is no error.

        Replies {'detached': whether the guest had the volume}.
        """

    @rpc.call(since='1.0', timeout=arguments.MOVE, silence=arguments.SILENCE, fenced=True)
    def swap_volume(
        self,
        ctxt: arguments.Ctxt,
        host: str,
        instance: arguments.Instance,
        *,
        old_volume_id: str,
        block_device: block_device.BlockDevice,
        key: str,
    ) -> arguments.Json:
        """Plug a volume in as attach_volume does, and unplug the old volume.

        Replies {'connection_info', 'detached'}: see attach_volume and detach_volume.
        """

    @rpc.call(since='1.0', timeout=arguments.MOVE, silence=arguments.SILENCE, fenced=True)
    def attach_interface(
        self,
        ctxt: arguments.Ctxt,
        host: str,
        instance: arguments.Instance,
        vif: arguments.Json,
        key: str,
    ) -> arguments.Json:
        """Plug a port in. vif: its entry of network information."""

    @rpc.call(since='1.0', timeout=arguments.MOVE, silence=arguments.SILENCE, fenced=True)
    def detach_interface(
        self, ctxt: arguments.Ctxt, host: str, instance: arguments.Instance, port_id: str, key: str
    ) -> arguments.Json:
        """Unplug a port, which stays bound. An absent port is no error.

        Replies {'detached': whether the guest had the port}.
        """

    @rpc.cast(since='1.0')
    def drop_interface(
        self, ctxt: arguments.Ctxt, host: str, instance_uuid: str, port_id: str
    ) -> None:
        """Unplug a port that its owner has deleted."""

    @rpc.call(since='1.0', timeout=arguments.MOVE, silence=arguments.SILENCE, fenced=True)
    def get_volume_connector(self, ctxt: arguments.Ctxt, host: str, node: str) -> arguments.Json:
        """Return the connector with which the volume service exports a volume to the node."""
