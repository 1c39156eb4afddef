"""nova-lite reset: return a running cloud to its first state, or to one saved by a name.

Everything returns to that state: servers, hosts, placement, and what is in the identity,
image, network and volume services. What was in progress ends as if its daemon was killed.
Clients log in again: tokens issued since are not valid. A state can be restored by a cloud
with the same cells, hosts and state directory. Clouds with --bus or --db cannot be reset.

The exit code is 0 if the cloud was reset or the state saved, and 2 if it could not be.

Example: nova-lite reset --save three-servers && nova-lite reset three-servers
"""

from nova_lite.cmd import subcommands
from nova_lite.lab.console import saved_states
from nova_lite.lab.launcher import control_request
from nova_lite.lab.launcher import state_dir

HELP = 'return a cloud to a saved state'


def add_arguments(parser):
    """Add the arguments and options."""
    subcommands.add_options(parser)
    parser.add_argument(
        'state',
        nargs='?',
        type=state_dir.name,
        metavar='NAME',
        help='saved state (default: fresh, that of the new cloud)',
    )
    wanted = parser.add_mutually_exclusive_group()
    wanted.add_argument(
        '--save',
        type=state_dir.name,
        metavar='NAME',
        help='save the state of the cloud under a name instead',
    )
    wanted.add_argument('--list', action='store_true', help='list the saved states instead')


def run(args):
    """Reset the cloud, save its state or list the saved states."""
    control_request.run(args, _request(args))


def _request(args):
    if args.list:
        return control_request.Request('states', saved_states.show_names)
    if args.save is not None:
        return control_request.Request('save', saved_states.show_saved, {'state': args.save})
    return control_request.Request('reset', saved_states.show_reset, {'state': args.state})
