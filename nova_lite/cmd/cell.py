"""nova-lite cell: take the database and the bus of a cell of a running cloud down, or up.

Without --database and --bus the command switches both.

Example: nova-lite cell down cell2 --database
"""

import argparse

from nova_lite.cmd import subcommands
from nova_lite.lab.console import injected_faults
from nova_lite.lab.launcher import control_request


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments and options."""
    parser.add_argument('state', choices=('down', 'up'))
    parser.add_argument('name', metavar='NAME', help='name of the cell')
    for part in ('database', 'bus'):
        parser.add_argument(
            f'--{part}',
            dest='parts',
            action='append_const',
            const=part,
            help=f'switch the {part}',
        )
    subcommands.add_options(parser)


def run(args: argparse.Namespace) -> None:
    """Switch the cell, and print all faults."""
    arguments = {'name': args.name, 'state': args.state, 'parts': args.parts}
    control_request.run(args, control_request.Request('cell', injected_faults.show, arguments))
