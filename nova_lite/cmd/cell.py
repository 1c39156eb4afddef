"""nova-lite cell: take the database and the bus of a cell of a running cloud down, or up.

Without --database or --bus both are switched.

Example: nova-lite cell down cell2 --database
"""

from nova_lite.console import faults
from nova_lite.launcher import control_client
from nova_lite.launcher import state_dir


def add_parser(commands):
    """Add the subcommand."""
    parser = commands.add_parser(
        'cell',
        help='take a cell down or up',
        description=__doc__,
        formatter_class=state_dir.Formatter,
    )
    parser.add_argument('state', choices=('down', 'up'))
    parser.add_argument('name', metavar='NAME', help='name of the cell')
    parser.add_argument(
        '--database',
        dest='parts',
        action='append_const',
        const='database',
        help='switch the database',
    )
    parser.add_argument(
        '--bus', dest='parts', action='append_const', const='bus', help='switch the bus'
    )
    state_dir.add_option(parser)
    parser.add_argument('--json', action='store_true', help='print JSON')
    parser.set_defaults(run=run)


def run(args):
    """Switch the cell, and print all faults."""
    parts = {'parts': args.parts} if args.parts else {}
    client = control_client.Client(args.state_dir)
    shown = client.post('cell', name=args.name, state=args.state, **parts)
    faults.show(shown, as_json=args.json)
