"""Evacuation at the destination: rebuild the guest of a server whose host is down.

The former guest is lost with its host, or switched off. Each method starts an effect, or finds
the effect that an earlier call has started. Replies are those of `replies`.
Source: reference/nova/moves 5.
"""

from collections.abc import Sequence

from nova_lite import context
from nova_lite.compute import arrivals
from nova_lite.compute import replies
from nova_lite.compute import site
from nova_lite.objects import block_device
from nova_lite.objects import instance as objects
from nova_lite.virt import model


class Evacuation:
    """A part of the ComputeManager: evacuations at their destination.

    Each method answers the method of ComputeAPI with its name.
    """

    def __init__(self, site: site.Site) -> None:
        self._site = site

    def rebuild_instance(
        self,
        ctxt: context.RequestContext,
        host: str,
        instance: objects.Instance,
        *,
        node: str,
        block_devices: Sequence[block_device.BlockDevice],
        power_on: bool,
        key: str,
    ) -> replies.Reply:
        """Create the guest by `arrivals.make`. block_devices: with attachments for the node"""
        driver = self._site.driver
        return arrivals.make(
            self._site,
            ctxt,
            node,
            arrivals.Arrival(instance, block_devices),
            verb=model.Verb.SPAWN,
            start=lambda spec: driver.spawn(node, spec, key=key, power_on=power_on),
        )

    def undo_rebuild(
        self,
        ctxt: context.RequestContext,
        host: str,
        instance: objects.Instance,
        *,
        node: str,
        move: str,
        key: str,
    ) -> replies.Reply:
        """Remove the guest from the node. move: the uuid of the migration"""
        job = self._site.driver.destroy(node, instance.uuid, key=key, move=move)
        return arrivals.settled(self._site, node, instance.uuid, job)
