"""Release the resources of a server at the neighbours, if no host does it.

The server's task must be 'deleting' already, so that no move continues. A move that was in progress
may still create an attachment, which is deleted too. Each part may be repeated.
Source: reference/nova/create-server 7.
"""

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import typing

from oslo_log import log

from nova_lite import exception
from nova_lite import runtime
from nova_lite.clients import client_set
from nova_lite.clients import image as image_client
from nova_lite.clients import session
from nova_lite.clients import share as shares
from nova_lite.clients import volume as volumes

LOG = log.getLogger(__name__)
# Seconds to wait for a volume whose status the volume service is about to change.
STUCK_S = 600
# Errors with which the volume service refuses to delete a volume.
REFUSED = exception.Conflict, exception.Forbidden, exception.NeighbourError
# Key of a server's system metadata while it is shelved; the name is nova's.
SHELVED_IMAGE = 'shelved_image_id'


class Images(typing.NamedTuple):
    """Images that are deleted with a server.

    copying: whether images of the server are in creation
    shelved: the id of the image of a shelved server, or None
    """

    copying: bool = False
    shelved: str | None = None


NO_IMAGES = Images()


class Row(typing.Protocol):
    """The columns of a server's record that name images."""

    @property
    def system_metadata(self) -> Mapping[str, str]: ...


def images_of(row: Row, copying: bool) -> Images:
    """Return the Images that are deleted with the server of a record."""
    return Images(copying, row.system_metadata.get(SHELVED_IMAGE))


def release(
    clients: client_set.Clients,
    ctxt: session.Ctxt,
    uuid: str,
    devices: Sequence[session.Fields],
    *,
    ports: Sequence[session.Fields],
    images: Images = NO_IMAGES,
) -> None:
    """Release a server's allocations, ports, volumes and images.

    clients: has placement, network, volume and image
    devices: rows of block devices as dicts; images: Images
    ports: [{'id', 'preserve_on_delete'}] of the ports in its record
    """
    clients.placement.delete_allocations(ctxt, uuid, force=True)
    if ports:
        clients.network.deallocate(ctxt, uuid, ports)
    attachments = {device['attachment_id'] for device in devices if device['attachment_id']}
    if attachments or any(device['volume_id'] for device in devices):
        # A move in progress may have created further attachments, which no record names yet. A
        # server that was never accepted has no recorded attachments.
        attachments.update(each['id'] for each in clients.volume.list_attachments(ctxt, uuid))
    for attachment in sorted(attachments):
        clients.volume.delete_attachment(ctxt, attachment)
    for device in devices:
        if device['volume_id'] and device['delete_on_termination']:
            delete_volume(clients.volume, ctxt, uuid, device['volume_id'])
    for volume_id in volumes.strays(clients.volume, ctxt, uuid, devices):
        delete_volume(clients.volume, ctxt, uuid, volume_id)
    drop_images(clients.image, ctxt, uuid, images)


def revoke_shares(
    share: shares.Share, ctxt: session.Ctxt, uuid: str, attachments: Iterable[shares.Attachment]
) -> None:
    """Take the access and locks of a server's shares back. Raises Unavailable if it may be later.

    As in nova, the server is deleted even if the service refuses.
    """
    for attachment in attachments:
        try:
            share.revoke(ctxt, attachment)
        except exception.StaleEpoch:
            raise
        except REFUSED as error:
            LOG.warning(
                'Cannot revoke access of server %s to share %s; its locks stay: %s',
                uuid,
                attachment['share_id'],
                error,
            )


def drop_images(image: image_client.Image, ctxt: session.Ctxt, uuid: str, images: Images) -> None:
    """Delete the Images of a server. Raises Unavailable when they may be deleted later.

    An image that the image service refuses to delete stays, for example a protected one.
    """
    if images.copying:
        drop_snapshots(image, ctxt, uuid)
    if images.shelved:
        drop_image(image, ctxt, uuid, images.shelved)


def drop_snapshots(image: image_client.Image, ctxt: session.Ctxt, uuid: str) -> None:
    """Delete a server's images without contents, which will get none.

    Their image_type does not matter, because users may set it. Protected images stay.
    """
    for each in image.list(ctxt, instance_uuid=uuid):
        if each['status'] in ('queued', 'saving'):
            drop_image(image, ctxt, uuid, each['id'])


def drop_image(image: image_client.Image, ctxt: session.Ctxt, uuid: str, image_id: str) -> None:
    """Delete an image of a server. An image that the image service refuses to delete stays."""
    try:
        image.delete(ctxt, image_id, missing_ok=True)
    except exception.StaleEpoch:
        raise
    except REFUSED as error:
        LOG.warning(
            'Cannot delete image %s of server %s; the image stays: %s', image_id, uuid, error
        )


def delete_volume(volume: volumes.Volume, ctxt: session.Ctxt, uuid: str, volume_id: str) -> None:
    """Delete a volume with delete_on_termination.

    As in nova, a volume that the volume service refuses to delete stays, and the server is deleted:
    for example if it has snapshots, or has been `creating` for STUCK_S. Raises Unavailable if
    it may be deleted later, and StaleEpoch if another owner of the saga has to delete it.
    """
    try:
        _delete(volume, ctxt, uuid, volume_id)
    except exception.StaleEpoch:
        raise
    except REFUSED as error:
        _require_settled(volume, ctxt, volume_id)
        LOG.warning(
            'Cannot delete volume %s of server %s: %s. The server is deleted and the volume stays.',
            volume_id,
            uuid,
            error,
        )


def _require_settled(volume: volumes.Volume, ctxt: session.Ctxt, volume_id: str) -> None:
    """Raise Unavailable while the volume service is about to change the status of a volume."""
    try:
        found = volume.get(ctxt, volume_id)
    except exception.VolumeNotFound:
        return
    if found['status'] not in volumes.WORKING:
        return
    state = f'volume {volume_id} is {found["status"]}'
    waited = (runtime.now() - found['changed_at']).total_seconds()
    if waited < STUCK_S:
        raise exception.Unavailable(service='volume', reason=state)
    LOG.warning('Not waiting for the volume service: %s since %.0f s', state, waited)


def _delete(volume: volumes.Volume, ctxt: session.Ctxt, uuid: str, volume_id: str) -> None:
    try:
        volume.delete(ctxt, volume_id)
    except exception.StaleEpoch:
        raise
    except exception.Conflict:
        # A move in progress may have attached the volume after the attachments were listed.
        left = volume.list_attachments(ctxt, uuid)
        if not left:
            raise
        for attachment in left:
            volume.delete_attachment(ctxt, attachment['id'])
        volume.delete(ctxt, volume_id)
