"""The data of images, kept in the database in chunks.

Each upload writes under its own id. The image refers to that id only when all data is stored, so
a failed upload leaves nothing visible.
"""

from collections.abc import Iterable
from collections.abc import Iterator
import contextlib
import hashlib

import sqlalchemy as sa

from nova_lite import runtime
from nova_lite.simcloud import caller as callers
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud.image import disk_formats
from nova_lite.simcloud.image import records
from nova_lite.simcloud.image import tables

CHUNK_BYTES = 1024 * 1024


def _begin(
    conn: sa.Connection, caller: callers.Caller, image_id: str, upload_id: str
) -> database.Row:
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


def _append(conn: sa.Connection, upload_id: str, position: int, data: bytes) -> None:
    database.insert(conn, tables.chunks, upload_id=upload_id, position=position, data=data)


def _abandon(conn: sa.Connection, upload_id: str) -> None:
    database.delete(conn, tables.chunks, upload_id=upload_id)
    row = database.find(conn, tables.images, upload_id=upload_id, status='saving')
    if row:
        records.save(conn, row, status='queued', upload_id=None)


def _finish(conn: sa.Connection, upload_id: str, values: database.Row) -> None:
    row = database.find(conn, tables.images, upload_id=upload_id)
    if row is None:
        raise faults.of_status(410, 'The image was deleted while it was uploaded.')
    records.save(conn, row, status='active', **values)


def pieces_of(parts: Iterable[bytes], size: int) -> Iterator[bytes]:
    """Yield the bytes of `parts` in pieces of exactly `size` bytes; the last may be shorter."""
    held = bytearray()
    for part in parts:
        held += part
        while len(held) >= size:
            yield bytes(held[:size])
            del held[:size]
    if held:
        yield bytes(held)


def store(conn: sa.Connection, row: database.Row, data: bytes) -> database.Row:
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


def upload(
    db: database.Database,
    caller: callers.Caller,
    image_id: str,
    parts: Iterator[bytes],
    *,
    expected_bytes: int | None = None,
) -> None:
    """Store the bytes of `parts` as the data of a queued image.

    Raise BadRequest for another number of bytes than `expected_bytes`, and UnsupportedMediaType
    for data of another format than the image's. After a failure the image is queued again.
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


def download(db: database.Database, upload_id: str) -> Iterator[bytes]:
    """Yield the stored bytes of an upload. Each piece is read when it is needed."""
    position = 0
    while True:
        with db.read() as conn:
            chunk = database.find(conn, tables.chunks, upload_id=upload_id, position=position)
        if chunk is None:
            return
        yield chunk['data']
        position += 1
