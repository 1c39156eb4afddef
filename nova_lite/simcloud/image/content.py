"""The data of images, kept in the database in chunks.

Each upload writes under an id of its own, which the image refers to once all data is stored.
So an upload that fails leaves nothing visible.
"""

import contextlib
import hashlib

from nova_lite import runtime
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud.image import disk_formats
from nova_lite.simcloud.image import records
from nova_lite.simcloud.image import tables

CHUNK_BYTES = 1024 * 1024


def _begin(conn, caller, image_id, upload_id):
    row = records.get_own(conn, caller, image_id)
    if row['status'] != 'queued':
        raise faults.Conflict(
            f'Image status transition from {row["status"]} to saving is not allowed'
        )
    if not row['disk_format'] or not row['container_format']:
        raise faults.BadRequest(
            'Properties disk_format, container_format must be set prior to saving data.'
        )
    return records.save(conn, row, status='saving', upload_id=upload_id)


def _append(conn, upload_id, position, data):
    database.insert(conn, tables.chunks, upload_id=upload_id, position=position, data=data)


def _abandon(conn, upload_id):
    database.delete(conn, tables.chunks, upload_id=upload_id)
    row = database.find(conn, tables.images, upload_id=upload_id, status='saving')
    if row:
        records.save(conn, row, status='queued', upload_id=None)


def _finish(conn, upload_id, values):
    row = database.find(conn, tables.images, upload_id=upload_id)
    if row is None:
        raise faults.of_status(410, 'The image was deleted while it was uploaded.')
    records.save(conn, row, status='active', **values)


def pieces_of(parts, size):
    """Return the same bytes in pieces of exactly `size`, the last one shorter."""
    held = bytearray()
    for part in parts:
        held += part
        while len(held) >= size:
            yield bytes(held[:size])
            del held[:size]
    if held:
        yield bytes(held)


def store(conn, row, data):
    """Make `data` the whole content of an image and the image active, in one transaction."""
    upload_id = runtime.new_uuid()
    for position, piece in enumerate(pieces_of([data], CHUNK_BYTES)):
        _append(conn, upload_id, position, piece)
    return records.save(
        conn,
        row,
        status='active',
        upload_id=upload_id,
        size=len(data),
        checksum=hashlib.md5(data, usedforsecurity=False).hexdigest(),
        os_hash_value=hashlib.sha512(data).hexdigest(),
    )


def upload(db, caller, image_id, parts, *, expected_bytes=None):
    """Store the bytes of `parts` as the data of a queued image.

    Raise BadRequest when fewer than `expected_bytes` came, and UnsupportedMediaType for data
    of another format than the image's; the image is queued again after any failure.
    """
    upload_id = runtime.new_uuid()
    row = db.change(_begin, caller, image_id, upload_id)
    md5, sha512, size = hashlib.md5(usedforsecurity=False), hashlib.sha512(), 0
    inspection = disk_formats.Inspection(row, parts)
    with contextlib.ExitStack() as undo:
        undo.callback(db.change, _abandon, upload_id)
        for position, data in enumerate(pieces_of(inspection.parts, CHUNK_BYTES)):
            md5.update(data)
            sha512.update(data)
            size += len(data)
            db.change(_append, upload_id, position, data)
        if expected_bytes is not None and size != expected_bytes:
            raise faults.BadRequest(f'{size} of {expected_bytes} bytes were received.')
        db.change(
            _finish,
            upload_id,
            {
                'size': size,
                'checksum': md5.hexdigest(),
                'os_hash_value': sha512.hexdigest(),
                'virtual_size': inspection.virtual_size(),
            },
        )
        undo.pop_all()


def download(db, upload_id):
    """Return the stored bytes, piece by piece; each is read when it is needed."""
    position = 0
    while True:
        with db.read() as conn:
            chunk = database.find(conn, tables.chunks, upload_id=upload_id, position=position)
        if chunk is None:
            return
        yield chunk['data']
        position += 1
