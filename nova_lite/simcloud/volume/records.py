"""Queries and changes of volumes, and their states."""

import typing

import sqlalchemy as sa

from nova_lite.simcloud import bodies
from nova_lite.simcloud import caller as callers
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import resources
from nova_lite.simcloud.image import records as image_records
from nova_lite.simcloud.volume import quotas
from nova_lite.simcloud.volume import tables
from nova_lite.simcloud.volume import volume_types

VOLUMES = tables.volumes
ATTACHMENTS = tables.attachments
GIB = 2**30
DELETABLE = ('available', 'error', 'error_restoring', 'error_extending', 'error_managing')
# The status of a volume follows from its most advanced attachment.
BY_ATTACHMENT = (
    ('attached', 'in-use'),
    ('attaching', 'attaching'),
    ('detaching', 'detaching'),
    ('reserved', 'reserved'),
)
# Migration statuses of a volume that is not migrating.
NOT_MIGRATING = (None, 'deleting', 'error', 'success')
IMAGE_FIELDS = ('checksum', 'container_format', 'disk_format', 'min_disk', 'min_ram', 'size')


def invalid(reason: str) -> faults.BadRequest:
    """Return the fault for an operation that the status of a volume does not allow."""
    return faults.BadRequest(f'Invalid volume: {reason}')


def getter(table: sa.Table, title: str) -> resources.GetById:
    """Return `get` of a resource: one row that the caller's project owns."""

    def get(conn: sa.Connection, caller: callers.Caller, row_id: str) -> database.Row:
        row = database.find(conn, table, id=row_id)
        if row is None or not caller.sees(row['project_id']):
            raise faults.NotFound(f'{title} {row_id[:64]} could not be found.')
        return row

    return get


get = getter(VOLUMES, 'Volume')
get_snapshot = getter(tables.snapshots, 'Snapshot')
get_backup = getter(tables.backups, 'Backup')


def attachments_of(conn: sa.Connection, volume_id: str) -> list[database.Row]:
    """Return the attachments of a volume, oldest first."""
    return database.find_all(conn, ATTACHMENTS, volume_id=volume_id, order=('created_at', 'id'))


def save(conn: sa.Connection, row: database.Row, **values: typing.Any) -> database.Row:
    """Write columns of a volume. Return the new row."""
    return database.save(conn, VOLUMES, row, **values)


def migration_of(row: database.Row) -> str | None:
    """Return the status of a volume's last migration; None if there was none."""
    found: str | None = row['admin_metadata'].get(tables.MIGRATION)
    return found


def is_migrating(row: database.Row) -> bool:
    """Return whether a volume is migrating, or is the target of a migration."""
    return migration_of(row) not in NOT_MIGRATING


def settle(conn: sa.Connection, row: database.Row) -> database.Row:
    """Give a volume the status that follows from its attachments. Return its row.

    A migrating volume keeps its status when it loses its last attachment, as in Cinder.
    """
    states = {one['attach_status'] for one in attachments_of(conn, row['id'])}
    if not states and is_migrating(row):
        return row
    status = next((status for state, status in BY_ATTACHMENT if state in states), 'available')
    return save(conn, row, status=status)


def require_status(row: database.Row, *allowed: str) -> None:
    """Raise BadRequest unless the volume has one of the allowed statuses."""
    if row['status'] not in allowed:
        raise invalid(
            f'Volume {row["id"]} status must be {" or ".join(allowed)}, but current '
            f'status is: {row["status"]}.'
        )


def image_metadata(image: database.Row) -> dict[str, str]:
    """Return the metadata of a volume that its image determines. Values are strings."""
    known = {
        'image_id': image['id'],
        'image_name': image['name'],
        **{name: image[name] for name in IMAGE_FIELDS if image[name] is not None},
    }
    return {name: str(value) for name, value in (known | image['properties']).items()}


def _from_image(
    conn: sa.Connection, caller: callers.Caller, image_id: str, size: int | None
) -> database.Row:
    try:
        image = image_records.get(conn, caller, image_id)
    except faults.NotFound as error:
        raise faults.BadRequest(
            f'Invalid image identifier or unable to access requested image: {image_id[:64]}'
        ) from error
    if image['status'] != 'active':
        raise faults.BadRequest(f'Invalid input received: Image {image_id} is not active.')
    needed = max(image['min_disk'], -(-(image['virtual_size'] or image['size'] or 0) // GIB))
    if size < needed:
        raise faults.BadRequest(
            f'Invalid input received: Volume size {size}GB cannot be smaller '
            f'than the image minDisk size {needed}GB.'
        )
    return {'bootable': True, 'image_metadata': image_metadata(image)}


def _from_snapshot(
    conn: sa.Connection, caller: callers.Caller, snapshot_id: str, size: int | None
) -> database.Row:
    row = get_snapshot(conn, caller, snapshot_id)
    if row['status'] != 'available':
        raise faults.BadRequest(
            f'Invalid snapshot: Originating snapshot status must be available, not {row["status"]}.'
        )
    origin = database.get(conn, VOLUMES, id=row['volume_id'])
    return _copy(origin, row['size'], size, snapshot_id=snapshot_id)


def _from_volume(
    conn: sa.Connection, caller: callers.Caller, volume_id: str, size: int | None
) -> database.Row:
    origin = get(conn, caller, volume_id)
    require_status(origin, 'available', 'in-use')
    return _copy(origin, origin['size'], size, source_volid=volume_id)


def _from_backup(
    conn: sa.Connection, caller: callers.Caller, backup_id: str, size: int | None
) -> database.Row:
    row = get_backup(conn, caller, backup_id)
    if row['status'] != 'available':
        raise faults.BadRequest(
            f'Invalid backup: Backup status must be available, not {row["status"]}.'
        )
    return {**contents(row), 'size': _at_least(row['size'], size)}


def contents(row: database.Row) -> database.Row:
    """Return the columns of a volume or a backup that describe its contents."""
    return {name: row[name] for name in ('bootable', 'image_metadata')}


def taken_of(volume: database.Row, caller: callers.Caller, wanted: bodies.Json) -> database.Row:
    """Return the columns of a new snapshot or backup that its volume and a request determine."""
    return {
        'project_id': volume['project_id'],
        'user_id': caller.user_id,
        'volume_id': volume['id'],
        'name': wanted.get('name') or '',
        'description': wanted.get('description'),
        'size': volume['size'],
        'metadata': wanted.get('metadata') or {},
    }


def _at_least(least: int, size: int | None) -> int:
    """Return the size of a new volume. Raise BadRequest if it is smaller than `least`."""
    if size is not None and size < least:
        raise faults.BadRequest(
            f'Invalid input received: Volume size {size}GB cannot be smaller '
            f'than the source of {least}GB.'
        )
    return size or least


def _copy(origin: database.Row, least: int, size: int | None, **source: typing.Any) -> database.Row:
    return {
        **contents(origin),
        'size': _at_least(least, size),
        'origin_type': origin['volume_type_id'],
        **source,
    }


# Sources of the contents of a new volume; SIZED are the sources with a size.
SIZED = {
    'snapshot_id': _from_snapshot,
    'source_volid': _from_volume,
    'backup_id': _from_backup,
}
SOURCES = {'imageRef': _from_image, 'image_id': _from_image, **SIZED}


def _source(
    conn: sa.Connection, caller: callers.Caller, wanted: bodies.Json, size: int | None
) -> database.Row:
    """Return the columns that the source of a new volume determines."""
    given = [name for name in SOURCES if wanted.get(name)]
    if len(given) > 1:
        raise faults.BadRequest(f'Only one of {", ".join(given)} is allowed.')
    if size is None and not set(given) & set(SIZED):
        raise faults.BadRequest("Invalid input received: 'size' is missing.")
    if not given:
        return {}
    (name,) = given
    return SOURCES[name](conn, caller, wanted[name], size)


def _type(
    conn: sa.Connection, caller: callers.Caller, wanted: bodies.Json, origin_type: str | None
) -> database.Row:
    name = wanted.get('volume_type') or origin_type or volume_types.DEFAULT_NAME
    row = volume_types.find(conn, caller, name)
    if row is None:
        raise faults.NotFound(f'Volume type with name {name[:64]} could not be found.')
    return row


def create(conn: sa.Connection, caller: callers.Caller, wanted: bodies.Json) -> database.Row:
    """Insert a volume from a request's values. Return its row with the status `creating`.

    The creation takes no time: the stored row is already available.
    """
    project_id = caller.owner_for(None)
    asked = int(wanted['size']) if wanted.get('size') is not None else None
    source = {'size': asked, **_source(conn, caller, wanted, asked)}
    kind = _type(conn, caller, wanted, source.pop('origin_type', None))
    size: int = source['size']
    quotas.require(conn, project_id, volumes=1, gigabytes=size)
    values = {
        'project_id': project_id,
        'user_id': caller.user_id,
        'name': wanted.get('name') or wanted.get('display_name') or '',
        'description': wanted.get('description') or wanted.get('display_description'),
        'multiattach': volume_types.allows_multiattach(kind),
        'volume_type_id': kind['id'],
        'availability_zone': wanted.get('availability_zone') or tables.ZONE,
        'metadata': wanted.get('metadata') or {},
    }
    row = database.insert(conn, VOLUMES, **{**values, **source})
    save(conn, row, status='available')
    return row


def delete(
    conn: sa.Connection,
    caller: callers.Caller,
    volume_id: str,
    *,
    cascade: bool = False,
    force: bool = False,
) -> None:
    """Delete a volume that is not used, with `cascade` also its snapshots.

    Snapshots that a former owner kept are deleted only with `force`.
    """
    row = get(conn, caller, volume_id)
    of_others = tables.snapshots.c.project_id != row['project_id']
    kept = not (cascade and force) and database.exists(
        conn, tables.snapshots, *([of_others] if cascade else ()), volume_id=volume_id
    )
    attached = attachments_of(conn, volume_id)
    is_in_use = row['status'] not in DELETABLE or attached
    if kept or is_migrating(row) or (is_in_use and not force):
        raise invalid(
            'Volume status must be available or error or error_restoring or '
            'error_extending or error_managing and must not be migrating, attached, '
            'belong to a group, have snapshots, awaiting a transfer, or be '
            'disassociated from snapshots after volume transfer.'
        )
    erase(conn, volume_id)


def erase(conn: sa.Connection, volume_id: str) -> None:
    """Delete a volume with its snapshots, attachments and transfers."""
    for table in (tables.snapshots, ATTACHMENTS, tables.transfers):
        database.delete(conn, table, volume_id=volume_id)
    database.delete(conn, VOLUMES, id=volume_id)


def reimage(
    conn: sa.Connection, row: database.Row, caller: callers.Caller, image_id: str
) -> database.Row:
    """Give a volume the attributes of a volume created from another image. Return its row."""
    return save(conn, row, **_from_image(conn, caller, image_id, row['size']))
