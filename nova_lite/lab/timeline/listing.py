"""Sagas as text and as JSON, for commands."""

from nova_lite.db.api import breakpoints as breakpoint_rows
from nova_lite.db.api import sagas
from nova_lite.lab.console import output
from nova_lite.moves import kinds
from nova_lite.saga import breakpoints
from nova_lite.terminal import text_tables

# Columns of a server that often contain passwords, and what is shown in their place.
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
# Where a debugger has stopped the saga; the last column.
STOPPED = 'stopped'
EVENT_COLUMNS = ('at', 'owner', 'epoch', 'step', 'what', 'detail')


def show(database, *, active, server, as_json):
    """Print the sagas of the API database, newest first.

    active: only those that run, wait or clean up; server: uuid of the only one of interest, or None
    """
    rows = database.read(sagas.every, active=active, cleaning=True, instance_uuid=server)
    found = [_saga(row) for row in rows]
    output.show(found, lambda found: _show(found, (*COLUMNS, STOPPED)), as_json=as_json)


def show_one(database, uuid, *, as_json):
    """Print a saga of the API database and its events. Raise SagaNotFound."""
    saga = database.read(sagas.get, uuid)
    events = database.read(sagas.events, uuid)
    output.show(_document(saga, events), _show_document, as_json=as_json)


def show_steps(kind, *, as_json):
    """Print the steps of a kind of saga, or of all, in each of its plans. Raise NoSuchKind."""
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


def _show_document(document):
    columns = (*COLUMNS, STOPPED)
    _show([{name: document[name] for name in columns}], columns)
    if document['error']:
        print('{type}: {message}'.format_map(document['error']))
    _show(document['events'], EVENT_COLUMNS)


def _document(saga, events):
    return {
        **_saga(saga),
        'error': saga.error,
        'data': saga.data,
        'arguments': without_secrets(saga.arguments),
        'events': [_plain(row, EVENT_COLUMNS) for row in events],
    }


def without_secrets(arguments):
    """Return the arguments of a saga with the columns in SECRET masked."""
    if not arguments.get('order'):
        return arguments
    changes = {
        name: MARK if name in SECRET and value else value
        for name, value in arguments['order']['changes'].items()
    }
    return {**arguments, 'order': {**arguments['order'], 'changes': changes}}


def _show(rows, columns):
    lines = [row.values() for row in rows]
    text_tables.show(
        columns, [['' if value is None else value for value in line] for line in lines]
    )


def _saga(row):
    mark = breakpoint_rows.mark_of(row)
    return {**_plain(row, COLUMNS), STOPPED: mark and breakpoints.place(mark)}


def _plain(row, columns):
    return {
        name: None if getattr(row, name) is None else str(getattr(row, name)) for name in columns
    }
