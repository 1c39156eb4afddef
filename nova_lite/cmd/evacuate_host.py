"""nova-lite evacuate-host: rebuild the servers of a failed host on other hosts.

The command refuses a host that is up, unless --force-down is given. Before you use --force-down,
make sure that the host is off: otherwise its guests run twice. Run the command again to
continue after an interruption. The exit code is 0 if no server is left on the host, 1 if
servers are left, and 2 if the arguments are wrong or the API does not answer.

Example: nova-lite evacuate-host cell1-host1 --force-down --yes
"""

import argparse

from nova_lite.lab.maintenance import evacuating
from nova_lite.lab.maintenance import leaving


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments and options."""
    leaving.add_options(parser)
    parser.add_argument(
        '--force-down',
        action='store_true',
        help='set forced_down first; the host must already be off',
    )


def run(args: argparse.Namespace) -> int:
    """Evacuate the host and return the exit code."""
    return evacuating.evacuate(args)
