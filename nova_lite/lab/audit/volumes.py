"""Checks of Cinder's volumes and attachments against block devices."""

from collections.abc import Iterator

from nova_lite import states
from nova_lite.lab.audit import observed
from nova_lite.lab.audit import violation
from nova_lite.verify import age_limits

Violation = violation.Violation
Snapshot = observed.Snapshot
Ages = age_limits.AgeLimits
# Statuses in which Cinder keeps a volume for no server.
LOST = ('available', 'error')


def attachment_missing(snapshot: Snapshot, _ages: Ages) -> Iterator[Violation]:
    """V1: Each attachment that a block device names exists in Cinder.

    Cinder lets another server have the volume. The guest keeps its connection until it is
    stopped, and then cannot start.
    """
    known = {each['id'] for each in snapshot.volumes.attachments}
    for row, device in _devices(snapshot):
        if device.attachment_id and device.attachment_id not in known:
            detail = (
                f'of server {row.uuid} has the attachment {device.attachment_id}, which is gone'
            )
            values = {'server': row.uuid, 'volume': device.volume_id}
            yield Violation(f'volume {device.volume_id}', detail, **values)


def attachment_unused(snapshot: Snapshot, _ages: Ages) -> Iterator[Violation]:
    """V2: Each attachment of a server at rest is named by a block device of the server.

    A detachment or a move ended halfway. The volume stays in use.
    """
    named = {device.attachment_id for cell in snapshot.cells for device in cell.devices}
    resting = {row.uuid for _cell, row in snapshot.resting()}
    for uuid, attachment in _attachments(snapshot):
        if uuid in resting and attachment['id'] not in named:
            detail = f'of volume {attachment["volume_id"]} is not used by its server {uuid}'
            yield Violation(f'attachment {attachment["id"]}', detail, attachment=attachment['id'])


def attachment_orphaned(snapshot: Snapshot, _ages: Ages) -> Iterator[Violation]:
    """V3: Each attachment belongs to a server that exists.

    The server was deleted while Cinder did not answer. The volume stays in use. Attachments
    for other consumers than servers of this nova, such as a second region with the same
    Cinder, are shown as well.
    """
    for uuid, attachment in _attachments(snapshot):
        if uuid not in snapshot.expected:
            detail = f'of volume {attachment["volume_id"]} belongs to no server: {uuid}'
            yield Violation(f'attachment {attachment["id"]}', detail, attachment=attachment['id'])


def volume_missing(snapshot: Snapshot, _ages: Ages) -> Iterator[Violation]:
    """V4: Each volume of a server exists.

    It was deleted in Cinder after a reset of its status. The server cannot start again.
    """
    for row, device in _devices(snapshot):
        if device.volume_id not in snapshot.volumes.statuses:
            detail = f'of server {row.uuid} does not exist'
            values = {'server': row.uuid, 'volume': device.volume_id}
            yield Violation(f'volume {device.volume_id}', detail, **values)


def volume_lost(snapshot: Snapshot, _ages: Ages) -> Iterator[Violation]:
    """V5: No volume of a server is available or in error.

    Anyone may attach an available volume to another server, and two guests would write to it.
    """
    for row, device in _devices(snapshot):
        status = snapshot.volumes.statuses.get(device.volume_id)
        if status in LOST:
            detail = f'is {status} and belongs to server {row.uuid}'
            yield Violation(f'volume {device.volume_id}', detail, volume=device.volume_id)


def _devices(snapshot: Snapshot) -> Iterator[tuple[observed.Row, observed.Row]]:
    """Yield (server, device) of each volume of each server at rest."""
    rows = {
        (cell.id, row.uuid): row
        for cell, row in snapshot.resting()
        if row.vm_state != states.VmState.SHELVED_OFFLOADED
    }
    for cell in snapshot.cells:
        for device in cell.devices:
            row = rows.get((cell.id, device.instance_uuid))
            if row is not None and device.volume_id:
                yield row, device


def _attachments(snapshot: Snapshot) -> Iterator[tuple[str, observed.Json]]:
    """Yield (server uuid, attachment) of each attachment for a server."""
    for each in snapshot.volumes.attachments:
        uuid = each.get('instance') or each.get('instance_uuid')
        if uuid:
            yield uuid, each
