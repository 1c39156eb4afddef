"""Migrations of volumes to the other back end, by the rules of Cinder 29.

A volume that no server uses is there at once. For one in use Cinder makes another volume, the
target, and asks the compute service to put that in its place. When the compute service reports
that this was done, the volume gets the target's back end and attachments, and keeps its ID.
"""

import sqlalchemy as sa

from nova_lite.simcloud import bodies
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
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
# Statuses to which an administrator may reset a migration, in any case; NONE removes it.
NONE = 'none'
RESETTABLE = (MIGRATING, ERROR, SUCCESS, 'completing', 'starting', NONE)
VOLUMES = tables.volumes
# What a target has of its own.
_OWN = ('id', 'created_at', 'updated_at', 'status', 'admin_metadata')


def host_of(volume):
    """Return the pool of the back end that a volume is on."""
    return volume['admin_metadata'].get(tables.HOST, tables.HOSTS[0])


def without_targets(query):
    """Return a query of volumes without the targets, which only administrators see."""
    status = VOLUMES.c.admin_metadata[tables.MIGRATION].as_string()
    return query.where(sa.or_(status.is_(None), status.not_like(f'{TARGET}%')))


def _note(conn, volume, status, **values):
    merged = volume['admin_metadata'] | {tables.MIGRATION: status}
    return records.save(conn, volume, admin_metadata=merged, **values)


def reset(conn, volume, status):
    """Write the status of a migration as an administrator says. Return the new row."""
    status = status.lower()
    if status not in RESETTABLE:
        raise faults.BadRequest(
            f'Volume migration status: {status[:64]} is invalid, valid statuses are: '
            f'{", ".join(RESETTABLE)}.'
        )
    return _note(conn, volume, None if status == NONE else status)


def begin(conn, caller, volume, wanted):
    """Move a volume to another back end; one in use stays there until `ask` has been answered."""
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


def _require_movable(conn, volume, host):
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


def ask(db, compute, volume_id):
    """Ask the compute service to put the target of a volume in its place.

    compute: events.Events or events.Silent
    """
    with db.read() as conn:
        target = _target_of(conn, volume_id)
        known = records.attachments_of(conn, volume_id)
    if target is None:
        return

    def refused():
        db.change(_fail, volume_id)

    for each in known:
        compute.swap(each['instance_uuid'], volume_id, target['id'], refused)


def _target_of(conn, volume_id):
    status = VOLUMES.c.admin_metadata[tables.MIGRATION].as_string()
    found = database.rows(conn, sa.select(VOLUMES).where(status == TARGET + volume_id))
    return found[0] if found else None


def _fail(conn, volume_id):
    """End a migration that the compute service refuses, unless it has the target already.

    Then it had accepted an earlier request, and will report its end.
    """
    volume, target = database.find(conn, VOLUMES, id=volume_id), _target_of(conn, volume_id)
    if volume is None or target is None:
        return
    if not records.attachments_of(conn, target['id']):
        _give_up(conn, volume, target)


def _give_up(conn, volume, target):
    """Delete the target; the volume stays where it is."""
    records.erase(conn, target['id'])
    records.settle(conn, _note(conn, volume, ERROR))


def complete(conn, caller, volume, wanted):
    """Return the ID by which the volume is known that is in the place of `volume` now.

    wanted: new_volume, the ID of what was put there; error: whether that failed
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


def _exchange(conn, volume, new):
    """Attach a volume where another one is, which is detached. Neither migrates."""
    for each in records.attachments_of(conn, volume['id']):
        kept = {name: value for name, value in each.items() if name not in ('id', 'created_at')}
        database.delete(conn, tables.attachments, id=each['id'])
        database.insert(conn, tables.attachments, **kept | {'volume_id': new['id']})
    for each in (volume, new):
        records.settle(conn, each)


def _take_place(conn, volume, target):
    """Give the volume the back end and the attachments of its target, which is deleted."""
    database.delete(conn, tables.attachments, volume_id=volume['id'])
    for each in records.attachments_of(conn, target['id']):
        database.save(conn, tables.attachments, each, volume_id=volume['id'])
    records.erase(conn, target['id'])
    moved = volume['admin_metadata'] | {
        tables.MIGRATION: SUCCESS,
        tables.HOST: host_of(target),
    }
    records.settle(conn, records.save(conn, volume, admin_metadata=moved))
