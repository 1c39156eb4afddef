"""Evacuation at the destination: rebuild the guest of a server whose host is down.

The former guest is lost with its host, or switched off. Each function starts an effect, or finds
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


def rebuild(
    site: site.Site,
    ctxt: context.RequestContext,
    node: str,
    instance: objects.Instance,
    block_devices: Sequence[block_device.BlockDevice],
    *,
    key: str,
    power_on: bool,
) -> replies.Reply:
    """Create the guest by `arrivals.make`. block_devices: with attachments for the node"""
    return arrivals.make(
        site,
        ctxt,
        node,
        arrivals.Arrival(instance, block_devices),
        verb=model.Verb.SPAWN,
        start=lambda spec: site.driver.spawn(node, spec, key=key, power_on=power_on),
    )


def take_back(site: site.Site, node: str, guest: str, move: str, *, key: str) -> replies.Reply:
    """Remove the guest from the node."""
    job = site.driver.destroy(node, guest, key=key, move=move)
    reply = replies.reply(site.driver, job)
    if 'done' in reply:
        site.claims.settle(node, guest)
    return reply
