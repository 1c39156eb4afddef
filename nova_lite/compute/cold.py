"""Cold moves on a host: resize and migrate at both ends, with confirm and revert.

Each method is one call of a saga's step and may be repeated: it starts an effect, or finds the
effect of an earlier call. The driver keeps guests and handovers, the super-conductor the records.
Source: reference/nova/moves 3.
"""

from collections.abc import Sequence

from oslo_log import log

from nova_lite import context
from nova_lite import exception
from nova_lite.compute import arrivals
from nova_lite.compute import guests
from nova_lite.compute import replies
from nova_lite.compute import site
from nova_lite.objects import block_device
from nova_lite.objects import instance as objects
from nova_lite.rpcapi import compute as compute_rpc
from nova_lite.virt import model

LOG = log.getLogger(__name__)


class Cold:
    """The cold moves of one compute process. move: always the migration's uuid"""

    def __init__(self, site: site.Site) -> None:
        self._site = site

    # ---- forward ----

    def prepare(
        self,
        ctxt: context.RequestContext,
        instance: objects.Instance,
        node: str,
        block_devices: Sequence[block_device.BlockDevice],
    ) -> replies.Reply:
        """Claim resources at the destination and connect the volumes.

        instance: with the new flavor; block_devices: with attachments for this host
        Raises NoCapacity, MoveRefused.
        """
        arrivals.claim(self._site, node, instance, block_devices)
        try:
            arrivals.connect(self._site, ctxt, node, instance, block_devices)
        except exception.NovaLiteError:
            self._site.claims.settle(node, instance.uuid)
            raise
        return {'done': True}

    def leave(self, node: str, guest: str, move: str, *, key: str) -> replies.Reply:
        """Stop the guest at the source and hand its disks over."""
        LOG.info('Server %s leaves node %s with migration %s', guest, node, move)
        return replies.reply(
            self._site.driver, self._site.driver.migrate_out(node, guest, move, key=key)
        )

    def arrive(
        self,
        ctxt: context.RequestContext,
        instance: objects.Instance,
        block_devices: Sequence[block_device.BlockDevice],
        arrival: compute_rpc.HandedOver,
    ) -> replies.Reply:
        """Create the guest at the destination, with its new flavor and the disks of the source."""
        return arrivals.make(
            self._site,
            ctxt,
            arrival['node'],
            arrivals.Arrival(instance, block_devices),
            verb=model.Verb.FINISH_MIGRATION,
            start=lambda spec: self._site.driver.finish_migration(
                arrival['node'],
                spec,
                arrival['handover'],
                key=arrival['key'],
                power_on=arrival['power_on'],
            ),
        )

    # ---- back, and to the end ----

    def drop_move_claim(self, node: str, guest: str) -> replies.Reply:
        """Release the claim at the destination of a guest that will not arrive."""
        self._site.claims.settle(node, guest)
        return {'done': True}

    def destroy(self, node: str, guest: str, move: str, *, key: str) -> replies.Reply:
        """Remove the guest at the destination of a move that is undone or reverted."""
        return self._settled(
            node, guest, self._site.driver.destroy(node, guest, key=key, move=move)
        )

    def take_back(
        self, node: str, guest: str, move: str, *, key: str, power_on: bool
    ) -> replies.Reply:
        """Restore the guest at the source."""
        job = self._site.driver.revert_migration(node, guest, move, key=key, power_on=power_on)
        return self._settled(node, guest, job)

    def restore(
        self,
        ctxt: context.RequestContext,
        instance: objects.Instance,
        block_devices: Sequence[block_device.BlockDevice],
        arrival: compute_rpc.Returning,
    ) -> replies.Reply:
        """Restore the guest at the source, with the current devices of the server."""
        node, site = arrival['node'], self._site
        devices, lost = arrivals.connect(site, ctxt, node, instance, block_devices)
        # The node has the volumes even if it cannot start the guest: a hard reboot uses them.
        known = arrivals.complete(site, ctxt, devices)
        spec = guests.spec_of(site.conf, instance, block_devices=devices)
        job = site.driver.revert_migration(
            node,
            instance.uuid,
            arrival['move'],
            key=arrival['key'],
            power_on=arrival['power_on'],
            devices=spec.devices,
        )
        answer = self._settled(node, instance.uuid, job)
        if 'done' in answer:
            answer['block_devices'] = known + arrivals.left_out(site, node, instance.uuid, lost)
        return answer

    def drop(self, node: str, guest: str, move: str, *, key: str) -> replies.Reply:
        """Remove the guest that was kept at the source."""
        job = self._site.driver.confirm_migration(node, guest, move, key=key)
        return self._settled(node, guest, job)

    def discard(self, node: str, guest: str, move: str, *, key: str) -> replies.Reply:
        """Remove the guest, at either end, of a server that was deleted during its move."""
        answer = self.drop(node, guest, move, key=key)
        if 'pending' in answer:
            return answer
        return self._settled(node, guest, self._site.driver.destroy(node, guest, key=key))

    # ---- parts ----

    def _settled(self, node: str, guest: str, job: model.Job) -> replies.Reply:
        answer = replies.reply(self._site.driver, job)
        if 'done' in answer:
            self._site.claims.settle(node, guest)
        return answer
