"""Signatures about rebuilds of guests whose host has failed.

They reply as those of cold moves: a repeated call with the same key polls.
"""

from nova_lite import rpc
from nova_lite.rpc.methods.compute import arguments


class Evacuation:
    """Methods of the destination of an evacuation."""

    @rpc.call(since='1.0', timeout=arguments.MOVE, silence=arguments.SILENCE, fenced=True)
    def rebuild_instance(
        self,
        ctxt: arguments.Ctxt,
        host: str,
        instance: arguments.Instance,
        *,
        node: str,
        block_devices: arguments.Devices,
        power_on: bool,
        key: str,
    ) -> arguments.Json:
        """Destination: rebuild a guest whose host has failed.

        block_devices: with attachments for the destination
        Replies {'power_state', 'block_devices': [{'uuid', 'connection_info'}]}.
        Raises NoCapacity, MoveRefused.
        """

    @rpc.call(since='1.0', timeout=arguments.MOVE, silence=arguments.SILENCE, fenced=True)
    def undo_rebuild(
        self,
        ctxt: arguments.Ctxt,
        host: str,
        instance: arguments.Instance,
        *,
        node: str,
        move: str,
        key: str,
    ) -> arguments.Json:
        """Destination: undo rebuild_instance."""
