"""Shares that are attached to servers.

A share is attached by a saga. Its status is `inactive` while the guest is off, and `active`
while its host has mounted it for the guest. The caller has locked the server's row, unless a
function says otherwise. Source: reference/nova/api-surface 2.3.
"""

from collections.abc import Iterable
from collections.abc import Mapping
import typing

import sqlalchemy as sa

from nova_lite import exception
from nova_lite import states
from nova_lite.db import rows
from nova_lite.db.cell import models

TABLE = models.ShareMapping.__table__
# Whether a row of `instances` is that of a server with shares.
HAS_SHARES = (
    sa.exists().where(TABLE.c.instance_uuid == models.Instance.__table__.c.uuid).label('has_shares')
)
Status = states.ShareStatus
# Statuses that a host may change, and set. The others belong to sagas.
MOUNTABLE = (Status.INACTIVE, Status.ACTIVE, Status.ERROR)
DETACHABLE = (Status.INACTIVE, Status.ERROR)


def add(connection: sa.Connection, instance_uuid: str, columns: rows.Values) -> None:
    """Record a share that is about to be attached. Raise ShareAlreadyAttached.

    It replaces a failed attachment of the share that has no access and the same uuid, so that the
    locks that the failure has left are found again.
    """
    taken = exception.ShareAlreadyAttached(
        share_id=columns['share_id'], tag=columns['tag'], instance_id=instance_uuid
    )
    for known in of(connection, [instance_uuid]).get(instance_uuid, ()):
        if known.uuid == columns['uuid'] and is_replaceable(known):
            destroy(connection, instance_uuid, known.uuid)
        elif known.share_id == columns['share_id'] or known.tag == columns['tag']:
            raise taken
    values = {**columns, 'instance_uuid': instance_uuid, 'status': str(Status.ATTACHING)}
    # A database may treat tags as equal that differ in case, or in spaces at their end.
    rows.insert_new(connection, TABLE, values, taken)


def is_replaceable(row: rows.Row) -> bool:
    """Return whether the attachment of a share has failed and has no access."""
    return row.status == Status.ERROR and not row.granted


def begin_detaching(connection: sa.Connection, instance_uuid: str, share_id: str) -> None:
    """Mark a share as about to be detached. Raise ShareNotAttached, or ShareInUse."""
    row = get(connection, instance_uuid, share_id)
    if row.status not in DETACHABLE:
        raise exception.ShareInUse(share_id=share_id, status=row.status)
    change(connection, row.uuid, {'status': Status.DETACHING}, status=DETACHABLE)


def of(connection: sa.Connection, uuids: Iterable[str]) -> dict[str, list[rows.Row]]:
    """Return {server uuid: [share, ...]} for several servers, in the order of attachment."""
    found = rows.every(connection, TABLE, instance_uuid=list(uuids), order_by=TABLE.c.id)
    grouped: dict[str, list[rows.Row]] = {}
    for row in found:
        grouped.setdefault(row.instance_uuid, []).append(row)
    return grouped


def of_server(connection: sa.Connection, instance_uuid: str) -> list[dict[str, typing.Any]]:
    """Return the shares of a server as plain values, for a message."""
    return plain(of(connection, [instance_uuid]).get(instance_uuid, ()))


def plain(found: Iterable[rows.Row]) -> list[dict[str, typing.Any]]:
    """Return shares as plain values, for a message."""
    return [{name: getattr(row, name) for name in PLAIN} for row in found]


PLAIN = (
    'uuid',
    'share_id',
    'status',
    'tag',
    'share_proto',
    'export_location',
    'access_type',
    'access_to',
    'granted',
)


def find(connection: sa.Connection, instance_uuid: str, share_id: str) -> rows.Row | None:
    """Return a share of a server, or None."""
    return rows.find(connection, TABLE, instance_uuid=instance_uuid, share_id=share_id)


def get(connection: sa.Connection, instance_uuid: str, share_id: str) -> rows.Row:
    """Return a share of a server. Raise ShareNotAttached."""
    row = find(connection, instance_uuid, share_id)
    if row is None:
        raise exception.ShareNotAttached(instance_id=instance_uuid, share_id=share_id)
    return row


def require_none(connection: sa.Connection, instance_uuid: str) -> None:
    """Raise SharesAttached if the server has shares."""
    if rows.find(connection, TABLE, instance_uuid=instance_uuid) is not None:
        raise exception.SharesAttached(instance_id=instance_uuid)


def change(
    connection: sa.Connection, uuid: str, values: rows.Values, *, status: Iterable[str]
) -> bool:
    """Change columns of a share. Return False if its status is not in `status`."""
    allowed = [str(each) for each in status]
    return rows.change(connection, TABLE, values, uuid=uuid, status=allowed) > 0


def report(connection: sa.Connection, instance_uuid: str, statuses: Mapping[str, str]) -> None:
    """Store the statuses of shares that a host reports. statuses: {uuid: status}"""
    for row in of(connection, [instance_uuid]).get(instance_uuid, ()):
        if row.uuid in statuses:
            change(connection, row.uuid, {'status': statuses[row.uuid]}, status=MOUNTABLE)


def deactivate(connection: sa.Connection, instance_uuid: str) -> None:
    """Mark the mounted shares of a server as inactive, because its guest is off."""
    rows.change(
        connection,
        TABLE,
        {'status': str(Status.INACTIVE)},
        instance_uuid=instance_uuid,
        status=str(Status.ACTIVE),
    )


def destroy(connection: sa.Connection, instance_uuid: str, uuid: str | None = None) -> int:
    """Remove one share or all shares of a server. Return the number of deleted rows."""
    where: dict[str, typing.Any] = {'instance_uuid': instance_uuid}
    if uuid is not None:
        where['uuid'] = uuid
    return rows.delete(connection, TABLE, **where)
