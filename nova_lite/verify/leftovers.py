"""What moves leave behind when they go wrong (I5): migrations, bindings, images, …"""

import collections

from nova_lite import states
from nova_lite.verify import findings
from nova_lite.verify import holdings

FINISHED = states.MigrationStatus.FINISHED


def migrations(picture):
    """Migrations that have not ended and that nobody works at."""
    busy = {saga.instance_uuid for saga in picture.sagas if saga.active_for}
    rows = {row.uuid: row for _cell, row in picture.instances() if not row.hidden}
    by_uuid = collections.defaultdict(list)
    for migration in holdings.migrations(picture):
        by_uuid[migration.uuid].append(migration)
    for uuid, records in by_uuid.items():
        open_ones = [each for each in records if each.status not in states.MIGRATION_OVER]
        if not open_ones or records[0].instance_uuid in busy:
            continue
        row = rows.get(records[0].instance_uuid)
        statuses = sorted(each.status for each in open_ones)
        waits = FINISHED in statuses and row is not None
        if not (waits and row.vm_state == states.VmState.RESIZED):
            yield findings.Finding(
                'I5', f'migration {uuid}', f'is {", ".join(statuses)} and nobody goes on with it'
            )


def bindings(picture):
    """Bindings of ports to hosts where the server neither is nor may go back to."""
    hosts = {row.uuid: {row.host} for _cell, row in picture.instances() if not row.hidden}
    busy = holdings.under_way(picture)
    for migration in holdings.migrations(picture):
        if migration.status in holdings.KEPT and migration.instance_uuid in hosts:
            hosts[migration.instance_uuid] |= {migration.source_compute, migration.dest_compute}
    for port in picture.ports:
        uuid = port['device_id']
        if uuid not in hosts or uuid in busy:
            continue
        for host in picture.bindings.get(port['id'], ()):
            if host and host not in hosts[uuid]:
                yield findings.Finding(
                    'I5', f'port {port["id"]}', f'of server {uuid} is bound to {host}'
                )


def attachments(picture):
    """Attachments of servers that no block device names."""
    named = {
        device.attachment_id
        for cell in picture.cells
        for device in cell.block_devices
        if device.attachment_id
    }
    rows = {row.uuid: row for _cell, row in picture.instances()}
    busy = holdings.under_way(picture)
    for attachment in picture.attachments:
        uuid = attachment.get('instance') or attachment.get('instance_uuid')
        if uuid in busy or uuid not in rows or rows[uuid].task_state:
            continue
        if attachment['id'] not in named:
            yield findings.Finding(
                'I5', f'attachment {attachment["id"]}', f'is not used by its server {uuid}'
            )


def connections(picture):
    """Volumes that the record says a server has, and that its host is not connected to."""
    known = {attachment['id']: attachment.get('status') for attachment in picture.attachments}
    busy = holdings.under_way(picture)
    for cell, row in picture.instances():
        unsettled = row.hidden or row.task_state or row.uuid in busy or not row.host
        if unsettled or row.vm_state in holdings.UNSETTLED:
            continue
        for device in cell.block_devices:
            if device.instance_uuid != row.uuid or not device.volume_id:
                continue
            status = known.get(device.attachment_id, 'missing')
            if status != 'attached':
                yield findings.Finding(
                    'I5', f'volume {device.volume_id}', f'of server {row.uuid} is {status}'
                )


def images(picture):
    """Images that disks travelled in between cells; they have the ids of the migrations."""
    moves = {migration.uuid for migration in holdings.migrations(picture)}
    under_way = {saga.uuid for saga in picture.sagas if saga.active_for}
    for image in picture.snapshots:
        if image['id'] in moves - under_way:
            yield findings.Finding(
                'I5', f'image {image["id"]}', f'({image["name"]}) is left over from a move'
            )
