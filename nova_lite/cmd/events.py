"""nova-lite events: print the notifications of a running cloud as they are sent.

The notifications of the top bus and of all cells are merged. On RabbitMQ the command
declares a queue of its own on each bus, which is deleted when the command ends. An
embedded cloud sends its notifications over a local HTTP connection.

Example: nova-lite events --count 10 --json
"""

import argparse

from nova_lite.lab import server_names
from nova_lite.lab.console import arguments
from nova_lite.lab.launcher import following
from nova_lite.lab.launcher import state_dir


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments and options."""
    state_dir.add_option(parser)
    parser.add_argument(
        '--json', action='store_true', help='print each notification as one line of JSON'
    )
    parser.add_argument(
        '--server', metavar='SERVER', help='print only those of this server (uuid or name)'
    )
    ends = parser.add_mutually_exclusive_group()
    ends.add_argument('--follow', action='store_true', help='print until interrupted (the default)')
    ends.add_argument(
        '--count', type=arguments.count, metavar='N', help='exit after N notifications'
    )


def run(args: argparse.Namespace) -> None:
    """Print notifications as they arrive."""
    server = args.server and server_names.find(args.which.conf, args.server, required=True)
    following.show(args.which.conf(), server=server, count=args.count, as_json=args.json)
