"""Volumes of servers, their attachments, and images made of servers.

What cannot be seen: a volume that was made for a boot and stays after its server is
deleted. Users may want it; the record that would say so is deleted with the server. So do
snapshots stay whose image its owner has deleted.
"""

import collections
from collections.abc import Callable
from collections.abc import Iterator
import datetime

from nova_lite import states
from nova_lite.clients import image as image_client
from nova_lite.clients import release
from nova_lite.clients import session
from nova_lite.clients import volume as volume_client
from nova_lite.db import rows
from nova_lite.saga import journal
from nova_lite.verify import age_limits
from nova_lite.verify import findings
from nova_lite.verify import holdings
from nova_lite.verify import observed

Finding = findings.Finding
_V = states.VmState
# Statuses of a volume that an operation is changing.
PASSING = ('reserved', 'attaching', 'detaching')
# Statuses in which a volume is not kept for the servers that have it.
LOST = ('available', 'error')
# The migration status of a volume to which Cinder copies another volume.
TARGET = 'target:'
# Servers in these states keep the volumes that were reserved for them.
RESERVING = (_V.SHELVED_OFFLOADED, _V.ERROR, _V.BUILDING)
UPLOADING = ('queued', 'saving', 'importing', 'uploading')


def _owner(attachment: session.Json) -> str | None:
    return attachment.get('instance') or attachment.get('instance_uuid')


def attachments(snapshot: observed.Snapshot) -> Iterator[findings.Finding]:
    """I5: each attachment of a server is named by a block device."""
    named = {
        device.attachment_id
        for cell in snapshot.cells
        for device in cell.block_devices
        if device.attachment_id
    }
    rows = {row.uuid: row for _cell, row in snapshot.instances()}
    busy = snapshot.busy()
    for attachment in snapshot.attachments:
        uuid = _owner(attachment)
        if uuid in busy or uuid not in rows or rows[uuid].task_state:
            continue
        if attachment['id'] not in named:
            yield Finding(
                'I5', f'attachment {attachment["id"]}', f'is not used by its server {uuid}'
            )


def connections(snapshot: observed.Snapshot) -> Iterator[findings.Finding]:
    """I5: the host of a server is connected to the recorded volumes."""
    known = {attachment['id']: attachment.get('status') for attachment in snapshot.attachments}
    devices = {cell.id: cell.devices() for cell in snapshot.cells}
    for cell, row in snapshot.resting():
        if row.vm_state in holdings.UNSETTLED:
            continue
        for device in devices[cell.id][row.uuid]:
            if not device.volume_id:
                continue
            status = known.get(device.attachment_id, 'missing')
            if status != 'attached':
                yield Finding(
                    'I5', f'volume {device.volume_id}', f'of server {row.uuid} is {status}'
                )


def passing(snapshot: observed.Snapshot) -> Iterator[findings.Finding]:
    """I5: no volume is reserved, attaching or detaching without an operation.

    Other clients of the volume service may hold volumes too, for consumers of their own.
    """
    rows = {row.uuid: row for _cell, row in snapshot.instances() if not row.hidden}
    ours = rows.keys() | snapshot.mappings.keys() | snapshot.withdrawn.keys()
    busy, owners = snapshot.busy(), collections.defaultdict(set)
    for cell in snapshot.cells:
        for device in cell.block_devices:
            owners[device.volume_id].add(device.instance_uuid)
    for attachment in snapshot.attachments:
        owners[attachment['volume_id']].add(_owner(attachment))
    for volume in snapshot.volumes:
        servers = owners[volume['id']] & ours
        if volume['status'] not in PASSING or not servers:
            continue
        explained = any(
            uuid in busy
            or uuid in snapshot.build_requests
            or uuid in snapshot.withdrawn
            or (uuid in rows and (rows[uuid].task_state or rows[uuid].vm_state in RESERVING))
            for uuid in servers
        )
        if not explained:
            yield Finding(
                'I5',
                f'volume {volume["id"]}',
                f'is {volume["status"]} and no operation uses it',
            )


def statuses(snapshot: observed.Snapshot) -> Iterator[findings.Finding]:
    """I5: volumes of servers are in use, or reserved for servers that are on no host.

    Anyone could take a volume that is available. Other clients may connect a volume that
    several servers can have, and statuses of work on a volume in use (an upload, an
    extension) are theirs.
    """
    on_host, on_none = _volumes_at_rest(snapshot)
    connected = {
        attachment['volume_id']
        for attachment in snapshot.attachments
        if attachment.get('status') == 'attached'
    }
    for volume in snapshot.volumes:
        uuid, status = volume['id'], volume['status']
        known = uuid in connected if uuid in on_host else uuid in on_none
        if known and status in LOST:
            yield Finding('I5', f'volume {uuid}', f'is {status} and belongs to a server')
        elif uuid in on_none and status == 'in-use' and uuid not in connected:
            yield Finding('I5', f'volume {uuid}', 'is in-use and no host is connected to it')


def _volumes_at_rest(snapshot: observed.Snapshot) -> tuple[set[str], set[str]]:
    """Return ids of volumes of servers that nothing is done to: (of those on a host, on none)."""
    busy = snapshot.busy()
    found: tuple[set[str], set[str]] = (set(), set())
    for cell in snapshot.cells:
        devices = cell.devices()
        for row in cell.instances:
            passes = row.hidden or row.task_state or row.uuid in busy
            if not passes and row.vm_state not in holdings.UNSETTLED:
                volumes = {device.volume_id for device in devices[row.uuid]} - {None}
                found[0 if row.host else 1].update(volumes)
    return found


def given_back(
    snapshot: observed.Snapshot, ages: age_limits.AgeLimits
) -> Iterator[findings.Finding]:
    """I5: reservations of withdrawn servers are released."""
    for attachment in snapshot.attachments:
        request = snapshot.withdrawn.get(_owner(attachment) or '')
        if request and (snapshot.now - request.withdrawn_at).total_seconds() >= ages.work:
            yield Finding(
                'I5',
                f'attachment {attachment["id"]}',
                f'was not deleted when server {request.instance_uuid} was withdrawn',
            )


def made_twice(snapshot: observed.Snapshot) -> Iterator[findings.Finding]:
    """I5: only one volume was created for each block device of a server."""
    settled = {
        row.uuid
        for _cell, row in snapshot.instances()
        if not row.task_state and row.vm_state not in RESERVING
    }
    devices = {
        device.uuid: device
        for cell in snapshot.cells
        for device in cell.block_devices
        if device.instance_uuid in settled
    }
    for volume in snapshot.volumes:
        device = devices.get((volume.get('metadata') or {}).get(volume_client.DEVICE))
        if device is None or device.source_type == 'volume' or not device.volume_id:
            continue
        # A migration that Cinder has not ended copies the volume with its name.
        if (volume.get('migration_status') or '').startswith(TARGET):
            continue
        if device.volume_id != volume['id'] and volume['status'] == 'available':
            yield Finding(
                'I5',
                f'volume {volume["id"]}',
                f'was made for server {device.instance_uuid}, which has {device.volume_id}',
            )


def snapshots(snapshot: observed.Snapshot) -> Iterator[findings.Finding]:
    """I5: snapshots that were taken for an image are deleted if the image could not be made."""
    undone = {saga.uuid for saga in snapshot.sagas if saga.state == journal.UNDONE}
    for each in snapshot.volume_snapshots:
        image_id = (each.get('metadata') or {}).get(volume_client.IMAGE)
        if image_id in undone:
            yield Finding(
                'I5',
                f'snapshot {each["id"]}',
                f'of volume {each["volume_id"]} was taken for image {image_id}, which was not made',
            )


def temporary_images(snapshot: observed.Snapshot) -> Iterator[findings.Finding]:
    """I5: images of ended moves and of unshelved servers are deleted."""
    moves = _moves(snapshot)
    under_way = {saga.uuid for saga in snapshot.sagas if saga.active_for}
    for image, uuid, row in _idle_images(snapshot, lambda image: image['id'] in under_way):
        name = image['name'] or ''
        if image.get('protected'):
            continue  # Its owner wants to keep it.
        if image['id'] in moves:
            yield Finding('I5', f'image {image["id"]}', f'({name}) is left over from a move')
        if image_client.SHELVED not in image['properties']:
            continue
        if row is None and uuid in snapshot.mappings:
            yield Finding('I5', f'image {image["id"]}', f'({name}) is of server {uuid}, deleted')
        elif row is not None and row.system_metadata.get(release.SHELVED_IMAGE) != image['id']:
            yield Finding(
                'I5', f'image {image["id"]}', f'({name}) is not what server {uuid} was shelved in'
            )


def uploads(snapshot: observed.Snapshot, ages: age_limits.AgeLimits) -> Iterator[findings.Finding]:
    """I5: no image of a server stays queued or saving."""
    moves = _moves(snapshot)
    for image, uuid, _row in _idle_images(snapshot, lambda image: image['id'] in moves):
        old = _age_s(snapshot, image['created_at']) >= ages.work
        # Its owner alone can delete a protected one.
        if image['status'] in UPLOADING and old and not image.get('protected'):
            yield Finding(
                'I5',
                f'upload of image {image["id"]}',
                f'({image["name"]}) of server {uuid} is {image["status"]}',
            )


def _moves(snapshot: observed.Snapshot) -> set[str]:
    """uuids of migrations, which are the ids of the images that disks travel in."""
    return {migration.uuid for migration in holdings.migrations(snapshot)}


def _idle_images(
    snapshot: observed.Snapshot, is_exempt: Callable[[session.Json], bool]
) -> Iterator[tuple[session.Json, str | None, rows.Row | None]]:
    """Yield (image, server uuid, row or None) of images of servers that nothing is done to."""
    rows = {row.uuid: row for _cell, row in snapshot.instances() if not row.hidden}
    busy = snapshot.busy()
    for image in snapshot.server_images:
        uuid = image['properties'].get('instance_uuid')
        row = rows.get(uuid)
        if not is_exempt(image) and uuid not in busy and not (row is not None and row.task_state):
            yield image, uuid, row


def _age_s(snapshot: observed.Snapshot, text: str) -> float:
    moment = datetime.datetime.fromisoformat(text.rstrip('Z')).replace(tzinfo=None)
    return (snapshot.now - moment).total_seconds()
