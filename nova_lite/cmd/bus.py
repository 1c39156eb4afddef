"""nova-lite bus: cut the message buses of a running cloud, or heal them.

A bus that is cut closes its connections and refuses others; messages in its queues stay.

Example: nova-lite bus cut cell1
"""

from nova_lite.cmd import subcommands
from nova_lite.console import injected_faults
from nova_lite.launcher import control_request

HELP = 'cut or heal message buses'
STATES = {'cut': 'cut', 'heal': 'healed'}


def add_arguments(parser):
    """Add the arguments and options."""
    parser.add_argument('action', choices=STATES)
    parser.add_argument(
        'name', nargs='?', metavar='NAME', help='top or the name of a cell (default: all buses)'
    )
    subcommands.add_options(parser)


def run(args):
    """Switch the buses, and print all faults."""
    arguments = {'name': args.name, 'state': STATES[args.action]}
    control_request.run(args, control_request.Request('bus', injected_faults.show, arguments))
