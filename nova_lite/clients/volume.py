"""The volume service: volumes, their attachments to servers, snapshots.

Calls about a user's volumes are made in the user's name. Attachments are ours, and created with our
own credentials, since a move may outlive the user's token.
"""

from collections.abc import Iterable
import typing

import requests

from nova_lite import exception
from nova_lite.clients import auth
from nova_lite.clients import items
from nova_lite.clients import session
from nova_lite.clients import volume_record

MICROVERSION = 'volume 3.44'  # attachments are completed by their own call
MODE_MICROVERSION = 'volume 3.54'
REIMAGE_MICROVERSION = 'volume 3.68'
CONFLICT: session.Errors = {400: exception.Conflict, 409: exception.Conflict}
OVER_QUOTA = session.verbatim(exception.OverQuota)
DEVICE = 'nova_lite_device'  # in the metadata of what was made for a block device
IMAGE = 'nova_lite_image'  # in the metadata of snapshots: the image that names them
WORKING = ('creating', 'downloading', 'error_restoring', 'restoring-backup', 'uploading')


class Device(typing.Protocol):
    """A block device, as a mapping or an object."""

    def get(self, name: str, /) -> typing.Any: ...


def marks_of(instance_uuid: str, device: Device) -> session.Json:
    """Return the name and the metadata of a volume that is created for a server's block device."""
    kind = f'{device.get("source_type")}-{device.get("destination_type")}'
    return {'name': f'{instance_uuid}-{kind}', 'metadata': {DEVICE: device.get('uuid')}}


def made_for(
    client: 'Volume', ctxt: session.Ctxt, instance_uuid: str, device: Device
) -> session.Jsons:
    """Return the volumes created for a block device, even if the reply was lost."""
    if device.get('destination_type') != 'volume' or device.get('source_type') == 'volume':
        return []
    marks = marks_of(instance_uuid, device)
    return [
        volume
        for volume in client.named(ctxt, marks['name'])
        if volume['metadata'].get(DEVICE) == device.get('uuid')
    ]


def strays(
    client: 'Volume',
    ctxt: session.Ctxt,
    instance_uuid: str,
    devices: Iterable[Device],
) -> list[str]:
    """Return the ids of volumes that were created for block devices which do not name them."""
    return [
        volume['id']
        for device in devices
        for volume in made_for(client, ctxt, instance_uuid, device)
        if volume['id'] != device.get('volume_id')
    ]


class Volume:
    """The volume service."""

    def __init__(self, credentials: auth.Credentials) -> None:
        self.service = session.Neighbour(
            credentials,
            'cinder',
            title='volume',
            version='/v3',
            microversion=MICROVERSION,
            # Since CVE-2023-2088 Cinder allows only service users to delete an attachment of a
            # server.
            own_vouched=True,
        )
        self._volumes = items.Items(
            self.service, '/volumes', missing=(exception.VolumeNotFound, 'volume_id'), as_user=True
        )
        self._attachments = items.Items(
            self.service, '/attachments', missing=(exception.AttachmentNotFound, 'attachment_id')
        )
        self._snapshots = items.Items(
            self.service,
            '/snapshots',
            missing=(exception.SnapshotNotFound, 'snapshot_id'),
            as_user=True,
        )
        self._conf = credentials.conf.cinder

    # ---- volumes ------------------------------------------------------------

    def get(self, ctxt: session.Ctxt, volume_id: str) -> session.Json:
        """Return the volume, as `volume_record.of` makes it. Raise VolumeNotFound."""
        return volume_record.of(self._volumes.call(ctxt, 'GET', volume_id).json()['volume'])

    def named(self, ctxt: session.Ctxt, name: str) -> session.Jsons:
        """Return the user's volumes of that name; without a user, those of all projects."""
        params: session.Json = {'name': name}
        if not self.service.has_user(ctxt):
            params['all_tenants'] = 1
        body = self.service.get(ctxt, '/volumes/detail', params=params, as_user=True)
        return [volume_record.of(each) for each in body['volumes']]

    def require_type(self, ctxt: session.Ctxt, id_or_name: str) -> None:
        """Raise VolumeTypeNotFound unless the user may create volumes of this type."""
        found = self.service.get(ctxt, '/types?is_public=None', as_user=True)
        volume_record.require_type(found['volume_types'], id_or_name)

    def check_attachable(
        self,
        volume: session.Json,
        *,
        instance_uuid: str | None = None,
        availability_zone: str | None = None,
    ) -> None:
        """Raise VolumeNotUsable unless the volume can be attached to a server.

        volume: as `get` returns it; availability_zone: the server's, if known
        """
        if volume['status'] == 'in-use' and volume['multiattach']:
            if instance_uuid in volume['attachments']:
                raise exception.VolumeNotUsable(
                    volume_id=volume['id'], reason='it is already attached to this server'
                )
        elif volume['status'] != 'available':
            raise exception.VolumeNotUsable(
                volume_id=volume['id'],
                reason=f"its status must be 'available' but is '{volume['status']}'",
            )
        if not self.serves(volume, availability_zone):
            raise exception.VolumeNotUsable(
                volume_id=volume['id'],
                reason=f'it is in availability zone {volume["availability_zone"]}, the server in '
                f'{availability_zone}',
            )

    def serves(self, volume: session.Json, availability_zone: str | None) -> bool:
        """Return whether servers of an availability zone (None: unknown) may use the volume."""
        zone = volume['availability_zone']
        return self._conf.cross_az_attach or availability_zone in (None, zone)

    def create(
        self, ctxt: session.Ctxt, *, size: int, name: str = '', **options: object
    ) -> session.Json:
        """Start to create a volume of `size` GiB in the user's name. Return it.

        Without the user's token it is created in our name, in the user's project.
        options: image_id, snapshot_id, volume_type, metadata; availability_zone: the server's,
            which is sent unless servers may use volumes of other zones
        Raises OverQuota, Invalid for a request that is not valid, and Forbidden if we have no role.
        """
        body = {'size': size, 'name': name}
        if self._conf.cross_az_attach:
            options.pop('availability_zone', None)
        for option, value in options.items():
            if value is not None:
                body['imageRef' if option == 'image_id' else option] = value
        response = self.service.call(
            ctxt,
            'POST',
            '/volumes',
            json={'volume': body},
            as_user=session.PROJECT,
            errors={400: exception.Invalid, 404: exception.Invalid, 413: OVER_QUOTA},
        )
        return volume_record.of(response.json()['volume'])

    def delete(self, ctxt: session.Ctxt, volume_id: str) -> None:
        """Delete the volume, if it exists. Raise Conflict while it is in use."""
        self._volumes.call(ctxt, 'DELETE', volume_id, errors={404: None, **CONFLICT})

    def begin_detaching(self, ctxt: session.Ctxt, volume_id: str) -> None:
        """Mark a volume in use as about to be detached; raises VolumeNotUsable."""
        self._act(ctxt, volume_id, 'os-begin_detaching')

    def roll_detaching(self, ctxt: session.Ctxt, volume_id: str) -> None:
        """Undo `begin_detaching`."""
        self._act(ctxt, volume_id, 'os-roll_detaching')

    def complete_migration(
        self, ctxt: session.Ctxt, volume_id: str, new_volume_id: str, *, error: bool = False
    ) -> str:
        """Report that a server uses a new volume in place of the old. Return the id that it keeps.

        error: report that the server does not use the new volume, which is then deleted
        """
        wanted = {'new_volume': new_volume_id, 'error': error}
        response = self._act(ctxt, volume_id, 'os-migrate_volume_completion', wanted, as_user=False)
        known_by: str = response.json()['save_volume_id']
        return known_by

    def reimage(self, ctxt: session.Ctxt, volume_id: str, image_id: str) -> None:
        """Start to write another image onto the volume, which may be reserved."""
        self._act(
            ctxt,
            volume_id,
            'os-reimage',
            {'image_id': image_id, 'reimage_reserved': True},
            headers={'OpenStack-API-Version': REIMAGE_MICROVERSION},
        )

    def _act(
        self,
        ctxt: session.Ctxt,
        volume_id: str,
        action: str,
        value: object = None,
        **request: typing.Any,
    ) -> requests.Response:
        refused = session.raising(exception.VolumeNotUsable, volume_id=volume_id)
        return self._volumes.call(
            ctxt,
            'POST',
            volume_id,
            '/action',
            json={action: value},
            errors={400: refused, 409: refused},
            **request,
        )

    # ---- attachments --------------------------------------------------------

    def create_attachment(
        self,
        ctxt: session.Ctxt,
        volume_id: str,
        instance_uuid: str,
        *,
        connector: session.Json | None = None,
        mountpoint: str | None = None,
    ) -> session.Json:
        """Reserve the volume for a server. Return {'id', 'connection_info'}.

        connector: the driver's connector, to connect at once; None
        mountpoint: the device name in the server, with a connector
        Unless the volume is multiattach, only this call with a connector can connect it to a second
        host while another attachment of the server connects it.
        Raises VolumeNotFound and VolumeNotUsable.
        """
        body = {
            'volume_uuid': volume_id,
            'instance_uuid': instance_uuid,
            'connector': _connector(connector, mountpoint) if connector else {},
            'mode': 'rw',  # Cinder stores no mountpoint of an attachment that is connected at once.
        }
        refused = session.raising(exception.VolumeNotUsable, volume_id=volume_id)
        missing = self._volumes.missing(volume_id)
        response = self.service.call(
            ctxt,
            'POST',
            '/attachments',
            json={'attachment': body},
            headers={'OpenStack-API-Version': MODE_MICROVERSION},
            errors={400: refused, 404: missing, 409: refused},
        )
        return _attachment(response)

    def get_attachment(self, ctxt: session.Ctxt, attachment_id: str) -> session.Json:
        """Return {'id', 'connection_info'}. Raise AttachmentNotFound."""
        return _attachment(self._attachments.call(ctxt, 'GET', attachment_id))

    def list_attachments(self, ctxt: session.Ctxt, instance_uuid: str) -> session.Jsons:
        """Return the server's attachments: [{'id', 'volume_id', 'status', …}]."""
        body = self.service.get(
            ctxt, '/attachments', params={'instance_id': instance_uuid, 'all_tenants': 1}
        )
        attachments: session.Jsons = body['attachments']
        return attachments

    def update_attachment(
        self,
        ctxt: session.Ctxt,
        attachment_id: str,
        connector: session.Json,
        *,
        mountpoint: str | None = None,
    ) -> session.Json:
        """Connect the volume to the host of `connector`. Return {'id', 'connection_info'}."""
        return _attachment(
            self._attachments.call(
                ctxt,
                'PUT',
                attachment_id,
                json={'attachment': {'connector': _connector(connector, mountpoint)}},
                errors=CONFLICT,
            )
        )

    def complete_attachment(self, ctxt: session.Ctxt, attachment_id: str) -> None:
        """Report that the host uses the volume, whose status becomes in-use."""
        self._attachments.call(
            ctxt, 'POST', attachment_id, '/action', json={'os-complete': {}}, errors=CONFLICT
        )

    def delete_attachment(self, ctxt: session.Ctxt, attachment_id: str) -> None:
        """End an attachment, if it exists."""
        self._attachments.call(ctxt, 'DELETE', attachment_id, errors={404: None, **CONFLICT})

    # ---- snapshots ----------------------------------------------------------

    def get_snapshot(self, ctxt: session.Ctxt, snapshot_id: str) -> session.Json:
        """Return {'id', 'volume_id', 'status', 'size', 'name'}. Raise SnapshotNotFound."""
        snapshot: session.Json = self._snapshots.call(ctxt, 'GET', snapshot_id).json()['snapshot']
        return snapshot

    def snapshots_of(self, ctxt: session.Ctxt, volume_id: str) -> session.Jsons:
        """Return the snapshots of a volume: [{'id', 'status', 'size', 'metadata', …}]."""
        params: session.Json = {'volume_id': volume_id}
        if not self.service.has_user(ctxt):
            params['all_tenants'] = 1
        body = self.service.get(ctxt, '/snapshots/detail', params=params, as_user=True)
        snapshots: session.Jsons = body['snapshots']
        return snapshots

    def create_snapshot(
        self,
        ctxt: session.Ctxt,
        volume_id: str,
        name: str,
        *,
        metadata: dict[str, str] | None = None,
    ) -> session.Json:
        """Start a snapshot of the volume, which may be in use. Return it.

        Without the user's token it is created in our name, in the user's project.
        """
        body = {'volume_id': volume_id, 'name': name, 'force': True, 'metadata': metadata or {}}
        missing = self._volumes.missing(volume_id)
        response = self.service.call(
            ctxt,
            'POST',
            '/snapshots',
            json={'snapshot': body},
            as_user=session.PROJECT,
            errors={400: exception.Invalid, 404: missing, 413: OVER_QUOTA},
        )
        snapshot: session.Json = response.json()['snapshot']
        return snapshot

    def report_snapshot(self, ctxt: session.Ctxt, snapshot_id: str, status: str) -> None:
        """Report the host's part of a snapshot as done. status: 'creating' or 'deleting'

        Raises SnapshotNotFound, and Conflict if the snapshot's status does not allow that.
        """
        body = {'os-update_snapshot_status': {'status': status, 'progress': '90%'}}
        self._snapshots.call(
            ctxt, 'POST', snapshot_id, '/action', json=body, as_user=False, errors=CONFLICT
        )

    def delete_snapshot(self, ctxt: session.Ctxt, snapshot_id: str) -> None:
        """Delete the snapshot, if it exists."""
        self._snapshots.call(ctxt, 'DELETE', snapshot_id, errors={404: None, **CONFLICT})


def _connector(connector: session.Json, mountpoint: str | None) -> session.Json:
    return connector if mountpoint is None else {**connector, 'mountpoint': mountpoint}


def _attachment(response: requests.Response) -> session.Json:
    body = response.json()['attachment']
    return {'id': body['id'], 'connection_info': body.get('connection_info') or {}}
