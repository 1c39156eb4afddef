"""nova-lite reset: return a running cloud to its first state, or to one saved by a name.

Everything returns to that state: servers, hosts, placement, and what is in the identity,
image, network and volume services. What was in progress ends as if its daemon was killed.
Clients log in again: tokens issued since are not valid. A state can be restored by a cloud
with the same cells, hosts and state directory. Clouds with --bus or --db cannot be reset.

The exit code is 0 if the cloud was reset or the state saved, and 2 if it could not be.

Example: nova-lite reset --save three-servers && nova-lite reset three-servers
"""

import json

from nova_lite.console import tables
from nova_lite.launcher import control_client
from nova_lite.launcher import saved_states
from nova_lite.launcher import state_dir


def add_parser(commands):
    """Add the subcommand."""
    parser = commands.add_parser(
        'reset',
        help='return a cloud to a saved state',
        description=__doc__,
        formatter_class=state_dir.Formatter,
    )
    state_dir.add_option(parser)
    parser.add_argument(
        'state',
        nargs='?',
        default=saved_states.FRESH,
        metavar='NAME',
        help='saved state (default: %(default)s, that of the new cloud)',
    )
    wanted = parser.add_mutually_exclusive_group()
    wanted.add_argument(
        '--save', metavar='NAME', help='save the state of the cloud under a name instead'
    )
    wanted.add_argument('--list', action='store_true', help='list the saved states instead')
    parser.add_argument('--json', action='store_true', help='print JSON')
    parser.set_defaults(run=run)


def run(args):
    """Reset the cloud, save its state or list the saved states."""
    client = control_client.Client(args.state_dir)
    if args.list:
        found = client.get('states')
    elif args.save is not None:
        found = client.post('save', state=args.save)
    else:
        found = client.post('reset', state=args.state)
    if args.json:
        print(json.dumps(found))
    elif args.list:
        tables.show(('State',), [(name,) for name in found['states']])
    else:
        done = 'Reset to state' if args.save is None else 'Saved state'
        print(f'{done} {found["state"]} in {found["seconds"] * 1000:.0f} ms')
