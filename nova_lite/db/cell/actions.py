"""Instance actions and their events: requested operations on a server, and their results."""

from collections.abc import Iterable
from collections.abc import Sequence
import datetime
import typing

import sqlalchemy as sa

from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite.db import known
from nova_lite.db import notes
from nova_lite.db import rows
from nova_lite.db.cell import models
from nova_lite.dialects import execute

ACTIONS = models.InstanceAction.__table__
EVENTS = models.InstanceActionEvent.__table__
_NEWEST_FIRST = ACTIONS.c.id.desc()
_NEWEST_EVENTS_FIRST = EVENTS.c.id.desc()
_NEWEST_OF_SERVER = (
    sa.select(ACTIONS)
    .where(ACTIONS.c.instance_uuid == sa.bindparam('uuid'))
    .order_by(_NEWEST_FIRST)
    .limit(1)
)
# The newest action of a request, by the parameters `uuid` and `request`.
NEWEST_OF_REQUEST = (
    sa.select(ACTIONS)
    .where(
        ACTIONS.c.instance_uuid == sa.bindparam('uuid'),
        ACTIONS.c.request_id == sa.bindparam('request'),
    )
    .order_by(_NEWEST_FIRST)
    .limit(1)
)
_OWN = sa.select(ACTIONS.c.id).where(ACTIONS.c.instance_uuid == sa.bindparam('of_server'))
_OF_SERVER = EVENTS.c.action_id.in_(_OWN)
_OF_SERVER_BUT = EVENTS.c.action_id.in_(
    _OWN.where(ACTIONS.c.request_id != sa.bindparam('but_request'))
)


def start(
    connection: sa.Connection,
    ctxt: context.RequestContext,
    uuid: str,
    action: str,
    message: str | None = None,
) -> int:
    """Record that the request of `ctxt` is an `action`. Return the action's id."""
    values = {**_new(connection, ctxt, uuid, action), 'message': message}
    return rows.insert_returning_id(connection, ACTIONS, values)


def start_each(
    connection: sa.Connection, servers: Iterable[tuple[context.RequestContext, str]], action: str
) -> None:
    """Record that requests are an `action`. servers: pairs of a context and a server's uuid"""
    values = [_new(connection, ctxt, uuid, action) for ctxt, uuid in servers]
    rows.insert(connection, ACTIONS, values)


def _new(
    connection: sa.Connection, ctxt: context.RequestContext, uuid: str, action: str
) -> dict[str, typing.Any]:
    """Note a new action, and return its columns."""
    now = runtime.naive_now()
    notes.add(connection, 'action', uuid=uuid, request_id=ctxt.request_id, action=action)
    known.of(connection).pop((uuid, ctxt.request_id), None)
    return {
        'action': action,
        'instance_uuid': uuid,
        'request_id': ctxt.request_id,
        'user_id': ctxt.user_id,
        'project_id': ctxt.project_id,
        'start_time': now,
        'updated_at': now,
    }


def get(connection: sa.Connection, uuid: str, request_id: str) -> rows.Row:
    """Return one action of a server. Raise ActionNotFound."""
    return rows.get(
        connection,
        ACTIONS,
        exception.ActionNotFound(instance_id=uuid, request_id=request_id),
        instance_uuid=uuid,
        request_id=request_id,
    )


def find(connection: sa.Connection, uuid: str, request_id: str, action: str) -> rows.Row | None:
    """Return a server's action of that name and request, or None."""
    return rows.find(connection, ACTIONS, instance_uuid=uuid, request_id=request_id, action=action)


def find_newest(connection: sa.Connection, uuid: str) -> rows.Row | None:
    """Return the newest action of a server, or None."""
    return execute.first(connection, _NEWEST_OF_SERVER, {'uuid': uuid})


def asked(connection: sa.Connection, uuid: str, request_id: str) -> rows.Row | None:
    """Return the newest action of a request, as it was requested; or None.

    A transaction reads the row once, so its end may be out of date.
    """
    seen, key = known.of(connection), (uuid, request_id)
    found: rows.Row | None = seen.get(key)
    if found is None:
        found = execute.first(connection, NEWEST_OF_REQUEST, {'uuid': uuid, 'request': request_id})
        if found is not None:
            seen[key] = found
    return found


def start_event(
    connection: sa.Connection,
    uuid: str,
    request_id: str,
    event: str,
    *,
    host: str | None = None,
    top_host: str | None = None,
    new: bool = False,
) -> None:
    """Begin an event of the newest action of a request. Do nothing if there is no action.

    host: the compute that does the work. Without it, top_host is recorded: the host of the API or
        the super-conductor that does the work; another API or super-conductor may end the event
    new: no event of that name and host can be open, which saves a query
    Idempotent unless `new`: an open event of that name and host continues.
    """
    action_id = _action_id(connection, uuid, request_id)
    if action_id is None:
        return
    if not new and _has_open_event(connection, action_id, event, host):
        return
    now = runtime.naive_now()
    rows.insert(
        connection,
        EVENTS,
        {
            'action_id': action_id,
            'event': event,
            'host': host or top_host,
            'start_time': now,
            'updated_at': now,
        },
    )
    note_start(connection, uuid, request_id, event, host=host)


def has_begun(
    connection: sa.Connection, uuid: str, request_id: str, event: str, host: str | None
) -> bool:
    """Return whether an event of the newest action of a request has begun on a host."""
    return bool(_events(connection, uuid, request_id, event, host))


def has_ended(
    connection: sa.Connection, uuid: str, request_id: str, event: str, host: str | None
) -> bool:
    """Return whether an event of the newest action of a request has ended on a host."""
    found = _events(connection, uuid, request_id, event, host)
    return any(row.finish_time is not None for row in found)


def _events(
    connection: sa.Connection, uuid: str, request_id: str, event: str, host: str | None
) -> Sequence[rows.Row]:
    action_id = _action_id(connection, uuid, request_id)
    if action_id is None:
        return ()
    return rows.every(connection, EVENTS, action_id=action_id, event=event, host=host)


def finish_event(
    connection: sa.Connection,
    uuid: str,
    request_id: str,
    event: str,
    *,
    host: str | None = None,
    error: str | None = None,
    traceback: str | None = None,
) -> None:
    """End an event. With `error` (a text for the user) it failed, and so did the action.

    Idempotent: an event that has already ended does not change.
    """
    action_id = _action_id(connection, uuid, request_id)
    if action_id is None:
        return
    now = runtime.naive_now()
    outcome = outcome_of(now, error, traceback)
    own = _own(action_id, event, host)
    if not rows.change(connection, EVENTS, outcome, **own, finish_time=None):
        if rows.find(connection, EVENTS, **own) is not None:
            return
        note_start(connection, uuid, request_id, event, host=host)
        rows.insert(connection, EVENTS, {**own, 'start_time': now, **outcome})
    note_end(connection, uuid, request_id, event, host=host, error=error, traceback=traceback)
    _end(connection, action_id, now, error)


def outcome_of(
    now: datetime.datetime, error: str | None = None, traceback: str | None = None
) -> dict[str, typing.Any]:
    """Return the columns of an event that ends. error: as of `finish_event`"""
    return {
        'finish_time': now,
        'updated_at': now,
        'result': 'Success' if error is None else 'Error',
        'details': error,
        'traceback': traceback,
    }


def _end(
    connection: sa.Connection, action_id: int, now: datetime.datetime, error: str | None
) -> None:
    changes: dict[str, typing.Any] = {'updated_at': now, 'finish_time': now}
    if error is not None:
        changes['message'] = 'Error'
    rows.change(connection, ACTIONS, changes, id=action_id)


def clear_failure(connection: sa.Connection, uuid: str, request_id: str) -> None:
    """Record that an action continues on another host, although one of its events failed."""
    action_id = _action_id(connection, uuid, request_id)
    if action_id is not None:
        rows.change(connection, ACTIONS, {'message': None}, id=action_id)


def end_open(
    connection: sa.Connection,
    uuid: str,
    request_id: str,
    *,
    error: str | None = None,
    traceback: str | None = None,
) -> None:
    """End all open events of the newest action of a request, and the action.

    error: a text for the user if they failed, and the action with them
    """
    action_id = _action_id(connection, uuid, request_id)
    if action_id is None:
        return
    now = runtime.naive_now()
    for row in _open_events(connection, action_id) if notes.is_kept(connection) else ():
        note_end(
            connection,
            uuid,
            request_id,
            row.event,
            host=row.host,
            error=error,
            traceback=traceback,
        )
    outcome = outcome_of(now, error, traceback)
    rows.change(connection, EVENTS, outcome, action_id=action_id, finish_time=None)
    _end(connection, action_id, now, error)


def end_interrupted(
    connection: sa.Connection,
    uuid: str,
    *,
    error: str,
    events: Iterable[str] | None = None,
    besides: str | None = None,
) -> None:
    """End the open events of a server, whose work will not continue.

    events: names; None: all events. besides: the request whose own events stay open
    """
    now = runtime.naive_now()
    which, given = _OF_SERVER, {'of_server': uuid}
    where: dict[str, typing.Any] = {'finish_time': None}
    if besides is not None:
        which, given['but_request'] = _OF_SERVER_BUT, besides
    if events is not None:
        where['event'] = list(events)
    values = {'finish_time': now, 'updated_at': now, 'result': 'Error', 'details': error}
    rows.change(connection, EVENTS, values, which, given=given, **where)


def record_event(
    connection: sa.Connection,
    uuid: str,
    request_id: str,
    event: str,
    *,
    host: str | None = None,
    error: str | None = None,
    started_at: datetime.datetime | None = None,
) -> None:
    """Record an event that has begun and ended, in one statement each."""
    action_id = _action_id(connection, uuid, request_id)
    if action_id is None:
        return
    note_start(connection, uuid, request_id, event, host=host)
    note_end(connection, uuid, request_id, event, host=host, error=error)
    now = runtime.naive_now()
    event_of = {'action_id': action_id, 'event': event, 'host': host}
    outcome = {'start_time': started_at or now, **outcome_of(now, error)}
    rows.insert(connection, EVENTS, {**event_of, **outcome})
    _end(connection, action_id, now, error)


def events_of(connection: sa.Connection, action_ids: Iterable[int]) -> dict[int, list[rows.Row]]:
    """Return {action id: [event, ...]}, the events that began last first."""
    found = rows.every(
        connection, EVENTS, action_id=list(action_ids), order_by=_NEWEST_EVENTS_FIRST
    )
    grouped: dict[int, list[rows.Row]] = {}
    for row in found:
        grouped.setdefault(row.action_id, []).append(row)
    return grouped


def tell_of(connection: sa.Connection, uuid: str, /, **facts: typing.Any) -> None:
    """Add data, such as `volume_id`, to the notifications of this transaction's events."""
    notes.add(connection, 'subject', uuid=uuid, **facts)


def tell_failure(
    connection: sa.Connection, uuid: str, request_id: str, event: str, *, error: str
) -> None:
    """Add a failure without an event to the notifications."""
    note_end(connection, uuid, request_id, event, host=None, error=error)


def note_start(
    connection: sa.Connection, uuid: str, request_id: str, event: str, *, host: str | None
) -> None:
    """Note the start of an event, for notifications: see nova_lite.notify.derive."""
    notes.add(
        connection,
        'event',
        uuid=uuid,
        request_id=request_id,
        event=event,
        host=host,
        phase='start',
    )


def note_end(
    connection: sa.Connection,
    uuid: str,
    request_id: str,
    event: str,
    *,
    host: str | None,
    error: str | None = None,
    traceback: str | None = None,
) -> None:
    """Note the end of an event, or its failure."""
    notes.add(
        connection,
        'event',
        uuid=uuid,
        request_id=request_id,
        event=event,
        host=host,
        phase='end' if error is None else 'error',
        error=error,
        traceback=traceback,
    )


def _open_events(connection: sa.Connection, action_id: int) -> Sequence[rows.Row]:
    return rows.every(
        connection, EVENTS, order_by=EVENTS.c.id, action_id=action_id, finish_time=None
    )


def _action_id(connection: sa.Connection, uuid: str, request_id: str) -> int | None:
    found = asked(connection, uuid, request_id)
    return None if found is None else found.id


def _has_open_event(
    connection: sa.Connection, action_id: int, event: str, host: str | None
) -> bool:
    own = _own(action_id, event, host)
    return rows.find(connection, EVENTS, **own, finish_time=None) is not None


def _own(action_id: int, event: str, host: str | None) -> dict[str, typing.Any]:
    """Return the columns that identify an event. host: None means any service"""
    own: dict[str, typing.Any] = {'action_id': action_id, 'event': event}
    return own if host is None else {**own, 'host': host}
