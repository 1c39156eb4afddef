"""Sagas as text and as JSON, for commands."""

from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Sequence
import datetime
import typing

from nova_lite import exception
from nova_lite import runtime
from nova_lite.db import rows as db_rows
from nova_lite.db import transactions
from nova_lite.db.api import breakpoints as breakpoint_rows
from nova_lite.db.api import sagas
from nova_lite.lab.console import output
from nova_lite.lab.timeline import saga_rows
from nova_lite.lab.timeline import saga_states
from nova_lite.moves import kinds
from nova_lite.saga import breakpoints
from nova_lite.saga import journal
from nova_lite.terminal import text_tables

# A saga, an event or a step as JSON.
Shown: typing.TypeAlias = dict[str, typing.Any]

# Columns of a server that often contain passwords, and the text that is shown instead.
SECRET, MARK = ('user_data',), '***'

COLUMNS = (
    'uuid',
    'kind',
    'crosses',
    'instance_uuid',
    'server',
    'state',
    'status',
    'direction',
    'step',
    'attempts',
    'owner',
    'epoch',
    'created_at',
    'finished_at',
    'stopped',
)
EVENT_COLUMNS = ('at', 'owner', 'epoch', 'step', 'what', 'detail')
# Number of characters of a uuid in the table; `find` finds a saga by them.
SHORT = 8


class NotUnique(exception.Invalid):
    msg = 'The uuids of %(count)s sagas begin with %(text)r. Give more of it.'


def show(
    database: transactions.Database,
    *,
    active: bool,
    server: str | None,
    names: Callable[[Collection[str]], dict[str, str]],
    as_json: bool,
) -> None:
    """Print the sagas of the API database, newest first.

    active: only sagas that run, wait or clean up; server: uuid, only sagas of this server
    names: function that returns {uuid: name} of servers
    """
    rows = database.read(sagas.every, active=active, cleaning=True, instance_uuid=server)
    events = database.read(saga_rows.events_of, [row.uuid for row in rows])
    known = names({row.instance_uuid for row in rows})
    found = [_saga(row, events.get(row.uuid, ()), known) for row in rows]
    output.show(found, _show_list, as_json=as_json)


def _show_list(found: Sequence[Shown]) -> None:
    now = runtime.now()
    text_tables.show(
        ('Saga', 'Age', 'Server', 'Kind', 'State'),
        [
            (
                each['uuid'][:SHORT],
                saga_states.age(datetime.datetime.fromisoformat(each['created_at']), now),
                each['server'] or each['instance_uuid'][:SHORT],
                saga_states.kind_for_people(each['kind'], each['crosses']),
                each['status'],
            )
            for each in found
        ],
    )


def find(database: transactions.Database, text: str) -> str:
    """Return the uuid of the saga whose uuid begins with a text. Raise SagaNotFound, NotUnique."""
    found = database.read(saga_rows.beginning_with, text)
    if len(found) > 1:
        raise NotUnique(count=len(found), text=text)
    return str(found[0]) if found else text


def show_one(
    database: transactions.Database,
    uuid: str,
    *,
    names: Callable[[Collection[str]], dict[str, str]],
    as_json: bool,
) -> None:
    """Print a saga of the API database and its events. Raise SagaNotFound. names: as of `show`"""
    saga = database.read(sagas.get, uuid)
    events = database.read(sagas.events, uuid)
    known = names({saga.instance_uuid})
    output.show(_document(saga, events, known), _show_document, as_json=as_json)


def show_steps(kind: str | None, *, as_json: bool) -> None:
    """Print the steps of a kind of saga, or of all kinds, in each plan. Raise NoSuchKind."""
    if kind is not None:
        kinds.require(kind)
    found = [
        {
            'kind': each,
            'plan': number,
            'step': step.id,
            'title': step.title,
            'where': step.at.daemon,
            'end': step.at.end,
            'note': 'pivot' if step.pivot else None,
        }
        for each in ([kind] if kind else kinds.KINDS)
        for number, plan in enumerate(kinds.plans(each), 1)
        for step in plan
    ]
    output.show(found, lambda found: _show(found, tuple(found[0])), as_json=as_json)


def _show_document(document: Shown) -> None:
    text_tables.show_fields({name: document[name] for name in COLUMNS})
    if document['error']:
        print('{type}: {message}'.format_map(document['error']))
    _show(document['events'], EVENT_COLUMNS)


def _document(saga: db_rows.Row, events: Sequence[db_rows.Row], names: dict[str, str]) -> Shown:
    return {
        **_saga(saga, events, names),
        'error': saga.error,
        'data': saga.data,
        'arguments': without_secrets(saga.arguments),
        'events': [_plain(row, EVENT_COLUMNS) for row in events],
    }


def without_secrets(arguments: Shown) -> Shown:
    """Return the arguments of a saga with the columns in SECRET masked."""
    if not arguments.get('order'):
        return arguments
    changes = {
        name: MARK if name in SECRET and value else value
        for name, value in arguments['order']['changes'].items()
    }
    return {**arguments, 'order': {**arguments['order'], 'changes': changes}}


def _show(rows: Iterable[Shown], columns: Sequence[str]) -> None:
    lines = [row.values() for row in rows]
    text_tables.show(
        columns, [['' if value is None else value for value in line] for line in lines]
    )


def _saga(row: db_rows.Row, events: Sequence[db_rows.Row], names: dict[str, str]) -> Shown:
    """Return a saga in JSON's terms. events: of its journal; names: {uuid: name} of servers"""
    mark = breakpoint_rows.mark_of(row)
    more = {
        'crosses': saga_states.crosses(row),
        'server': names.get(row.instance_uuid),
        'status': saga_states.text_of(row, events),
        'stopped': breakpoints.place(mark) if mark else None,
        # The last step of a saga that has ended is of no interest.
        'step': None if row.state in journal.ENDED else row.step,
    }
    shown = _plain(row, [name for name in COLUMNS if name not in more]) | more
    return {name: shown[name] for name in COLUMNS}


def _plain(row: db_rows.Row, columns: Iterable[str]) -> Shown:
    return {name: _value(getattr(row, name)) for name in columns}


def _value(value: typing.Any) -> typing.Any:
    if isinstance(value, datetime.datetime):
        # Databases keep UTC.
        return value.replace(tzinfo=datetime.UTC).isoformat(timespec='milliseconds')
    return value
