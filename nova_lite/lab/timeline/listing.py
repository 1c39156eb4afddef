"""Sagas as text and as JSON, for commands."""

from collections.abc import Iterable
from collections.abc import Sequence
import typing

from nova_lite.db import rows as db_rows
from nova_lite.db import transactions
from nova_lite.db.api import breakpoints as breakpoint_rows
from nova_lite.db.api import sagas
from nova_lite.lab.console import output
from nova_lite.moves import kinds
from nova_lite.saga import breakpoints
from nova_lite.terminal import text_tables

# A saga, an event or a step as JSON.
Shown: typing.TypeAlias = dict[str, typing.Any]

# Columns of a server that often contain passwords, and the text that is shown instead.
SECRET, MARK = ('user_data',), '***'

COLUMNS = (
    'uuid',
    'kind',
    'instance_uuid',
    'state',
    'direction',
    'step',
    'attempts',
    'owner',
    'epoch',
    'created_at',
    'finished_at',
)
# The last column: the step before which a debugger has stopped the saga.
STOPPED = 'stopped'
EVENT_COLUMNS = ('at', 'owner', 'epoch', 'step', 'what', 'detail')


def show(
    database: transactions.Database, *, active: bool, server: str | None, as_json: bool
) -> None:
    """Print the sagas of the API database, newest first.

    active: only sagas that run, wait or clean up; server: uuid, only sagas of this server
    """
    rows = database.read(sagas.every, active=active, cleaning=True, instance_uuid=server)
    found = [_saga(row) for row in rows]
    output.show(found, lambda found: _show(found, (*COLUMNS, STOPPED)), as_json=as_json)


def show_one(database: transactions.Database, uuid: str, *, as_json: bool) -> None:
    """Print a saga of the API database and its events. Raise SagaNotFound."""
    saga = database.read(sagas.get, uuid)
    events = database.read(sagas.events, uuid)
    output.show(_document(saga, events), _show_document, as_json=as_json)


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
    columns = (*COLUMNS, STOPPED)
    _show([{name: document[name] for name in columns}], columns)
    if document['error']:
        print('{type}: {message}'.format_map(document['error']))
    _show(document['events'], EVENT_COLUMNS)


def _document(saga: db_rows.Row, events: Sequence[db_rows.Row]) -> Shown:
    return {
        **_saga(saga),
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


def _saga(row: db_rows.Row) -> Shown:
    mark = breakpoint_rows.mark_of(row)
    return {**_plain(row, COLUMNS), STOPPED: breakpoints.place(mark) if mark else None}


def _plain(row: db_rows.Row, columns: Iterable[str]) -> Shown:
    return {
        name: None if getattr(row, name) is None else str(getattr(row, name)) for name in columns
    }
