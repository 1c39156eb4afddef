"""nova-lite repair-guide: print how an operator of nova repairs a server in its present state.

The guide names the commands of `openstack` and `nova-manage`, in order. It changes nothing. With
`nova-lite up --failures nova`, moves that fail leave servers as nova does, which can be repaired
so. `nova-lite verify` lists what is still left. The exit code is 1 if the server needs a repair.

Example: nova-lite repair-guide my-server
"""

import argparse

from nova_lite.cmd import subcommands
from nova_lite.lab.console import output
from nova_lite.lab.console import repair_guide
from nova_lite.lab.launcher import repairs


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments and options."""
    subcommands.add_options(parser)
    parser.add_argument('server', metavar='SERVER', help='uuid or name of the server')


def run(args: argparse.Namespace) -> int:
    """Print the guide. Return the exit code."""
    found = repairs.find(args.which.conf(), args.server)
    output.show(found, repair_guide.show, as_json=args.json)
    return int(found['needed'])
