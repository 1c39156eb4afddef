"""Volumes: the block devices of a server that are volumes.

Volumes are created, connected to the host, and given back. Each new volume and attachment is
recorded at once, so that it is found after a kill. An attachment that was not recorded is found by
the server's uuid.
Source: reference/nova/create-server 1.5.
"""

from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Sequence
import string
import typing

from oslo_log import log

from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite.clients import release
from nova_lite.clients import session
from nova_lite.clients import volume as volume_client
from nova_lite.compute import guest_work
from nova_lite.compute import guests
from nova_lite.compute import site
from nova_lite.objects import block_device
from nova_lite.objects import instance as objects
from nova_lite.rpc.methods import conductor as conductor_rpc
from nova_lite.virt import model

LOG = log.getLogger(__name__)

READY_TIMEOUT_S = 600
# Seconds between two looks at a volume in creation: the first pause, which doubles, and the
# longest.
POLL_S, LONGEST_POLL_S = 0.05, 1.0
PREFIXES = {'scsi': 'sd', 'sata': 'sd', 'usb': 'sd', 'ide': 'hd', 'fdc': 'fd'}
# Columns that are known when the volume of a device is created. A late message must not overwrite
# others, which later messages have recorded.
MADE = ('volume_id', 'volume_size')
RECORDED = ('volume_id', 'volume_size', 'attachment_id', 'connection_info', 'device_name')
Check: typing.TypeAlias = Callable[[], guest_work.Work[typing.Any]]
# Status of an attachment that connects a host and was not completed yet.
ATTACHING = 'attaching'


def name_devices(
    block_devices: Sequence[block_device.BlockDevice],
) -> list[block_device.BlockDevice]:
    """Give a device name to each device without one. Return those that changed."""
    taken = {device.get('device_name') for device in block_devices}
    ordered = sorted(block_devices, key=lambda device: device.get('boot_index') != 0)
    changed = []
    for device in ordered:
        if device.get('device_name'):
            continue
        prefix = PREFIXES.get(device.get('disk_bus'), 'vd')
        names = (f'/dev/{prefix}{letter}' for letter in string.ascii_lowercase)
        device.device_name = next((name for name in names if name not in taken), None)
        taken.add(device.device_name)
        changed.append(device)
    return changed


def changes_of(device: block_device.BlockDevice, names: Iterable[str] = RECORDED) -> model.Json:
    """Return the columns of a device to record after it was provided."""
    return {'uuid': device.uuid, **{name: device.get(name) for name in names}}


class Volumes:
    """The volumes of one server on one node."""

    def __init__(
        self,
        site: site.Site,
        ctxt: context.RequestContext,
        host: str,
        instance: objects.Instance,
        block_devices: Sequence[block_device.BlockDevice],
    ) -> None:
        self._site, self._ctxt, self._host = site, ctxt, host
        self._instance = instance
        self._node = site.node_of(host, instance)
        self.devices = [
            device for device in block_devices if device.destination_type == guests.VOLUME
        ]

    # ---- providing ----

    def provide(self, *, again: bool = False) -> guest_work.Work[None]:
        """Create and connect the volumes, and change the devices; work for `guest_work`.

        again: a former attempt may have done a part of this
        """
        if not self.devices:
            return
        known = self._known_attachments() if again else {}
        for device in self.devices:
            if not device.get('volume_id'):
                yield from self._create(device, again)
            self._connect(device, known)

    def attach_root(self, check: Check) -> guest_work.Work[None]:
        """Attach the root disk again, if its attachment was deleted or connects no host.

        An administrator may have deleted the attachment in the volume service. The disk may lack a
        connection because a revert has failed. If the volume service does not list the
        attachments, the connection on record is used. Raise VolumeNotFound or VolumeNotUsable if
        the volume was deleted, is in error or belongs to another server.

        check: work that raises StateChanged unless the server is being rebooted
        """
        root = next((device for device in self.devices if device.get('boot_index') == 0), None)
        if root is None or not root.get('volume_id'):
            return
        uuid = self._instance.uuid
        try:
            listed = self._site.volume.list_attachments(self._ctxt, uuid)
        except exception.NovaLiteError as error:
            if not root.get('connection_info'):
                raise
            LOG.warning(
                'Cannot list the volume attachments of server %s: %s. Rebooting it with the '
                'recorded connection of its root disk.',
                uuid,
                error,
            )
            return
        own = {each['id']: each for each in listed if each['volume_id'] == root.volume_id}
        former = root.get('attachment_id')
        if former not in own:
            LOG.warning(
                'Root disk %s of server %s lacks its recorded attachment. Attaching the disk again.',
                root.volume_id,
                uuid,
            )
            # A move, which now has the server, may have created the attachments.
            yield from check()
            # The host may have been killed before it recorded an attachment that it had begun.
            begun = (name for name, each in own.items() if each['status'] == ATTACHING)
            root.attachment_id = next(begun, '')
            yield from self._attach_again(root, former)
        elif not root.get('connection_info'):
            self._require_idle(root)
            self._connect(root, {})
            yield from self._record_root(root, former)
        elif own[former]['status'] != ATTACHING:
            return
        self._site.volume.complete_attachment(self._ctxt, root.attachment_id)

    def _attach_again(
        self, root: block_device.BlockDevice, former: str | None
    ) -> guest_work.Work[None]:
        """Connect a root disk, and record that. After a failure, delete the attachment.

        root: has an attachment that was not recorded, or none
        """
        try:
            self._connect(root, {})
            yield from self._record_root(root, former)
        except exception.NovaLiteError:
            if root.attachment_id:
                self._site.volume.delete_attachment(self._ctxt, root.attachment_id)
            raise

    def _record_root(
        self, root: block_device.BlockDevice, former: str | None
    ) -> guest_work.Work[None]:
        """Record the connection of a root disk. Raise StateChanged if that is refused."""
        change = {**changes_of(root), conductor_rpc.FORMER: former}
        if (yield from self._record([change])) is False:
            raise exception.StateChanged(
                what='Instance', key=self._instance.uuid, detail='it is not being rebooted'
            )

    def _require_idle(self, device: block_device.BlockDevice) -> None:
        """Raise VolumeNotUsable for a volume that is being written, or could not be written."""
        status = self._site.volume.get(self._ctxt, device.volume_id)['status']
        if status in volume_client.WORKING or status.startswith('err'):
            raise exception.VolumeNotUsable(
                volume_id=device.volume_id, reason=f"its status is '{status}'"
            )

    def complete(self) -> None:
        """Complete the attachments."""
        for device in self.devices:
            self._site.volume.complete_attachment(self._ctxt, device.attachment_id)

    def _create(self, device: block_device.BlockDevice, again: bool) -> guest_work.Work[None]:
        """Create the volume of a device, and wait until it can be attached."""
        made = self._made(device) if again else []
        volume = made[0] if made else self._order(device)
        device.volume_id, device.volume_size = volume['id'], volume['size']
        try:
            yield from self._record([changes_of(device, MADE)])
        except guest_work.Interrupted:
            self._site.volume.delete(self._ctxt, volume['id'])
            raise
        pause_s, deadline = POLL_S, runtime.monotonic() + READY_TIMEOUT_S
        while volume['status'] in volume_client.WORKING:
            if runtime.monotonic() > deadline:
                break
            yield guest_work.Pause(pause_s)
            pause_s = min(LONGEST_POLL_S, pause_s * 2)
            volume = self._site.volume.get(self._ctxt, volume['id'])
        if volume['status'] != 'available':
            raise exception.VolumeNotUsable(
                volume_id=volume['id'], reason=f"its status is '{volume['status']}'"
            )

    def _made(self, device: block_device.BlockDevice) -> session.Jsons:
        """Return the usable volumes that a former attempt has created for the device."""
        found = volume_client.made_for(self._site.volume, self._ctxt, self._instance.uuid, device)
        return [volume for volume in found if not volume['status'].startswith(('err', 'del'))]

    def _order(self, device: block_device.BlockDevice) -> session.Json:
        return self._site.volume.create(
            self._ctxt,
            size=device.volume_size,
            image_id=device.get('image_id') if device.source_type == 'image' else None,
            snapshot_id=device.get('snapshot_id'),
            volume_type=device.get('volume_type'),
            availability_zone=self._instance.availability_zone,
            **volume_client.marks_of(self._instance.uuid, device),
        )

    def _connect(self, device: block_device.BlockDevice, known: dict[str, str]) -> None:
        connector = self._site.driver.get_volume_connector(self._node)
        attachment_id = device.get('attachment_id') or known.get(device.volume_id)
        if attachment_id is None:
            attachment = self._site.volume.create_attachment(
                self._ctxt,
                device.volume_id,
                self._instance.uuid,
                connector=connector,
                mountpoint=device.get('device_name'),
            )
        else:
            attachment = self._site.volume.update_attachment(
                self._ctxt, attachment_id, connector, mountpoint=device.get('device_name')
            )
        device.attachment_id = attachment['id']
        device.connection_info = attachment['connection_info']
        if not self._site.driver.can_connect_volume(self._node, device.connection_info):
            error = exception.VolumeNotUsable(
                volume_id=device.volume_id, reason=f'node {self._node} cannot connect to it'
            )
            error.reschedule = True
            raise error

    def _known_attachments(self) -> dict[str, str]:
        found = self._site.volume.list_attachments(self._ctxt, self._instance.uuid)
        return {attachment['volume_id']: attachment['id'] for attachment in found}

    # ---- giving back ----

    def reserve(self) -> guest_work.Work[None]:
        """Disconnect the host from the volumes, which stay attached; work for `guest_work`."""
        for device in self.devices:
            former = device.get('attachment_id')
            if not former:
                continue
            # A volume that is being attached takes no further attachment.
            self._site.volume.complete_attachment(self._ctxt, former)
            attachment = self._site.volume.create_attachment(
                self._ctxt, device.volume_id, self._instance.uuid
            )
            device.attachment_id, device.connection_info = attachment['id'], None
            yield from self._record([changes_of(device)])
        # The next host cannot be connected while another host is.
        self._end_attachments(keep={device.get('attachment_id') for device in self.devices})

    def give_back(self) -> None:
        """Delete the attachments, and the volumes with delete_on_termination.

        This includes attachments without a record, whose creation was not answered. A volume that
        cannot be deleted stays.
        """
        if not self.devices:
            return
        self._end_attachments()
        for device in self.devices:
            if device.get('volume_id') and device.delete_on_termination:
                self._delete(device.volume_id)
        for volume_id in volume_client.strays(
            self._site.volume, self._ctxt, self._instance.uuid, self.devices
        ):
            self._delete(volume_id)

    def _end_attachments(self, *, keep: Collection[str | None] = ()) -> None:
        """Delete all attachments of the server except those with the ids in `keep`."""
        found = self._site.volume.list_attachments(self._ctxt, self._instance.uuid)
        for attachment in found:
            if attachment['id'] not in keep:
                self._site.volume.delete_attachment(self._ctxt, attachment['id'])

    def _delete(self, volume_id: str) -> None:
        release.delete_volume(self._site.volume, self._ctxt, self._instance.uuid, volume_id)

    def _record(self, changed: list[model.Json]) -> guest_work.Work[bool]:
        """Record changed block devices. Return False if that is refused."""
        return (
            yield from guest_work.insist(
                self._site.conductor.update_block_devices,
                self._ctxt,
                host=self._host,
                instance_uuid=self._instance.uuid,
                block_devices=changed,
                gone=[],
            )
        )
