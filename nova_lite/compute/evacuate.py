"""Evacuation at its destination: make a server's guest anew where its host is not.

The guest that was is lost with its host, or fenced off. Functions start an effect or
find the one they started before, and answer as `replies` says.
Source: reference/moves 5.
"""

from oslo_log import log

from nova_lite.compute import arrivals
from nova_lite.compute import guests
from nova_lite.compute import replies
from nova_lite.virt import model

LOG = log.getLogger(__name__)


def rebuild(site, ctxt, node, instance, block_devices, *, key, power_on):
    """Claim, connect volumes, and make the guest.

    block_devices: with attachments made for the node
    Replies {'power_state', 'block_devices': [{'uuid', 'connection_info'}, ...]}.
    Raises NoCapacity, MoveRefused.
    """
    busy = replies.running(site.driver, node, instance.uuid, (model.Verb.SPAWN,))
    if busy:
        return busy
    arrivals.claim(site, node, instance, block_devices)
    devices = arrivals.connect(site, ctxt, node, instance, block_devices)
    spec = guests.spec_of(site.conf, instance, block_devices=block_devices)
    job = site.driver.spawn(node, spec, key=key, power_on=power_on)
    reply = replies.reply(site.driver, job)
    if 'done' in reply:
        reply['block_devices'] = arrivals.complete(site, ctxt, devices)
        LOG.info('Server %s was rebuilt on %s', instance.uuid, node)
    return reply


def take_back(site, node, guest, move, *, key):
    """Leave nothing of the guest on the node."""
    job = site.driver.destroy(node, guest, key=key, move=move)
    reply = replies.reply(site.driver, job)
    if 'done' in reply:
        site.claims.settle(node, guest)
    return reply
