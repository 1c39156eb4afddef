"""nova-lite saga: show the progress of each move, from the journal.

Examples: nova-lite saga list --active
          nova-lite saga show 5f0c7c5e-7f8e-4a55-9f0d-3b1c1f6a2d10 --html saga.html
"""

from nova_lite.cmd import actions
from nova_lite.db import engine
from nova_lite.launcher import state_dir
from nova_lite.timeline import listing
from nova_lite.timeline import page
from nova_lite.timeline import story

HELP = 'show moves and their progress'


def add_arguments(parser):
    """Add the actions with their arguments and options."""
    parsers = actions.add(
        parser,
        {'list': 'list sagas, newest first', 'show': 'show one saga with its events'},
    )
    parsers['list'].add_argument(
        '--active', action='store_true', help='only sagas that run, wait or clean up'
    )
    parsers['list'].add_argument('--server', metavar='UUID', help='only sagas of this server')
    parsers['show'].add_argument('uuid')
    parsers['show'].add_argument(
        '--html', metavar='FILE', help='write the timeline of the saga to this file instead'
    )


def run(args):
    """Print sagas or one saga, or write the timeline of one."""
    database = engine.Database(state_dir.control_conf(args.state_dir).api_database.connection)
    if args.action == 'list':
        listing.show(database, active=args.active, server=args.server, as_json=args.json)
    elif args.html:
        told = database.read(story.read, args.uuid)
        page.write(args.html, told.title, [told])
    else:
        listing.show_one(database, args.uuid, as_json=args.json)
