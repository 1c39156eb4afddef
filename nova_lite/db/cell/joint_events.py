"""Events of the actions of several servers, begun or ended together with the same statements.

The functions do what those of `actions` do for one server.
"""

from collections.abc import Sequence
import typing

import sqlalchemy as sa

from nova_lite import runtime
from nova_lite.db import known
from nova_lite.db import rows
from nova_lite.db.cell import actions
from nova_lite.dialects import execute

ACTIONS, EVENTS = actions.ACTIONS, actions.EVENTS
_BY_ID = ACTIONS.c.id.asc()
_OF_SERVERS = EVENTS.c.action_id.in_(
    sa.select(ACTIONS.c.id).where(
        ACTIONS.c.instance_uuid.in_(sa.bindparam('of_servers', expanding=True))
    )
)


class Of(typing.NamedTuple):
    """The request of a server whose event begins or ends. host: see `actions.start_event`"""

    uuid: str
    request_id: str
    host: str | None


def start(connection: sa.Connection, found: Sequence[Of], event: str) -> None:
    """Begin an event of each request, as `actions.start_event`."""
    ids = _action_ids(connection, found)
    begun = {
        (row.action_id, row.host)
        for row in rows.every(
            connection, EVENTS, action_id=sorted(ids.values()), event=event, finish_time=None
        )
    }
    now = runtime.naive_now()
    starting = []
    for each in found:
        key = (ids.get(each), each.host)
        if each in ids and key not in begun:
            begun.add(key)
            starting.append(each)
    values = [
        {
            'action_id': ids[each],
            'event': event,
            'host': each.host,
            'start_time': now,
            'updated_at': now,
        }
        for each in starting
    ]
    rows.insert(connection, EVENTS, values)
    for each in starting:
        actions.note_start(connection, each.uuid, each.request_id, event, host=each.host)


def finish(connection: sa.Connection, found: Sequence[Of], event: str, *, error: str) -> None:
    """End an event of each request, as `actions.finish_event`, and all others of the servers.

    error: text for the events whose work will not continue
    """
    ids = _action_ids(connection, found)
    uuids = sorted({each.uuid for each in found})
    left = rows.every(
        connection,
        EVENTS,
        _OF_SERVERS,
        given={'of_servers': execute.filled(uuids)},
        finish_time=None,
    )
    own: dict[Of, list[int]] = {}
    for each in dict.fromkeys(found):
        own[each] = [
            row.id
            for row in left
            if (row.action_id, row.event) == (ids.get(each), event)
            and each.host in (None, row.host)
        ]
    now = runtime.naive_now()
    done = [each for each, events in own.items() if events]
    ended = sorted({event_id for events in own.values() for event_id in events})
    if ended:
        rows.change(connection, EVENTS, actions.outcome_of(now), id=ended)
        changes = {'updated_at': now, 'finish_time': now}
        rows.change(connection, ACTIONS, changes, id=sorted({ids[each] for each in done}))
    for each in done:
        actions.note_end(connection, each.uuid, each.request_id, event, host=each.host)
    for each in (each for each, events in own.items() if not events):
        actions.finish_event(connection, each.uuid, each.request_id, event, host=each.host)
    others = sorted({row.id for row in left} - set(ended))
    if others:
        rows.change(connection, EVENTS, actions.outcome_of(now, error), id=others)


def _action_ids(connection: sa.Connection, found: Sequence[Of]) -> dict[Of, int]:
    """Return {request: id of its newest action}, without requests that have none."""
    seen = known.of(connection)
    missing = {(each.uuid, each.request_id) for each in found} - seen.keys()
    if missing:
        of_requests = rows.every(
            connection,
            ACTIONS,
            order_by=_BY_ID,
            instance_uuid=sorted({uuid for uuid, _request in missing}),
            request_id=sorted({request for _uuid, request in missing}),
        )
        for row in of_requests:
            if (row.instance_uuid, row.request_id) in missing:
                seen[row.instance_uuid, row.request_id] = row
    keys = {each: (each.uuid, each.request_id) for each in found}
    return {each: seen[key].id for each, key in keys.items() if key in seen}
