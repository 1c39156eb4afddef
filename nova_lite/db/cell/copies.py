"""All records of a server together, to write them to another cell.

During a move between cells both cells have a record of the server: one is visible, the other is
hidden. Faults and console tokens are not copied. The records of the cell that the server leaves
are finally removed, so that the server may return. Source: reference/nova/cross-cell-resize 4.1.
"""

import dataclasses
import typing

import sqlalchemy as sa

from nova_lite.db import rows
from nova_lite.db.cell import actions
from nova_lite.db.cell import children
from nova_lite.db.cell import instances
from nova_lite.db.cell import live_migrations
from nova_lite.db.cell import migrations
from nova_lite.dialects import execute

Columns: typing.TypeAlias = dict[str, typing.Any]

_NUMBERS = (
    sa.select(actions.ACTIONS.c.id)
    .where(actions.ACTIONS.c.instance_uuid == sa.bindparam('uuid'))
    .order_by(actions.ACTIONS.c.id)
)
DESTINATION = ('dest_compute', 'dest_node', 'dest_host')


@dataclasses.dataclass
class Copy:
    """{column: value} of all records, without the ids, which each cell assigns.

    actions: [(action, [event, ...]), ...]
    """

    instance: Columns
    devices: list[Columns]
    tags: list[str]
    actions: list[tuple[Columns, list[Columns]]]
    migrations: list[Columns]


def read(connection: sa.Connection, uuid: str) -> Copy:
    """Return all records of a server, hidden or not. Raise InstanceNotFound."""
    row = instances.get(connection, uuid, hidden=True)
    found = rows.every(
        connection, actions.ACTIONS, instance_uuid=uuid, order_by=actions.ACTIONS.c.id
    )
    events = actions.events_of(connection, [action.id for action in found])
    return Copy(
        instance=_columns(row),
        devices=[
            _columns(device) for device in children.block_devices(connection, [uuid]).get(uuid, ())
        ],
        tags=children.tags(connection, [uuid]).get(uuid, []),
        actions=[
            (_columns(action), [_columns(event) for event in reversed(events.get(action.id, ()))])
            for action in found
        ],
        migrations=[_columns(each) for each in migrations.of_instance(connection, uuid)],
    )


def create(connection: sa.Connection, copy: Copy, move: str) -> None:
    """Write a server that arrives with a move (a migration's uuid).

    A copy that this move has written before stays, except for the destination, which may have
    changed since. The copy of a former move that could not be purged is replaced.
    """
    uuid = copy.instance['uuid']
    if instances.find(connection, uuid) is not None:
        if migrations.find(connection, move) is not None:
            _redirect(connection, copy, move)
            return
        purge(connection, uuid)
    instances.create(connection, copy.instance)
    rows.insert(connection, migrations.TABLE, copy.migrations)
    _write_children(connection, copy)


def _redirect(connection: sa.Connection, copy: Copy, move: str) -> None:
    """Write a move's destination again."""
    values = next(each for each in copy.migrations if each['uuid'] == move)
    migrations.update(connection, move, {name: values.get(name) for name in DESTINATION})
    zone = {'availability_zone': copy.instance['availability_zone']}
    instances.update(connection, copy.instance['uuid'], zone)


def renew(connection: sa.Connection, copy: Copy) -> None:
    """Replace the cell's records of a server, except its migrations."""
    uuid = copy.instance['uuid']
    instances.update(connection, uuid, copy.instance)
    children.destroy_block_devices(connection, uuid)
    children.destroy_tags(connection, uuid)
    instances.purge_actions(connection, uuid)
    _write_children(connection, copy)


def show(connection: sa.Connection, uuid: str, shown: bool) -> None:
    """Show or hide the cell's record of the server and its migrations."""
    for table, key in ((instances.TABLE, 'uuid'), (migrations.TABLE, 'instance_uuid')):
        where: dict[str, typing.Any] = {key: uuid}
        rows.change(connection, table, {'hidden': not shown}, **where)


def purge(connection: sa.Connection, uuid: str) -> None:
    """Remove all records of a server from the cell."""
    instances.purge(connection, uuid)
    rows.delete(connection, migrations.TABLE, instance_uuid=uuid)


def drop(connection: sa.Connection, uuid: str, move: str) -> None:
    """Purge the copy of a move (a migration's uuid) that was undone.

    In such a copy the migration has not ended. In any other record of the server it has ended,
    because a later move copies the record in which the undo has ended it.
    """
    migration = live_migrations.lock(connection, move)
    if migration is not None and migration.status not in migrations.OVER:
        purge(connection, uuid)


def _write_children(connection: sa.Connection, copy: Copy) -> None:
    uuid = copy.instance['uuid']
    children.create_block_devices(connection, copy.devices)
    children.create_tags(connection, uuid, copy.tags)
    if copy.actions:
        _write_actions(connection, uuid, copy.actions)


def _write_actions(
    connection: sa.Connection, uuid: str, found: list[tuple[Columns, list[Columns]]]
) -> None:
    """Write actions with their events. found: as of Copy

    This transaction has locked the server's record, so that no other adds actions.
    """
    rows.insert(connection, actions.ACTIONS, [action for action, _events in found])
    # They are numbered in their order.
    numbers = execute.values(connection, _NUMBERS, {'uuid': uuid})[-len(found) :]
    events = [
        {**event, 'action_id': number}
        for number, (_action, of_action) in zip(numbers, found, strict=True)
        for event in of_action
    ]
    rows.insert(connection, actions.EVENTS, events)


def _columns(row: rows.Row) -> Columns:
    return {name: value for name, value in row._mapping.items() if name != 'id'}
