"""Migrations of volumes to the other back end, by the rules of Cinder 29.

The migration of a volume that no server uses ends at once. For a volume in use, Cinder creates
another volume, the target, and asks the compute service to replace the volume by the target. When
the compute service reports success, the volume gets the back end and the attachments of the
target, and keeps its own ID.
"""

import typing

import sqlalchemy as sa

from nova_lite.dialects import shapes
from nova_lite.simcloud import bodies
from nova_lite.simcloud import caller as callers
from nova_lite.simcloud import database
from nova_lite.simcloud import external_events
from nova_lite.simcloud import faults
from nova_lite.simcloud import resources
from nova_lite.simcloud.volume import records
from nova_lite.simcloud.volume import tables

BODY = bodies.record(
    {
        'host': {'type': ['string', 'null'], 'maxLength': 255},
        'cluster': bodies.OPTIONAL_STRING,
        'force_host_copy': bodies.BOOLEAN,
        'lock_volume': bodies.BOOLEAN,
    },
    extra=False,
)
COMPLETION = bodies.record(
    {'new_volume': bodies.UUID, 'error': {'type': ['string', 'null', 'boolean']}},
    ['new_volume'],
    extra=False,
)
MIGRATING, SUCCESS, ERROR, TARGET = 'migrating', 'success', 'error', 'target:'
# Statuses to which an administrator may reset a migration; NONE deletes the status.
NONE = 'none'
RESETTABLE = (MIGRATING, ERROR, SUCCESS, 'completing', 'starting', NONE)
VOLUMES = tables.volumes
# Columns of a target that are not copied from its volume.
_OWN = ('id', 'created_at', 'updated_at', 'status', 'admin_metadata')


def host_of(volume: database.Row) -> str:
    """Return the pool that a volume is in."""
    found: str = volume['admin_metadata'].get(tables.HOST, tables.HOSTS[0])
    return found


def without_targets(query: shapes.Select) -> shapes.Select:
    """Return a query of volumes without the targets, which only administrators see."""
    status = VOLUMES.c.admin_metadata[tables.MIGRATION].as_string()
    return query.where(sa.or_(status.is_(None), status.not_like(f'{TARGET}%')))


def _note(
    conn: sa.Connection, volume: database.Row, status: str | None, **values: typing.Any
) -> database.Row:
    merged = volume['admin_metadata'] | {tables.MIGRATION: status}
    return records.save(conn, volume, admin_metadata=merged, **values)


def reset(conn: sa.Connection, volume: database.Row, status: str) -> database.Row:
    """Set the status of a migration on the request of an administrator. Return the new row."""
    status = status.lower()
    if status not in RESETTABLE:
        raise faults.BadRequest(
            f'Volume migration status: {status[:64]} is invalid, valid statuses are: '
            f'{", ".join(RESETTABLE)}.'
        )
    return _note(conn, volume, None if status == NONE else status)


def begin(
    conn: sa.Connection, caller: callers.Caller, volume: database.Row, wanted: bodies.Json
) -> None:
    """Move a volume to another back end. For a volume in use, `ask` has to follow."""
    caller.require_admin('migrating a volume')
    host = wanted.get('host') or wanted.get('cluster')
    if host not in tables.HOSTS:
        raise faults.BadRequest(f"Invalid host: No available service named '{str(host)[:64]}'")
    _require_movable(conn, volume, host)
    if volume['status'] == 'available':
        moved = volume['admin_metadata'] | {tables.MIGRATION: SUCCESS, tables.HOST: host}
        records.save(conn, volume, admin_metadata=moved)
        return
    _note(conn, volume, MIGRATING)
    kept = {name: value for name, value in volume.items() if name not in _OWN}
    target = {
        tables.MIGRATION: TARGET + volume['id'],
        tables.HOST: host,
        tables.UNCOUNTED: True,
    }
    database.insert(conn, VOLUMES, **kept, status='available', admin_metadata=target)


def _require_movable(conn: sa.Connection, volume: database.Row, host: str) -> None:
    has_snapshots = database.exists(conn, tables.snapshots, volume_id=volume['id'])
    if (
        volume['status'] not in ('available', 'in-use')
        or records.is_migrating(volume)
        or has_snapshots
        or host_of(volume) == host
    ):
        raise records.invalid(
            f'Volume {volume["id"]} status must be available or in-use, must not be migrating, '
            'have snapshots, be replicated, be part of a group and destination host/cluster must '
            'be different than the current one'
        )


def ask(db: database.Database, compute: external_events.Sender, volume_id: str) -> None:
    """Ask the compute service to replace a volume by its target, if it has one."""
    with db.read() as conn:
        target = _target_of(conn, volume_id)
        known = records.attachments_of(conn, volume_id)
    if target is None:
        return

    def refused() -> None:
        db.change(_fail, volume_id)

    for each in known:
        compute.swap(each['instance_uuid'], volume_id, target['id'], refused)


def _target_of(conn: sa.Connection, volume_id: str) -> database.Row | None:
    status = VOLUMES.c.admin_metadata[tables.MIGRATION].as_string()
    found = database.rows(conn, sa.select(VOLUMES).where(status == TARGET + volume_id))
    return found[0] if found else None


def _fail(conn: sa.Connection, volume_id: str) -> None:
    """End a migration that the compute service has rejected, unless it attached the target.

    In that case it has accepted an earlier request, and will report its end.
    """
    volume, target = database.find(conn, VOLUMES, id=volume_id), _target_of(conn, volume_id)
    if volume is None or target is None:
        return
    if not records.attachments_of(conn, target['id']):
        _give_up(conn, volume, target)


def _give_up(conn: sa.Connection, volume: database.Row, target: resources.Path) -> None:
    """End a migration with an error. Delete the target; the volume stays in its pool."""
    records.erase(conn, target['id'])
    records.settle(conn, _note(conn, volume, ERROR))


def complete(
    conn: sa.Connection, caller: callers.Caller, volume: database.Row, wanted: bodies.Json
) -> dict[str, str]:
    """Complete the replacement of `volume` by another volume. Return the ID of the result.

    wanted: new_volume: ID of the replacement; error: whether the replacement has failed
    """
    caller.require_admin('completing a migration')
    new = records.get(conn, caller, wanted['new_volume'])
    status, expected = records.migration_of(new), TARGET + volume['id']
    if not records.migration_of(volume) and not status:
        if not wanted.get('error'):
            _exchange(conn, volume, new)
        return {'save_volume_id': new['id']}
    if not records.migration_of(volume):
        raise records.invalid('Source volume not mid-migration.')
    if not status:
        raise records.invalid('Destination volume not mid-migration.')
    if status != expected:
        raise records.invalid(f'Destination has migration_status {status}, expected {expected}.')
    if wanted.get('error'):
        _give_up(conn, volume, new)
    else:
        _take_place(conn, volume, new)
    return {'save_volume_id': volume['id']}


def _exchange(conn: sa.Connection, volume: database.Row, new: database.Row) -> None:
    """Move the attachments of `volume` to `new`. Neither of the volumes is migrating."""
    for each in records.attachments_of(conn, volume['id']):
        kept = {name: value for name, value in each.items() if name not in ('id', 'created_at')}
        database.delete(conn, tables.attachments, id=each['id'])
        database.insert(conn, tables.attachments, **kept | {'volume_id': new['id']})
    for each in (volume, new):
        records.settle(conn, each)


def _take_place(conn: sa.Connection, volume: database.Row, target: resources.Path) -> None:
    """Give a volume the back end and the attachments of its target. Delete the target."""
    database.delete(conn, tables.attachments, volume_id=volume['id'])
    for each in records.attachments_of(conn, target['id']):
        database.save(conn, tables.attachments, each, volume_id=volume['id'])
    records.erase(conn, target['id'])
    moved = volume['admin_metadata'] | {
        tables.MIGRATION: SUCCESS,
        tables.HOST: host_of(target),
    }
    records.settle(conn, records.save(conn, volume, admin_metadata=moved))
