"""Cold moves, within a cell and between cells: the methods of ComputeAPI on a host."""

from collections.abc import Sequence

from nova_lite import context
from nova_lite.compute import replies
from nova_lite.compute import site
from nova_lite.compute import snapshot_based
from nova_lite.objects import block_device
from nova_lite.objects import instance as objects
from nova_lite.rpcapi import compute as compute_rpc


class ColdCalls:
    """A part of the ComputeManager. move: the migration's uuid"""

    def __init__(self, site: site.Site) -> None:
        self._cold = snapshot_based.SnapshotBased(site)

    def prep_resize(
        self,
        ctxt: context.RequestContext,
        host: str,
        instance: objects.Instance,
        node: str,
        block_devices: Sequence[block_device.BlockDevice],
    ) -> replies.Reply:
        return self._cold.prepare(ctxt, instance, node, block_devices)

    def drop_move_claim_at_destination(
        self, ctxt: context.RequestContext, host: str, instance_uuid: str, node: str
    ) -> replies.Reply:
        return self._cold.drop_move_claim(node, instance_uuid)

    def resize_instance(
        self,
        ctxt: context.RequestContext,
        host: str,
        instance_uuid: str,
        node: str,
        move: str,
        key: str,
    ) -> replies.Reply:
        return self._cold.leave(node, instance_uuid, move, key=key)

    def finish_resize(
        self,
        ctxt: context.RequestContext,
        host: str,
        instance: objects.Instance,
        block_devices: Sequence[block_device.BlockDevice],
        arrival: compute_rpc.HandedOver,
    ) -> replies.Reply:
        return self._cold.arrive(ctxt, instance, block_devices, arrival)

    def revert_resize(
        self,
        ctxt: context.RequestContext,
        host: str,
        instance_uuid: str,
        node: str,
        move: str,
        key: str,
    ) -> replies.Reply:
        return self._cold.destroy(node, instance_uuid, move, key=key)

    def finish_revert_resize(
        self,
        ctxt: context.RequestContext,
        host: str,
        instance_uuid: str,
        node: str,
        move: str,
        key: str,
        power_on: bool,
    ) -> replies.Reply:
        return self._cold.take_back(node, instance_uuid, move, key=key, power_on=power_on)

    def restore_guest(
        self,
        ctxt: context.RequestContext,
        host: str,
        instance: objects.Instance,
        block_devices: Sequence[block_device.BlockDevice],
        arrival: compute_rpc.Returning,
    ) -> replies.Reply:
        return self._cold.restore(ctxt, instance, block_devices, arrival)

    def confirm_resize(
        self,
        ctxt: context.RequestContext,
        host: str,
        instance_uuid: str,
        node: str,
        move: str,
        key: str,
    ) -> replies.Reply:
        return self._cold.drop(node, instance_uuid, move, key=key)

    def discard_guest(
        self,
        ctxt: context.RequestContext,
        host: str,
        instance_uuid: str,
        node: str,
        move: str,
        key: str,
    ) -> replies.Reply:
        return self._cold.discard(node, instance_uuid, move, key=key)

    def prep_snapshot_based_resize_at_source(
        self,
        ctxt: context.RequestContext,
        host: str,
        instance_uuid: str,
        *,
        node: str,
        image_id: str | None,
        key: str,
    ) -> replies.Reply:
        return self._cold.copy_out(ctxt, node, instance_uuid, image_id=image_id, key=key)

    def finish_snapshot_based_resize_at_dest(
        self,
        ctxt: context.RequestContext,
        host: str,
        instance: objects.Instance,
        block_devices: Sequence[block_device.BlockDevice],
        arrival: compute_rpc.Uploaded,
    ) -> replies.Reply:
        return self._cold.spawn(ctxt, instance, block_devices, arrival)
