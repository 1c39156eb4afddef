"""Block devices and tags of servers."""

from collections.abc import Iterable
from collections.abc import Sequence
import functools
import typing

import sqlalchemy as sa

from nova_lite.db import rows
from nova_lite.db.cell import models
from nova_lite.dialects import execute

DEVICES = models.BlockDevice.__table__
TAGS = models.Tag.__table__
# Whether a row of `instances` is that of a server with tags.
HAS_TAGS = (
    sa.exists().where(TAGS.c.instance_uuid == models.Instance.__table__.c.uuid).label('has_tags')
)
# The id of a volume, and whether it is deleted with its server.
Volume: typing.TypeAlias = tuple[str, bool]


@functools.cache
def _volumes(many: bool) -> rows.Select:
    """Query of the attached volumes of the servers `uuids`; see `rows.among`."""
    return sa.select(
        DEVICES.c.instance_uuid,
        DEVICES.c.volume_id.label('value'),
        DEVICES.c.delete_on_termination,
        DEVICES.c.id,
    ).where(
        rows.among(DEVICES.c.instance_uuid, 'uuids', many=many),
        DEVICES.c.destination_type == 'volume',
        DEVICES.c.volume_id.is_not(None),
    )


@functools.cache
def _volumes_and_tags(many: bool) -> sa.CompoundSelect[*tuple[typing.Any, ...]]:
    """Query of the attached volumes, and of the tags, whose `id` is NULL."""
    tags = sa.select(TAGS.c.instance_uuid, TAGS.c.tag, sa.null(), sa.null())
    return sa.union_all(
        _volumes(many), tags.where(rows.among(TAGS.c.instance_uuid, 'uuids', many=many))
    )


def create_block_devices(connection: sa.Connection, values: Sequence[rows.Values]) -> None:
    """Add block devices (a list of dicts of columns)."""
    rows.insert(connection, DEVICES, values)


def block_devices(connection: sa.Connection, uuids: Iterable[str]) -> dict[str, list[rows.Row]]:
    """Return {server uuid: [block device, ...]} for several servers."""
    found = rows.every(connection, DEVICES, instance_uuid=list(uuids), order_by=DEVICES.c.id)
    grouped: dict[str, list[rows.Row]] = {}
    for row in found:
        grouped.setdefault(row.instance_uuid, []).append(row)
    return grouped


def volumes_and_tags(
    connection: sa.Connection, uuids: Iterable[str], *, tags: bool
) -> tuple[dict[str, list[Volume]], dict[str, list[str]]]:
    """Return {server uuid: [(volume id, delete_on_termination), ...]}, {server uuid: [tag, ...]}.

    Attached volumes in the order of their devices; tags in the order of code points, none of them
    if not `tags`.
    """
    many, parameter = rows.one_or_many(list(uuids))
    query = _volumes_and_tags(many) if tags else _volumes(many)
    volumes: dict[str, list[tuple[int, str, bool]]] = {}
    tagged: dict[str, list[str]] = {}
    for uuid, value, deletes, identity in execute.every(connection, query, {'uuids': parameter}):
        if identity is None:
            tagged.setdefault(uuid, []).append(value)
        else:
            volumes.setdefault(uuid, []).append((identity, value, deletes))
    return (
        {uuid: [each[1:] for each in sorted(found)] for uuid, found in volumes.items()},
        {uuid: sorted(found) for uuid, found in tagged.items()},
    )


def update_block_device(connection: sa.Connection, uuid: str, values: rows.Values) -> int:
    """Change columns of a block device. Return the number of changed rows."""
    return rows.change(connection, DEVICES, values, uuid=uuid)


def change_attachment(
    connection: sa.Connection, uuid: str, former: str | None, values: rows.Values
) -> int:
    """Change a block device if it has the attachment `former`. Return the number of rows."""
    return rows.change(connection, DEVICES, values, uuid=uuid, attachment_id=former)


def destroy_block_device(connection: sa.Connection, uuid: str) -> int:
    """Remove a block device. Return the number of deleted rows."""
    return rows.delete(connection, DEVICES, uuid=uuid)


def destroy_block_devices(connection: sa.Connection, instance_uuid: str) -> int:
    """Remove a server's block devices. Return their number."""
    return rows.delete(connection, DEVICES, instance_uuid=instance_uuid)


def create_tags(connection: sa.Connection, instance_uuid: str, tags: Iterable[str]) -> None:
    """Add tags to a server that has none of them."""
    rows.insert(
        connection,
        TAGS,
        [{'instance_uuid': instance_uuid, 'tag': tag} for tag in dict.fromkeys(tags)],
    )


def tags(connection: sa.Connection, uuids: Iterable[str]) -> dict[str, list[str]]:
    """Return {server uuid: [tag, ...]} in alphabetical order."""
    found = rows.every(connection, TAGS, order_by=TAGS.c.tag, instance_uuid=list(uuids))
    grouped: dict[str, list[str]] = {}
    for row in found:
        grouped.setdefault(row.instance_uuid, []).append(row.tag)
    return grouped


def destroy_tags(connection: sa.Connection, instance_uuid: str, tag: str | None = None) -> int:
    """Remove one tag or all tags of a server. Return the number of deleted rows."""
    where: dict[str, typing.Any] = {'instance_uuid': instance_uuid}
    if tag is not None:
        where['tag'] = tag
    return rows.delete(connection, TAGS, **where)
