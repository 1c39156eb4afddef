"""nova-lite saga: show the progress of each move, from the journal."""

import json

from nova_lite.console import tables
from nova_lite.db import engine
from nova_lite.db.api import sagas
from nova_lite.launcher import state_dir
from nova_lite.timeline import page
from nova_lite.timeline import story

# Columns of a server that often contain passwords, and what is shown in their place.
SECRET, MARK = ('user_data',), '***'


def add_parser(commands):
    """Add the subcommand."""
    parser = commands.add_parser('saga', help='show moves and their progress', description=__doc__)
    verbs = parser.add_subparsers(dest='verb', required=True, metavar='VERB')
    listing = verbs.add_parser('list', help='list sagas, newest first')
    listing.add_argument(
        '--active', action='store_true', help='only sagas that run, wait or clean up'
    )
    listing.add_argument('--server', metavar='UUID', help='only sagas of this server')
    showing = verbs.add_parser('show', help='show one saga with its events')
    showing.add_argument('uuid')
    for each in (listing, showing):
        state_dir.add_option(each)
        each.add_argument('--json', action='store_true', help='print JSON')
    showing.add_argument(
        '--html', metavar='FILE', help='write the timeline of the saga to this file instead'
    )
    listing.set_defaults(run=list_sagas)
    showing.set_defaults(run=show_saga)


def without_secrets(arguments):
    """Return the arguments of a saga with the columns in SECRET masked."""
    if not arguments.get('order'):
        return arguments
    changes = {
        name: MARK if name in SECRET and value else value
        for name, value in arguments['order']['changes'].items()
    }
    return {**arguments, 'order': {**arguments['order'], 'changes': changes}}


def _database(args):
    return engine.Database(state_dir.control_conf(args.state_dir).api_database.connection)


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
EVENT_COLUMNS = ('at', 'owner', 'epoch', 'step', 'what', 'detail')


def _show(rows, columns):
    lines = [_plain(row, columns).values() for row in rows]
    tables.show(columns, [['' if value is None else value for value in line] for line in lines])


def _plain(row, columns):
    return {
        name: None if getattr(row, name) is None else str(getattr(row, name)) for name in columns
    }


def list_sagas(args):
    """Print the sagas."""
    found = _database(args).read(
        sagas.every, active=args.active, cleaning=True, instance_uuid=args.server
    )
    if args.json:
        print(json.dumps([_plain(row, COLUMNS) for row in found], indent=2))
    else:
        _show(found, COLUMNS)


def show_saga(args):
    """Print one saga and its events."""
    database = _database(args)
    if args.html:
        told = database.read(story.read, args.uuid)
        page.write(args.html, told.title, [told])
        return
    saga = database.read(sagas.get, args.uuid)
    events = database.read(sagas.events, args.uuid)
    if args.json:
        print(
            json.dumps(
                {
                    **_plain(saga, COLUMNS),
                    'error': saga.error,
                    'data': saga.data,
                    'arguments': without_secrets(saga.arguments),
                    'events': [_plain(row, EVENT_COLUMNS) for row in events],
                },
                indent=2,
            )
        )
        return
    _show([saga], COLUMNS)
    if saga.error:
        print(f'{saga.error["type"]}: {saga.error["message"]}')
    _show(events, EVENT_COLUMNS)
