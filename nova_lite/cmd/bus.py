"""nova-lite bus: cut the message buses of a running cloud, or heal them.

A bus that is cut closes its connections and refuses others; messages in its queues stay.

Example: nova-lite bus cut cell1
"""

from nova_lite.console import faults
from nova_lite.launcher import control_client
from nova_lite.launcher import state_dir


def add_parser(commands):
    """Add the subcommand."""
    parser = commands.add_parser(
        'bus',
        help='cut or heal message buses',
        description=__doc__,
        formatter_class=state_dir.Formatter,
    )
    parser.add_argument('action', choices=('cut', 'heal'))
    parser.add_argument(
        'name', nargs='?', metavar='NAME', help='top or the name of a cell (default: all buses)'
    )
    state_dir.add_option(parser)
    parser.add_argument('--json', action='store_true', help='print JSON')
    parser.set_defaults(run=run)


def run(args):
    """Switch the buses, and print all faults."""
    name = {} if args.name is None else {'name': args.name}
    state = 'cut' if args.action == 'cut' else 'healed'
    client = control_client.Client(args.state_dir)
    faults.show(client.post('bus', state=state, **name), as_json=args.json)
