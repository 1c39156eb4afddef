"""nova-lite host: power a simulated host of a running cloud off or on.

The guests of a host without power are shut down. The servers of the host can be evacuated once the
cloud considers the host down.

Example: nova-lite host off cell1-host1
"""

import argparse

from nova_lite.cmd import subcommands
from nova_lite.lab.console import injected_faults
from nova_lite.lab.launcher import control_request


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments and options."""
    parser.add_argument('power', choices=('off', 'on'))
    parser.add_argument('name', metavar='NAME', help='name of the host')
    subcommands.add_options(parser)


def run(args: argparse.Namespace) -> None:
    """Switch the host, and print all faults."""
    arguments = {'name': args.name, 'power': args.power}
    control_request.run(args, control_request.Request('host', injected_faults.show, arguments))
