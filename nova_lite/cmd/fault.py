"""nova-lite fault: let operations of simulated hosts fail while a cloud runs.

The options are those of a failure in a profile of simulated hosts.

Examples: nova-lite fault add --verb spawn --host 'cell1-*' --first 2
          nova-lite fault list
          nova-lite fault clear
"""

from nova_lite.cmd import actions
from nova_lite.console import faults
from nova_lite.launcher import control_request

HELP = 'let operations of hosts fail'
ACTIONS = {
    'add': 'add a failure',
    'list': 'list all injected faults',
    'clear': 'remove a failure, or all',
}


def add_arguments(parser):
    """Add the actions with their arguments and options."""
    parsers = actions.add(parser, ACTIONS)
    _add_options(parsers['add'])
    parsers['clear'].add_argument('id', nargs='?', type=int, metavar='ID', help='default: all')


def _add_options(action):
    """Add what a failure is about, and how it fails."""
    action.add_argument(
        '--verb', required=True, metavar='PATTERN', help="operation, such as spawn or 'live_*'"
    )
    for name, what in (('host', 'hosts'), ('flavor', 'flavors'), ('server', 'names of servers')):
        action.add_argument(f'--{name}', metavar='PATTERN', help=f'{what} (default: all)')
    action.add_argument(
        '--metadata',
        action='append',
        default=[],
        metavar='KEY=PATTERN',
        help='metadata of the server; may be repeated',
    )
    action.add_argument(
        '--when', metavar='WHEN', help='before, during or after the operation (default: before)'
    )
    action.add_argument('--first', type=int, metavar='N', help='only the first N operations')
    action.add_argument('--nth', type=int, metavar='N', help='only the N-th operation')
    action.add_argument('--probability', type=float, metavar='P', help='0 to 1')
    action.add_argument('--error', metavar='CLASS', help='name of the error')
    action.add_argument('--message', metavar='TEXT', help='text of the error')
    action.add_argument(
        '--reschedule', action='store_true', help='let the build be tried on another host'
    )


def run(args):
    """Change the failures, and print all faults."""
    control_request.run(args, _request(args))


def _request(args):
    if args.action == 'list':
        return control_request.Request('faults', faults.show)
    arguments = faults.entry(vars(args)) if args.action == 'add' else {'id': args.id}
    return control_request.Request(f'faults/{args.action}', faults.show, arguments)
