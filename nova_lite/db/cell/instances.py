"""Servers of a cell."""

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import datetime
import typing

import sqlalchemy as sa

from nova_lite import exception
from nova_lite import runtime
from nova_lite import states
from nova_lite.db import known
from nova_lite.db import notes
from nova_lite.db import rows
from nova_lite.db.cell import models
from nova_lite.dialects import execute
from nova_lite.states import transitions

TABLE = models.Instance.__table__
ANY: typing.Any = object()
# The columns of a server's state.
STATE = ('vm_state', 'task_state')
# Columns whose changes may be notified.
NOTIFIED = frozenset(('vm_state', 'task_state', 'display_name'))
ON_HOST = TABLE.c.host.is_not(None)
# In lower case like a column: ruff swaps comparisons with capitals, and a parameter on the left
# side has no type.
changed_at = sa.func.coalesce(TABLE.c.updated_at, TABLE.c.created_at)
# The condition of no change since the parameter `idle_since`.
IS_IDLE = changed_at <= sa.bindparam('idle_since')
_STAYS = TABLE.c.deleted.is_(False)
_ON_HOSTS = (TABLE.c.host.in_(sa.bindparam('hosts')), _STAYS)
_PLACES = sa.select(
    TABLE.c.uuid, TABLE.c.host, TABLE.c.node, TABLE.c.vm_state, TABLE.c.task_state
).where(_STAYS)
_BRIEF = (
    sa.select(TABLE.c.id, TABLE.c.uuid, TABLE.c.display_name, TABLE.c.host, TABLE.c.node)
    .where(*_ON_HOSTS, TABLE.c.hidden.is_(False))
    .order_by(TABLE.c.id)
)
# The columns of a server with which a change of its states is checked and notified.
FORMER = sa.select(
    TABLE.c.hidden, TABLE.c.vm_state, TABLE.c.task_state, TABLE.c.display_name
).where(TABLE.c.uuid == sa.bindparam('uuid'))
# Servers that are deleted, soft-deleted or being deleted do not stay.
GOES = sa.or_(
    TABLE.c.deleted_at.is_not(None),
    sa.func.coalesce(TABLE.c.task_state, '') == str(states.TaskState.DELETING),
)
_ACTIONS, _EVENTS = models.InstanceAction.__table__, models.InstanceActionEvent.__table__
_EVENTS_OF = _EVENTS.c.action_id.in_(
    sa.select(_ACTIONS.c.id).where(_ACTIONS.c.instance_uuid == sa.bindparam('of_server'))
)


# {column: values that it may have}
Allowed: typing.TypeAlias = dict[str, tuple[typing.Any, ...]]


class Expected(typing.TypedDict, total=False):
    """The required state of a server for a change: see `force`."""

    expect_task: Iterable[str | None]
    expect_vm: Iterable[str | None]
    expect_host: Iterable[str | None]
    expect_change: Iterable[datetime.datetime | None]


def create(
    connection: sa.Connection, values: dict[str, typing.Any] | Sequence[rows.Values]
) -> None:
    """Add servers (a list of dicts of columns)."""
    rows.insert(connection, TABLE, values)


def get(connection: sa.Connection, uuid: str, *, hidden: bool = False) -> rows.Row:
    """Return a server that is not deleted. Raise InstanceNotFound.

    hidden: also find a hidden copy
    """
    row = find(connection, uuid)
    if row is None or row.deleted or (row.hidden and not hidden):
        raise exception.InstanceNotFound(instance_id=uuid)
    return row


def hold(connection: sa.Connection, uuid: str) -> rows.Row:
    """Return a server's row, locked until the transaction ends.

    Raise InstanceNotFound, also for a hidden copy.
    """
    row = held(connection, uuid)
    if row is None or row.hidden:
        raise exception.InstanceNotFound(instance_id=uuid)
    return row


def lock(connection: sa.Connection, uuid: str) -> rows.Row:
    """Return a server's row, locked, as `hold`. Raise InstanceSealed if it changes cells."""
    row = held(connection, uuid)
    if row is None:
        raise exception.InstanceNotFound(instance_id=uuid)
    if row.sealed:
        raise exception.InstanceSealed(instance_id=uuid)
    return row


def held(connection: sa.Connection, uuid: str) -> rows.Row | None:
    """Return a server's row, visible or hidden, locked; None if the server does not exist."""
    row = _locked(connection, uuid)
    return None if row is None or row.deleted else row


def _locked(connection: sa.Connection, uuid: str) -> rows.Row | None:
    """Return a server's row in any state, locked. A transaction reads it once."""
    seen = known.locked(connection, TABLE)
    if uuid not in seen:
        row = rows.lock(connection, TABLE, uuid=uuid)
        if row is None:
            return None
        seen[uuid] = row
    found: rows.Row = seen[uuid]
    return found


def keep(connection: sa.Connection, columns: Mapping[str, typing.Any]) -> None:
    """Keep the columns of a server, which this transaction has locked, for its readers."""
    known.locked(connection, TABLE)[columns['uuid']] = known.Kept(columns)


def kept(connection: sa.Connection, uuids: Iterable[str]) -> dict[str, rows.Row]:
    """Return {uuid: row} of the servers whose rows this transaction has locked and read."""
    seen = known.locked(connection, TABLE)
    return {uuid: seen[uuid] for uuid in uuids if uuid in seen}


def held_each(connection: sa.Connection, uuids: Iterable[str]) -> dict[str, rows.Row]:
    """Return {uuid: row} of servers, visible or hidden, locked."""
    found = rows.lock_each(connection, TABLE, uuid=sorted(set(uuids)), deleted=False)
    return {row.uuid: row for row in found}


def seal(connection: sa.Connection, uuid: str, sealed: bool = True) -> None:
    """Seal or unseal the record of a server for changes of users.

    Changes that were accepted before are in the record when this transaction has ended.
    """
    rows.change(connection, TABLE, {'sealed': sealed}, uuid=uuid)


def is_gone(row: rows.Row | None) -> bool:
    """Return whether a server (a row or None) is deleted or being deleted."""
    return row is None or bool(row.deleted or row.task_state == states.TaskState.DELETING)


def require_host(row: rows.Row, *hosts: str | None) -> None:
    """Raise StateChanged unless a server (a row) is on one of the hosts. None: on no host"""
    if row.host not in hosts:
        detail = f'it is on host {row.host}'
        raise exception.StateChanged(what='Instance', key=row.uuid, detail=detail)


def find(connection: sa.Connection, uuid: str) -> rows.Row | None:
    """Return a server in any state, even deleted or hidden; None if it does not exist."""
    seen: rows.Row | None = known.locked(connection, TABLE).get(uuid)
    return seen or rows.find(connection, TABLE, uuid=uuid)


def of(connection: sa.Connection, uuids: Iterable[str]) -> Sequence[rows.Row]:
    """Return {uuid: row} of the servers that are neither deleted nor hidden."""
    return rows.every(connection, TABLE, uuid=list(uuids), deleted=False, hidden=False)


def named(connection: sa.Connection, name: str) -> Sequence[rows.Row]:
    """Return the servers with a display name that are neither deleted nor hidden."""
    return rows.every(connection, TABLE, display_name=name, deleted=False, hidden=False)


def on_host(connection: sa.Connection, host: str) -> Sequence[rows.Row]:
    """Return the servers on a host, including hidden copies."""
    return rows.every(connection, TABLE, order_by=TABLE.c.id, host=host, deleted=False)


def places(connection: sa.Connection) -> Sequence[rows.Row]:
    """Return uuid, host, node, vm_state and task_state of all servers, including hidden copies."""
    return execute.every(connection, _PLACES)


def settled(connection: sa.Connection) -> Sequence[rows.Row]:
    """Return the servers that are on a host and have no task."""
    return rows.every(connection, TABLE, ON_HOST, deleted=False, hidden=False, task_state=None)


def brief_on(connection: sa.Connection, hosts: Iterable[str]) -> Sequence[rows.Row]:
    """Return rows of id, uuid, display_name, host and node of the servers on the hosts."""
    return execute.every(connection, _BRIEF, {'hosts': execute.filled(hosts)})


def update(
    connection: sa.Connection,
    uuid: str,
    values: rows.Values,
    *,
    former: rows.Row | None = None,
    **expected: typing.Unpack[Expected],
) -> None:
    """Compare-and-swap: change columns if the server is as expected.

    former: the row as this transaction has read it; None
    expected: see `force`
    Raises StateChanged if the server is not as expected, TransitionRefused for states to which no
    action leads.
    """
    allowed = _expected(**expected)
    if not values.keys().isdisjoint(STATE):
        former = former or _former(connection, uuid)
        # A hidden copy gets the states of the visible record in another cell.
        if former is not None and not (former.hidden or _is_allowed(former, values)):
            # The row may have been read before another transaction ended.
            _require_allowed(rows.lock(connection, TABLE, uuid=uuid), values, allowed)
    _swap(connection, uuid, values, allowed, former)


def force(
    connection: sa.Connection, uuid: str, values: rows.Values, **expected: typing.Unpack[Expected]
) -> None:
    """Compare-and-swap as `update`, without a check of the new states.

    expect_task, expect_vm: allowed states (None means NULL); expect_host: allowed hosts
    expect_change: allowed times of the last change
    Raises StateChanged if the server is not as expected.
    """
    _swap(connection, uuid, values, _expected(**expected), None)


def update_held(connection: sa.Connection, held: Sequence[rows.Row], values: rows.Values) -> None:
    """Change columns of servers that this transaction has locked, with one statement.

    held: their rows, as they are. Raises TransitionRefused as `update`.
    """
    for row in held:
        if not (row.hidden or values.keys().isdisjoint(STATE)):
            _require_allowed(row, values, {})
        _note_change(connection, row.uuid, values, row)
    rows.change(connection, TABLE, values, uuid=[row.uuid for row in held], deleted=False)


def require(row: rows.Row, **expected: typing.Unpack[Expected]) -> None:
    """Raise StateChanged unless a server (a row) is as expected. expected: see `force`"""
    allowed = _expected(**expected)
    if not _is_as(row, allowed):
        detail = rows.unexpected(row, allowed)
        raise exception.StateChanged(what='Instance', key=row.uuid, detail=detail)


def _expected(
    *,
    expect_task: Iterable[str | None] = ANY,
    expect_vm: Iterable[str | None] = ANY,
    expect_host: Iterable[str | None] = ANY,
    expect_change: Iterable[datetime.datetime | None] = ANY,
) -> Allowed:
    found = {
        'deleted': (False,),
        'task_state': expect_task,
        'vm_state': expect_vm,
        'host': expect_host,
        'updated_at': expect_change,
    }
    return {name: tuple(allowed) for name, allowed in found.items() if allowed is not ANY}


def _former(connection: sa.Connection, uuid: str) -> rows.Row | None:
    # A notification needs the other columns as well.
    if notes.is_kept(connection) or kept(connection, [uuid]):
        return _locked(connection, uuid)
    return execute.first(connection, FORMER, {'uuid': uuid})


def _swap(
    connection: sa.Connection,
    uuid: str,
    values: rows.Values,
    expected: Allowed,
    former: rows.Row | None,
) -> None:
    """Change columns of a server as `force`. former: the current row, or None if it was not read"""
    if (values.get('vm_state'), values.get('task_state', '')) == (states.VmState.ERROR, None):
        # A server whose deletion has failed counts again, and is not reclaimed.
        values = {**values, 'deleted_at': None}
    _note_change(connection, uuid, values, former)
    seen: rows.Row | None = known.locked(connection, TABLE).get(uuid)
    if seen is not None:
        values = {'updated_at': runtime.naive_now(), **values}
    rows.swap(connection, TABLE, {'uuid': uuid}, values, expected=expected, what='Instance')
    if seen is not None:
        keep(connection, {**seen._mapping, **values})


def _note_change(
    connection: sa.Connection, uuid: str, values: rows.Values, former: rows.Row | None
) -> None:
    """Note a change of a server. former: as in `_swap`"""
    if notes.wants_changes(connection) and not NOTIFIED.isdisjoint(values):
        former = former or _former(connection, uuid)
        if former is not None:
            facts = {name: getattr(former, name) for name in NOTIFIED}
            notes.add(connection, 'change', uuid=uuid, former=facts)


def _is_as(row: rows.Row, expected: Allowed) -> bool:
    return all(getattr(row, name) in allowed for name, allowed in expected.items())


def _is_allowed(row: rows.Row, values: rows.Values) -> bool:
    before = tuple(getattr(row, name) for name in STATE)
    after = tuple(values.get(name, getattr(row, name)) for name in STATE)
    return transitions.is_allowed(before, after)


def _require_allowed(row: rows.Row | None, values: rows.Values, expected: Allowed) -> None:
    """Raise TransitionRefused, unless the row is not as expected in any case."""
    if row is None or not _is_as(row, expected):
        return
    if not _is_allowed(row, values):
        wanted = {name: str(values[name]) for name in STATE if name in values}
        raise exception.TransitionRefused(
            uuid=row.uuid, vm_state=row.vm_state, task_state=row.task_state, values=wanted
        )


def mark_deleted(connection: sa.Connection, /, *uuids: str, **more: typing.Any) -> None:
    """Mark servers as deleted. The records stay until they are archived.

    more: {column: value} of further changes
    """
    now = runtime.naive_now()
    values = {
        'deleted': True,
        'deleted_at': now,
        'terminated_at': now,
        'vm_state': 'deleted',
        'task_state': None,
        'power_state': 0,
        **more,
    }
    rows.change(connection, TABLE, values, uuid=uuids, deleted=False)


def purge(connection: sa.Connection, uuid: str) -> None:
    """Remove the row of a server and those of its children: the copy that a move leaves."""
    for table in (
        models.BlockDevice.__table__,
        models.Tag.__table__,
        models.ShareMapping.__table__,
        models.InstanceFault.__table__,
        models.ConsoleToken.__table__,
    ):
        rows.delete(connection, table, instance_uuid=uuid)
    purge_actions(connection, uuid)
    rows.delete(connection, TABLE, uuid=uuid)


def purge_actions(connection: sa.Connection, uuid: str) -> None:
    """Remove the record of a server's actions."""
    known.of(connection).clear()
    rows.delete(connection, _EVENTS, _EVENTS_OF, given={'of_server': uuid})
    rows.delete(connection, _ACTIONS, instance_uuid=uuid)


def add_fault(
    connection: sa.Connection,
    uuid: str,
    *,
    message: str,
    code: int = 500,
    details: str | None = None,
    host: str | None = None,
) -> None:
    """Record a fault of a server. The message is cut to 255 characters. code: HTTP status"""
    rows.insert(
        connection,
        models.InstanceFault.__table__,
        {
            'instance_uuid': uuid,
            'code': code,
            'message': message[:255],
            'details': details,
            'host': host,
        },
    )


def faults(connection: sa.Connection, uuids: Iterable[str]) -> dict[str, rows.Row]:
    """Return {uuid: newest fault} for several servers."""
    table = models.InstanceFault.__table__
    found = rows.every(connection, table, instance_uuid=list(uuids), order_by=table.c.id)
    return {row.instance_uuid: row for row in found}
