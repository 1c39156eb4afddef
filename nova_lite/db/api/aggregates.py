"""Host aggregates: named sets of hosts with metadata, among it the availability zone.

Each change moves a stamp, by which daemons notice that data derived from aggregates is out of date.
Source: reference/nova/scheduling 10.
"""

from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
import dataclasses
import datetime

import sqlalchemy as sa

from nova_lite import exception
from nova_lite import runtime
from nova_lite.db import notes
from nova_lite.db import rows
from nova_lite.db.api import models
from nova_lite.db.api import stamps
from nova_lite.dialects import execute

TABLE = models.Aggregate.__table__
HOSTS = models.AggregateHost.__table__
DELETED = models.DeletedAggregate.__table__
ZONE = 'availability_zone'
_HAS_HOST = TABLE.c.id.in_(
    sa.select(HOSTS.c.aggregate_id).where(HOSTS.c.host == sa.bindparam('member'))
)
_UUIDS = sa.select(TABLE.c.uuid)
_UUIDS_OF_HOST = _UUIDS.where(_HAS_HOST)


@dataclasses.dataclass(frozen=True)
class Aggregate:
    """One aggregate. metadata: {key: text}; hosts: names in alphabetical order."""

    id: int
    uuid: str
    name: str
    metadata: dict[str, str]
    hosts: tuple[str, ...]
    created_at: datetime.datetime
    updated_at: datetime.datetime | None

    @property
    def availability_zone(self) -> str | None:
        return self.metadata.get(ZONE)


def create(
    connection: sa.Connection, *, uuid: str, name: str, metadata: dict[str, str]
) -> Aggregate:
    """Add an aggregate without hosts and return it; raises AlreadyExists."""
    lock(connection)
    _refuse_name(connection, name)
    key = rows.insert_new(
        connection,
        TABLE,
        {'uuid': uuid, 'name': name, 'metadata': metadata},
        _taken(name),
    )
    # An aggregate that is created again with the same uuid no longer counts as deleted.
    rows.delete(connection, DELETED, uuid=uuid)
    _note(connection, 'create', key)
    return get(connection, key)


def lock(connection: sa.Connection) -> None:
    """Begin a change: move the stamp, which makes other changes wait until the transaction ends."""
    stamps.bump(connection, stamps.AGGREGATES)


def get(connection: sa.Connection, aggregate_id: int) -> Aggregate:
    """Return one aggregate by its number. Raise AggregateNotFound."""
    row = rows.get(
        connection,
        TABLE,
        exception.AggregateNotFound(aggregate_id=aggregate_id),
        id=aggregate_id,
    )
    return _with_hosts(connection, [row])[0]


def every(connection: sa.Connection) -> list[Aggregate]:
    """Return all aggregates, in the order they were made."""
    return _with_hosts(connection, rows.every(connection, TABLE, order_by=TABLE.c.id))


def of_host(connection: sa.Connection, host: str) -> list[Aggregate]:
    """Return the aggregates a host is in."""
    found = rows.every(connection, TABLE, _HAS_HOST, order_by=TABLE.c.id, given={'member': host})
    return _with_hosts(connection, found)


def uuids(connection: sa.Connection) -> set[str]:
    """Return the uuids of all aggregates, and of deleted aggregates that are still remembered."""
    # In this order an aggregate that is deleted between the two statements is not missed.
    existing = set(execute.values(connection, _UUIDS))
    return existing | deleted(connection).keys()


def uuids_of_host(connection: sa.Connection, host: str) -> set[str]:
    """Return the uuids of the aggregates a host is in."""
    return set(execute.values(connection, _UUIDS_OF_HOST, {'member': host}))


def deleted(connection: sa.Connection) -> dict[str, datetime.datetime]:
    """Return {uuid: when it was deleted} of the deleted aggregates."""
    return {row.uuid: row.deleted_at for row in rows.every(connection, DELETED)}


def forget_deleted(connection: sa.Connection, uuids: Collection[str]) -> None:
    """Forget deleted aggregates that have no members in placement."""
    rows.delete(connection, DELETED, uuid=uuids)


def zones_of(aggregates: Iterable[Aggregate]) -> dict[str, str]:
    """Return {host: availability zone} of aggregates."""
    return {
        host: aggregate.availability_zone
        for aggregate in aggregates
        if aggregate.availability_zone
        for host in aggregate.hosts
    }


def zones(connection: sa.Connection) -> dict[str, str]:
    """Return {host: availability zone} of the hosts in an availability zone."""
    return zones_of(every(connection))


def names_of(aggregates: Iterable[Aggregate]) -> dict[str, list[str]]:
    """Return {host: names of its aggregates} of aggregates."""
    found: dict[str, list[str]] = {}
    for aggregate in aggregates:
        for host in aggregate.hosts:
            found.setdefault(host, []).append(aggregate.name)
    return found


def rename(connection: sa.Connection, aggregate_id: int, name: str) -> None:
    """Change the name of an aggregate. Raise AggregateNotFound, AlreadyExists."""
    lock(connection)
    if get(connection, aggregate_id).name != name:
        _refuse_name(connection, name)
        _update(connection, aggregate_id, name=name)
        _note(connection, 'update_prop', aggregate_id)


def set_metadata(
    connection: sa.Connection, aggregate_id: int, changes: Mapping[str, str | None]
) -> None:
    """Add or replace metadata; a value of None removes its key.

    Raises AggregateNotFound.
    """
    lock(connection)
    merged = {**get(connection, aggregate_id).metadata, **changes}
    kept = {key: value for key, value in merged.items() if value is not None}
    _update(connection, aggregate_id, metadata=kept)
    _note(connection, 'update_metadata', aggregate_id)


def destroy(connection: sa.Connection, aggregate_id: int) -> None:
    """Remove an aggregate; raises AggregateNotFound, AggregateNotEmpty."""
    lock(connection)
    aggregate = get(connection, aggregate_id)
    if aggregate.hosts:
        raise exception.AggregateNotEmpty(aggregate_id=aggregate_id)
    _note(connection, 'delete', aggregate_id)
    rows.delete(connection, TABLE, id=aggregate_id)
    rows.insert(connection, DELETED, {'uuid': aggregate.uuid, 'deleted_at': runtime.naive_now()})


def add_host(connection: sa.Connection, aggregate_id: int, host: str) -> None:
    """Put a host into an aggregate; raises AggregateNotFound, AlreadyExists."""
    lock(connection)
    if host in get(connection, aggregate_id).hosts:
        raise exception.AlreadyExists(what=f'Aggregate {aggregate_id} with host', key=host)
    rows.insert(connection, HOSTS, {'aggregate_id': aggregate_id, 'host': host})
    _note(connection, 'add_host', aggregate_id)


def remove_host(connection: sa.Connection, aggregate_id: int, host: str) -> None:
    """Take a host out; raises AggregateNotFound, AggregateHostNotFound."""
    lock(connection)
    get(connection, aggregate_id)
    if not rows.delete(connection, HOSTS, aggregate_id=aggregate_id, host=host):
        raise exception.AggregateHostNotFound(aggregate_id=aggregate_id, host=host)
    _note(connection, 'remove_host', aggregate_id)


def forget_host(connection: sa.Connection, host: str) -> int:
    """Remove a host from all aggregates. Return their number."""
    lock(connection)
    return rows.delete(connection, HOSTS, host=host)


def _with_hosts(connection: sa.Connection, found: Iterable[rows.Row]) -> list[Aggregate]:
    members: dict[int, list[str]] = {}
    wanted = rows.every(
        connection, HOSTS, order_by=HOSTS.c.host, aggregate_id=[row.id for row in found]
    )
    for member in wanted:
        members.setdefault(member.aggregate_id, []).append(member.host)
    return [
        Aggregate(
            id=row.id,
            uuid=row.uuid,
            name=row.name,
            metadata=row.metadata,
            hosts=tuple(members.get(row.id, ())),
            created_at=row.created_at,
            updated_at=row.updated_at,
        )
        for row in found
    ]


def _taken(name: str) -> exception.AlreadyExists:
    return exception.AlreadyExists(what='Aggregate', key=name)


def _refuse_name(connection: sa.Connection, name: str) -> None:
    if rows.find(connection, TABLE, name=name):
        raise _taken(name)


def _update(connection: sa.Connection, aggregate_id: int, **values: object) -> None:
    rows.change(connection, TABLE, values, id=aggregate_id)


def _note(connection: sa.Connection, change: str, aggregate_id: int) -> None:
    if notes.is_kept(connection):
        values = vars(get(connection, aggregate_id))
        values = {**values, 'hosts': list(values['hosts'])}
        notes.add(connection, f'aggregate.{change}', values=values)
