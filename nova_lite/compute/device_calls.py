"""Attach, detach and swap devices of existing guests.

Each method is one call of a saga's step and may be repeated: it starts an effect, or finds the
effect of an earlier call. The super-conductor changes the records and, except for the host's
connection, the objects of the neighbours.
"""

import dataclasses

from oslo_log import log

from nova_lite import context
from nova_lite import exception
from nova_lite.compute import arrivals
from nova_lite.compute import claims
from nova_lite.compute import guest_work
from nova_lite.compute import guests
from nova_lite.compute import port_devices
from nova_lite.compute import replies
from nova_lite.compute import site
from nova_lite.compute import volume_usage
from nova_lite.objects import block_device
from nova_lite.objects import instance as objects
from nova_lite.virt import model

LOG = log.getLogger(__name__)


class DeviceCalls:
    """A part of the ComputeManager: answers the methods of ComputeAPI about devices."""

    def __init__(self, site: site.Site) -> None:
        self._site = site

    # ---- volumes ----

    def get_volume_connector(
        self, ctxt: context.RequestContext, host: str, node: str
    ) -> model.Json:
        return self._site.driver.get_volume_connector(node)

    def attach_volume(
        self,
        ctxt: context.RequestContext,
        host: str,
        instance: objects.Instance,
        block_device: block_device.BlockDevice,
        key: str,
    ) -> replies.Reply:
        node = self._site.node_of(host, instance)
        devices, lost = arrivals.connect(self._site, ctxt, node, instance, [block_device])
        if lost:
            raise exception.AttachmentNotFound(attachment_id=block_device.attachment_id)
        reply = self._plug(node, instance.uuid, guests.volume_of(block_device), key)
        if 'done' in reply:
            (connected,) = arrivals.complete(self._site, ctxt, devices)
            reply['connection_info'] = connected['connection_info']
            LOG.info('Server %s: volume %s attached', instance.uuid, block_device.volume_id)
        return reply

    def detach_volume(
        self,
        ctxt: context.RequestContext,
        host: str,
        instance: objects.Instance,
        volume_id: str,
        key: str,
    ) -> replies.Reply:
        node = self._site.node_of(host, instance)
        volume_usage.report_last(self._site, ctxt, node, instance.uuid, volume_id=volume_id)
        device = model.Device(model.DeviceKind.VOLUME, volume_id)
        return self._unplug(node, instance.uuid, device, key)

    def swap_volume(
        self,
        ctxt: context.RequestContext,
        host: str,
        instance: objects.Instance,
        *,
        old_volume_id: str,
        block_device: block_device.BlockDevice,
        key: str,
    ) -> replies.Reply:
        reply = self.attach_volume(ctxt, host, instance, block_device, key)
        if 'pending' in reply:
            return reply
        gone = self.detach_volume(ctxt, host, instance, old_volume_id, key)
        return gone if 'pending' in gone else {**reply, 'detached': gone['detached']}

    # ---- interfaces ----

    def attach_interface(
        self,
        ctxt: context.RequestContext,
        host: str,
        instance: objects.Instance,
        vif: model.Json,
        key: str,
    ) -> replies.Reply:
        node, uuid = self._site.node_of(host, instance), instance.uuid
        device = guests.interface_of(vif)
        ask = self._ask_for_port(node, instance, vif)
        if ask is None:
            return self._plug(node, uuid, device, key)
        try:
            address = self._site.claims.claim_port(node, uuid, ask)
        except exception.NoCapacity as error:
            raise exception.Invalid(
                f'Failed to claim PCI device for {uuid} during interface attach: '
                f'{error.kwargs["reason"]}'
            ) from error
        try:
            port_devices.put(self._site, ctxt, node, uuid)
            device = dataclasses.replace(device, data={**device.data, model.PCI_ADDRESS: address})
            reply = self._plug(node, uuid, device, key)
        except exception.NovaLiteError:
            self._site.claims.settle_port(node, uuid, device.id)
            raise
        if 'done' in reply:
            self._site.claims.settle_port(node, uuid, device.id)
        return reply

    def _ask_for_port(
        self, node: str, instance: objects.Instance, vif: model.Json
    ) -> claims.Ask | None:
        """Return the request of a port for a PCI device, or None if it needs none."""
        guest = guests.constraints_of(instance, [vif])
        if not guest.ports:
            return None
        site = self._site
        return claims.Ask(guest, site.hardware.nodes(node), site.inventory.ratios(node))

    def detach_interface(
        self,
        ctxt: context.RequestContext,
        host: str,
        instance: objects.Instance,
        port_id: str,
        key: str,
    ) -> replies.Reply:
        node = self._site.node_of(host, instance)
        device = model.Device(model.DeviceKind.INTERFACE, port_id)
        reply = self._unplug(node, instance.uuid, device, key)
        if 'done' in reply:
            self._site.claims.settle_port(node, instance.uuid, port_id)
        return reply

    def drop_interface(
        self, ctxt: context.RequestContext, host: str, instance_uuid: str, port_id: str
    ) -> None:
        work = self._drop_interface(ctxt, host, instance_uuid, port_id)
        self._site.jobs.run((host, instance_uuid), work)

    def _drop_interface(
        self, ctxt: context.RequestContext, host: str, instance_uuid: str, port_id: str
    ) -> guest_work.Work[None]:
        device = model.Device(model.DeviceKind.INTERFACE, port_id)
        try:
            node = self._site.node_with(host, instance_uuid)
            key = f'{ctxt.request_id}/vif-deleted'
            job = self._site.driver.detach(node, instance_uuid, device, key=key)
            yield from guest_work.ended(job)
            self._site.claims.settle_port(node, instance_uuid, port_id)
        except exception.GuestNotFound:
            # The network service also reports ports that are deleted with their server.
            LOG.debug('Port %s need not be detached: server %s is gone', port_id, instance_uuid)
        except exception.NovaLiteError as error:
            LOG.warning('Cannot detach port %s from server %s: %s', port_id, instance_uuid, error)

    # ---- the hypervisor ----

    def _plug(self, node: str, guest: str, device: model.Device, key: str) -> replies.Reply:
        driver = self._site.driver
        return replies.reply(driver, driver.attach(node, guest, device, key=key))

    def _unplug(self, node: str, guest: str, device: model.Device, key: str) -> replies.Reply:
        driver = self._site.driver
        return replies.reply(driver, driver.detach(node, guest, device, key=key))
