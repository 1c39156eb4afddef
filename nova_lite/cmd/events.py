"""nova-lite events: print the notifications of a running cloud as they are sent.

The notifications of the top bus and of all cells are merged. On RabbitMQ the command
declares a queue of its own on each bus, which is deleted when the command ends. An
embedded cloud sends its notifications over a local HTTP connection.

Example: nova-lite events --count 10 --json
"""

import argparse

from nova_lite import exception
from nova_lite.lab.launcher import following
from nova_lite.lab.launcher import state_dir

HELP = 'print notifications as they are sent'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments and options."""
    state_dir.add_option(parser)
    parser.add_argument(
        '--json', action='store_true', help='print each notification as one line of JSON'
    )
    parser.add_argument(
        '--server', metavar='UUID', help='print only the notifications of this server'
    )
    ends = parser.add_mutually_exclusive_group()
    ends.add_argument('--follow', action='store_true', help='print until interrupted (the default)')
    ends.add_argument('--count', type=int, metavar='N', help='exit after N notifications')


def run(args: argparse.Namespace) -> None:
    """Print notifications as they arrive."""
    if args.count is not None and args.count < 1:
        raise exception.Invalid(reason='--count must be at least 1')
    conf = state_dir.control_conf(args.state_dir)
    following.show(conf, server=args.server, count=args.count, as_json=args.json)
