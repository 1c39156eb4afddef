"""Signatures about cold moves, within a cell and between cells.

Each method replies {'done': True, ...} or {'pending': seconds}; a repeated call with the same key
polls. node: a node of the host; move: the migration's uuid.
"""

from nova_lite import rpc
from nova_lite.rpc.methods.compute import arguments


class ColdMoves:
    """Methods of the source and the destination of a resize, a cold migration or an unshelve."""

    @rpc.call(since='1.0', timeout=arguments.MOVE, silence=arguments.SILENCE, fenced=True)
    def prep_resize(
        self,
        ctxt: arguments.Ctxt,
        host: str,
        instance: arguments.Instance,
        node: str,
        block_devices: arguments.Devices,
    ) -> arguments.Json:
        """Destination: claim resources and connect the volumes, without any change of a guest.

        instance: with the new flavor; block_devices: with attachments for the destination
        Raises NoCapacity, MoveRefused.
        """

    @rpc.call(since='1.0', timeout=arguments.MOVE, silence=arguments.SILENCE, fenced=True)
    def drop_move_claim_at_destination(
        self, ctxt: arguments.Ctxt, host: str, instance_uuid: str, node: str
    ) -> arguments.Json:
        """Destination: undo prep_resize."""

    @rpc.call(since='1.0', timeout=arguments.MOVE, silence=arguments.SILENCE, fenced=True)
    def resize_instance(
        self, ctxt: arguments.Ctxt, host: str, instance_uuid: str, node: str, move: str, key: str
    ) -> arguments.Json:
        """Source: stop the guest and hand it over. Replies {'handover': ...}."""

    @rpc.call(since='1.0', timeout=arguments.MOVE, silence=arguments.SILENCE, fenced=True)
    def finish_resize(
        self,
        ctxt: arguments.Ctxt,
        host: str,
        instance: arguments.Instance,
        block_devices: arguments.Devices,
        arrival: arguments.HandedOver,
    ) -> arguments.Json:
        """Destination: create the guest from the disks that the source handed over.

        instance, block_devices: see prep_resize
        Replies {'power_state', 'block_devices': [{'uuid', 'connection_info'}]}.
        """

    @rpc.call(since='1.0', timeout=arguments.MOVE, silence=arguments.SILENCE, fenced=True)
    def revert_resize(
        self, ctxt: arguments.Ctxt, host: str, instance_uuid: str, node: str, move: str, key: str
    ) -> arguments.Json:
        """Destination: remove the guest of a move that is reverted or undone."""

    @rpc.call(since='1.0', timeout=arguments.MOVE, silence=arguments.SILENCE, fenced=True)
    def finish_revert_resize(
        self,
        ctxt: arguments.Ctxt,
        host: str,
        instance_uuid: str,
        node: str,
        move: str,
        key: str,
        power_on: bool,
    ) -> arguments.Json:
        """Source: restore the guest as it was before the move. Replies {'power_state'}."""

    @rpc.call(since='1.0', timeout=arguments.MOVE, silence=arguments.SILENCE, fenced=True)
    def restore_guest(
        self,
        ctxt: arguments.Ctxt,
        host: str,
        instance: arguments.Instance,
        block_devices: arguments.Devices,
        arrival: arguments.Returning,
    ) -> arguments.Json:
        """Source: as finish_revert_resize, with the current devices of the server.

        instance: with the source's flavor; block_devices: with attachments for the source
        Replies {'power_state', 'block_devices': [{'uuid', 'connection_info'}]}.
        """

    @rpc.call(since='1.0', timeout=arguments.MOVE, silence=arguments.SILENCE, fenced=True)
    def confirm_resize(
        self, ctxt: arguments.Ctxt, host: str, instance_uuid: str, node: str, move: str, key: str
    ) -> arguments.Json:
        """Source: remove the guest that was kept."""

    @rpc.call(since='1.0', timeout=arguments.MOVE, silence=arguments.SILENCE, fenced=True)
    def discard_guest(
        self, ctxt: arguments.Ctxt, host: str, instance_uuid: str, node: str, move: str, key: str
    ) -> arguments.Json:
        """Either end: remove the guest of a server that was deleted during its move."""

    @rpc.call(since='1.0', timeout=arguments.UPLOAD, fenced=True)
    def prep_snapshot_based_resize_at_source(
        self,
        ctxt: arguments.Ctxt,
        host: str,
        instance_uuid: str,
        *,
        node: str,
        image_id: str | None,
        key: str,
    ) -> arguments.Json:
        """Source: stop the guest and upload its disk to the image, which is queued.

        image_id: None for a server that boots from a volume
        """

    @rpc.call(since='1.0', timeout=arguments.MOVE, silence=arguments.SILENCE, fenced=True)
    def finish_snapshot_based_resize_at_dest(
        self,
        ctxt: arguments.Ctxt,
        host: str,
        instance: arguments.Instance,
        block_devices: arguments.Devices,
        arrival: arguments.Uploaded,
    ) -> arguments.Json:
        """Destination: create the guest from the image.

        instance, block_devices: see prep_resize
        Replies {'power_state', 'block_devices': [{'uuid', 'connection_info'}]}.
        """
