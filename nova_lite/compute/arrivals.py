"""Arrivals: the common parts of moves at the destination node.

Each function starts an effect, or finds the effect that an earlier call has started. Replies are
those of `replies`. Source: reference/nova/moves 3.1 and 5, reference/nova/cross-cell-resize 4.5.
"""

from collections.abc import Callable
from collections.abc import Sequence
import dataclasses

from oslo_log import log

from nova_lite import context
from nova_lite import exception
from nova_lite.compute import claims
from nova_lite.compute import config_drives
from nova_lite.compute import device_allocations
from nova_lite.compute import guests
from nova_lite.compute import port_devices
from nova_lite.compute import replies
from nova_lite.compute import site
from nova_lite.lifecycle import placed_devices
from nova_lite.lifecycle.guests import constraints
from nova_lite.objects import block_device
from nova_lite.objects import instance as objects
from nova_lite.rpc.methods.compute import arguments
from nova_lite.virt import driver as protocol
from nova_lite.virt import model

LOG = log.getLogger(__name__)
# Key of a change for the record: remove the device from it.
LOST = 'lost'


@dataclasses.dataclass(frozen=True)
class Arrival:
    """A server that arrives. instance: with its new flavor; block_devices: attached to this node

    image_id: image of the disk, if it is not the server's own image
    """

    instance: objects.Instance
    block_devices: Sequence[block_device.BlockDevice]
    image_id: str | None = None


def make(
    site: site.Site,
    ctxt: context.RequestContext,
    node: str,
    arrival: Arrival,
    *,
    verb: model.Verb,
    start: Callable[[model.GuestSpec], model.Job],
) -> replies.Reply:
    """Claim resources, connect the volumes, and create the guest.

    start: function that takes the guest's definition and begins the driver's job; verb: the job's
    Replies {'power_state', 'block_devices': [{'uuid', 'connection_info'}, ...]}.
    Raises NoCapacity, MoveRefused, and DriverError if the guest was created and removed since: it
    is not created again, because the message may be older than the removal.
    """
    instance, block_devices = arrival.instance, arrival.block_devices
    busy = replies.running(site.driver, node, instance.uuid, (verb,))
    if busy:
        return busy
    claim(site, node, instance, block_devices)
    port_devices.put(site, ctxt, node, instance.uuid)
    devices, lost = connect(site, ctxt, node, instance, block_devices)
    spec = guests.spec_of(site.conf, instance, block_devices=devices, image_id=arrival.image_id)
    spec = with_nodes(site, node, spec, instance)
    spec = config_drives.written(site, spec, instance, devices)
    reply = replies.reply(site.driver, start(spec))
    if 'done' in reply:
        _require_guest(site.driver, node, instance.uuid, verb)
        reply['block_devices'] = complete(site, ctxt, devices)
        reply['block_devices'] += left_out(site, node, instance.uuid, lost)
        LOG.info('Guest of server %s was created on node %s', instance.uuid, node)
    return reply


def _require_guest(driver: protocol.Driver, node: str, guest: str, verb: model.Verb) -> None:
    """Raise DriverError if the created guest does not exist any more."""
    try:
        if driver.get_guest(node, guest).role is model.Role.RESIDENT:
            return
    except exception.GuestNotFound:
        LOG.warning('Guest %s was created on node %s and has been removed since', guest, node)
    raise exception.DriverError(
        verb=str(verb), guest=guest, node=node, reason='the guest was removed after it was created.'
    )


def claim(
    site: site.Site,
    node: str,
    instance: objects.Instance,
    block_devices: Sequence[block_device.BlockDevice],
    *,
    ports: arguments.Networks | None = None,
) -> None:
    """Claim resources of the node. Read the ratios again first if they do not suffice.

    ports: requested networks of a server whose record has no ports yet
    Raises NoCapacity.
    """
    spec = guests.spec_of(site.conf, instance, block_devices=block_devices)
    guest = guests.constraints_of(instance, ports if isinstance(ports, list) else None)
    wanted = claims.amounts(spec, pinned=len(guest.dedicated))
    given = device_allocations.given(site, node, instance.uuid) if guest.devices else None
    try:
        _claim(site, node, instance.uuid, wanted=wanted, guest=guest, given=given)
    except exception.NoCapacity:
        if not site.inventory.reread_ratios(node):
            raise
        _claim(site, node, instance.uuid, wanted=wanted, guest=guest, given=given)
    if guest.devices:
        device_allocations.heal(site, node, instance, guest, given=given)
        device_allocations.use_up(site, node, instance, guest)


def _claim(
    site: site.Site,
    node: str,
    uuid: str,
    *,
    wanted: claims.Amounts,
    guest: constraints.Constraints,
    given: placed_devices.Given | None,
) -> None:
    ask = None
    if guest.has_parts:
        ask = claims.Ask(guest, site.hardware.nodes(node), site.inventory.ratios(node), given)
    site.claims.claim(node, uuid, wanted, site.inventory.limits(node), ask=ask)


def with_nodes(
    site: site.Site, node: str, spec: model.GuestSpec, instance: objects.Instance
) -> model.GuestSpec:
    """Return a guest's definition with the parts of the node that it has claimed."""
    return site.claims.with_nodes(node, spec, guests.constraints_of(instance))


def connect(
    site: site.Site,
    ctxt: context.RequestContext,
    node: str,
    instance: objects.Instance,
    block_devices: Sequence[block_device.BlockDevice],
) -> tuple[list[block_device.BlockDevice], list[block_device.BlockDevice]]:
    """Connect the node to the volumes, whose attachments were created for it.

    Return (devices that the guest can have, volumes with their connection_info; devices whose
    attachments were deleted in the volume service). Raise MoveRefused, and AttachmentNotFound if
    the guest would lose its root disk.
    """
    found: list[block_device.BlockDevice] = []
    lost: list[block_device.BlockDevice] = []
    for device in block_devices:
        try:
            if device.get('attachment_id'):
                _connect(site, ctxt, node, instance, device)
            found.append(device)
        except exception.AttachmentNotFound:
            if device.get('boot_index') == 0:
                raise
            LOG.warning(
                'Volume %s of server %s has lost its attachment. The guest does not get it',
                device.volume_id,
                instance.uuid,
            )
            lost.append(device)
    return found, lost


def left_out(
    site: site.Site, node: str, guest: str, lost: Sequence[block_device.BlockDevice]
) -> list[model.Json]:
    """Return changes for the record of lost devices that a guest was made without.

    A device whose attachment was deleted after the guest was made stays in the record, until a
    reboot.
    """
    if not lost:
        return []
    spec = site.driver.get_guest(node, guest).spec
    plugged = {each.id for each in spec.devices if each.kind is model.DeviceKind.VOLUME}
    return [
        {'uuid': device.uuid, 'connection_info': None, LOST: True}
        for device in lost
        if device.volume_id not in plugged
    ]


def _connect(
    site: site.Site,
    ctxt: context.RequestContext,
    node: str,
    instance: objects.Instance,
    device: block_device.BlockDevice,
) -> None:
    device.connection_info = _connection(site, ctxt, node, device)
    if not site.driver.can_connect_volume(node, device.connection_info):
        raise exception.MoveRefused(
            host=node,
            instance_uuid=instance.uuid,
            reason=f'it cannot connect to volume {device.volume_id}',
        )


def _connection(
    site: site.Site, ctxt: context.RequestContext, node: str, device: block_device.BlockDevice
) -> model.Json:
    """Return the connection_info of a volume that the node is connected to.

    The volume service refuses to connect this attachment again while the volume has another
    attachment, or while a repeated message is handled at the same time.
    """
    found = site.volume.get_attachment(ctxt, device.attachment_id)
    if not found['connection_info']:
        connector = site.driver.get_volume_connector(node)
        try:
            found = site.volume.update_attachment(
                ctxt, device.attachment_id, connector, mountpoint=device.get('device_name')
            )
        except exception.Conflict:
            found = site.volume.get_attachment(ctxt, device.attachment_id)
            if not found['connection_info']:
                raise
    connection: model.Json = found['connection_info']
    return connection


def complete(
    site: site.Site, ctxt: context.RequestContext, devices: Sequence[block_device.BlockDevice]
) -> list[model.Json]:
    """Complete the attachments of the volumes in `devices`. Return changes for the record.

    A device whose attachment was deleted after it was connected stays in the record: a reboot
    finds it.
    """
    volumes = [device for device in devices if device.get('attachment_id')]
    for device in volumes:
        try:
            site.volume.complete_attachment(ctxt, device.attachment_id)
        except exception.AttachmentNotFound as error:
            LOG.warning('Cannot complete an attachment of volume %s: %s', device.volume_id, error)
    return [{'uuid': device.uuid, 'connection_info': device.connection_info} for device in volumes]


def settled(site: site.Site, node: str, guest: str, job: model.Job) -> replies.Reply:
    """Return the reply of a job. When the job is done, let the guest claim what it has on the node.

    Raise DriverError when the job failed.
    """
    reply = replies.reply(site.driver, job)
    if 'done' in reply:
        site.claims.settle(node, guest)
    return reply
