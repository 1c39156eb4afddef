"""nova-lite bus: cut, freeze or heal the message buses of a running cloud.

A bus that is cut closes its connections and refuses new connections. A bus that is frozen accepts
connections and messages, and does not answer. Both kinds keep the messages in their queues.

Example: nova-lite bus freeze cell1
"""

import argparse

from nova_lite.cmd import subcommands
from nova_lite.lab.console import injected_faults
from nova_lite.lab.launcher import control_request

STATES = {'cut': 'cut', 'freeze': 'frozen', 'heal': 'healed'}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments and options."""
    parser.add_argument('action', choices=STATES)
    text = 'top or the name of a cell (default: all buses)'
    parser.add_argument('name', nargs='?', metavar='NAME', help=text)
    subcommands.add_options(parser)


def run(args: argparse.Namespace) -> None:
    """Switch the buses, and print all faults."""
    arguments = {'name': args.name, 'state': STATES[args.action]}
    control_request.run(args, control_request.Request('bus', injected_faults.show, arguments))
