"""Cold moves on a host: resize and migrate at both ends, with confirm and revert.

Each method answers the method of ComputeAPI with its name. It is one call of a saga's step and may
be repeated: it starts an effect, or finds the effect of an earlier call. The driver keeps guests
and handovers, the super-conductor keeps the records.
"""

from collections.abc import Sequence

from oslo_log import log

from nova_lite import context
from nova_lite import exception
from nova_lite.compute import arrivals
from nova_lite.compute import guests
from nova_lite.compute import port_devices
from nova_lite.compute import replies
from nova_lite.compute import site
from nova_lite.objects import block_device
from nova_lite.objects import instance as objects
from nova_lite.rpc.methods.compute import arguments
from nova_lite.virt import model

LOG = log.getLogger(__name__)


class Cold:
    """A part of the ComputeManager: cold moves. move: always the uuid of the migration"""

    def __init__(self, site: site.Site) -> None:
        self._site = site

    # ---- forward ----

    def prep_resize(
        self,
        ctxt: context.RequestContext,
        host: str,
        instance: objects.Instance,
        node: str,
        block_devices: Sequence[block_device.BlockDevice],
    ) -> replies.Reply:
        """Claim resources at the destination and connect the volumes.

        Raise NoCapacity or MoveRefused.

        instance: with the new flavor; block_devices: with attachments for this host
        """
        arrivals.claim(self._site, node, instance, block_devices)
        try:
            port_devices.put(self._site, ctxt, node, instance.uuid)
            arrivals.connect(self._site, ctxt, node, instance, block_devices)
        except exception.NovaLiteError:
            self._site.claims.settle(node, instance.uuid)
            raise
        return {'done': True}

    def resize_instance(
        self,
        ctxt: context.RequestContext,
        host: str,
        instance_uuid: str,
        node: str,
        move: str,
        key: str,
    ) -> replies.Reply:
        """Stop the guest at the source and hand its disks over."""
        LOG.info('Server %s leaves node %s with migration %s', instance_uuid, node, move)
        driver = self._site.driver
        return replies.reply(driver, driver.migrate_out(node, instance_uuid, move, key=key))

    def finish_resize(
        self,
        ctxt: context.RequestContext,
        host: str,
        instance: objects.Instance,
        block_devices: Sequence[block_device.BlockDevice],
        arrival: arguments.HandedOver,
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

    def drop_move_claim_at_destination(
        self, ctxt: context.RequestContext, host: str, instance_uuid: str, node: str
    ) -> replies.Reply:
        """Release the claim at the destination of a guest that will not arrive."""
        self._site.claims.settle(node, instance_uuid)
        return {'done': True}

    def revert_resize(
        self,
        ctxt: context.RequestContext,
        host: str,
        instance_uuid: str,
        node: str,
        move: str,
        key: str,
    ) -> replies.Reply:
        """Remove the guest at the destination of a move that is undone or reverted."""
        job = self._site.driver.destroy(node, instance_uuid, key=key, move=move)
        return arrivals.settled(self._site, node, instance_uuid, job)

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
        """Restore the guest at the source."""
        job = self._site.driver.revert_migration(
            node, instance_uuid, move, key=key, power_on=power_on
        )
        return arrivals.settled(self._site, node, instance_uuid, job)

    def restore_guest(
        self,
        ctxt: context.RequestContext,
        host: str,
        instance: objects.Instance,
        block_devices: Sequence[block_device.BlockDevice],
        arrival: arguments.Returning,
    ) -> replies.Reply:
        """Restore the guest at the source, with the current devices of the server."""
        node, site = arrival['node'], self._site
        devices, lost = arrivals.connect(site, ctxt, node, instance, block_devices)
        # The node has the volumes even if it cannot start the guest: a hard reboot uses them.
        known = arrivals.complete(site, ctxt, devices)
        spec = guests.spec_of(site.conf, instance, block_devices=devices)
        spec = site.claims.with_ports(node, spec)
        job = site.driver.revert_migration(
            node,
            instance.uuid,
            arrival['move'],
            key=arrival['key'],
            power_on=arrival['power_on'],
            devices=spec.devices,
        )
        answer = arrivals.settled(self._site, node, instance.uuid, job)
        if 'done' in answer:
            answer['block_devices'] = known + arrivals.left_out(site, node, instance.uuid, lost)
        return answer

    def confirm_resize(
        self,
        ctxt: context.RequestContext,
        host: str,
        instance_uuid: str,
        node: str,
        move: str,
        key: str,
    ) -> replies.Reply:
        """Remove the guest that was kept at the source."""
        job = self._site.driver.confirm_migration(node, instance_uuid, move, key=key)
        return arrivals.settled(self._site, node, instance_uuid, job)

    def discard_guest(
        self,
        ctxt: context.RequestContext,
        host: str,
        instance_uuid: str,
        node: str,
        move: str,
        key: str,
    ) -> replies.Reply:
        """Remove the guest, at either end, of a server that was deleted during its move."""
        answer = self.confirm_resize(ctxt, host, instance_uuid, node, move, key)
        if 'pending' in answer:
            return answer
        job = self._site.driver.destroy(node, instance_uuid, key=key)
        return arrivals.settled(self._site, node, instance_uuid, job)
