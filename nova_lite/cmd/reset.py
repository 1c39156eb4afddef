"""nova-lite reset: return a running cloud to its first state, or to a saved state.

Servers, hosts, placement and the contents of the identity, image, network and volume services
return to that state. Work in progress ends as if its daemon was killed. Clients must log in again:
tokens that were issued after the state was saved are not valid. A saved state is a snapshot,
saved/NAME.snapshot in the state directory, from which `nova-lite up --from` also starts clouds. A
reset needs as many cells and hosts as the state has. Clouds with --bus or --db cannot be reset.

The exit code is 0 if the cloud was reset or the state saved, and 2 otherwise.

Example: nova-lite reset --save three-servers && nova-lite reset three-servers
"""

import argparse

from nova_lite.cmd import subcommands
from nova_lite.lab.console import saved_states
from nova_lite.lab.launcher import control_request
from nova_lite.lab.launcher import state_dir


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments and options."""
    subcommands.add_options(parser)
    parser.add_argument(
        'state',
        nargs='?',
        type=state_dir.name,
        metavar='NAME',
        help='saved state (default: fresh, the state of the new cloud)',
    )
    wanted = parser.add_mutually_exclusive_group()
    wanted.add_argument(
        '--save',
        type=state_dir.name,
        metavar='NAME',
        help='do not reset the cloud; save its state under this name',
    )
    wanted.add_argument(
        '--list', action='store_true', help='do not reset the cloud; list the saved states'
    )


def run(args: argparse.Namespace) -> None:
    """Reset the cloud, save its state or list the saved states."""
    control_request.run(args, _request(args))


def _request(args: argparse.Namespace) -> control_request.Request:
    if args.list:
        return control_request.Request('states', saved_states.show_names)
    if args.save is not None:
        return control_request.Request('save', saved_states.show_saved, {'state': args.save})
    return control_request.Request('reset', saved_states.show_reset, {'state': args.state})
