"""nova-lite drain-host: move all servers off a host that is up, for maintenance.

The command disables the compute service of the host, live migrates running servers, cold
migrates all other servers, and reports which servers stay and why. Run the command again to
continue after an interruption. The exit code is 0 if no server is left on the host, 1 if servers
are left, and 2 if the arguments are wrong or the API does not answer.

Example: nova-lite drain-host cell1-host1 --plan
"""

import argparse

from nova_lite.lab.maintenance import draining
from nova_lite.lab.maintenance import leaving


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments and options."""
    leaving.add_options(parser)
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument('--cold-only', action='store_true', help='do not live migrate')
    kinds.add_argument('--live-only', action='store_true', help='do not cold migrate')
    parser.add_argument(
        '--confirm',
        action='store_true',
        help='confirm cold migrations, which removes the old guests from the host',
    )


def run(args: argparse.Namespace) -> int:
    """Drain the host and return the exit code."""
    return draining.drain(args)
