"""nova-lite events: follow the notifications of the running cloud.

Those of every bus: over RabbitMQ by a queue of our own on each, which ends with this
command; from an embedded cloud through its door.
"""

import json
import sys

from nova_lite import exception
from nova_lite.launcher import following
from nova_lite.launcher import state_dir


def add_parser(commands):
    """Add the subcommand."""
    parser = commands.add_parser(
        'events', help='follow the notifications of the cloud', description=__doc__
    )
    state_dir.add_option(parser)
    parser.add_argument('--json', action='store_true', help='print each as a line of JSON')
    parser.add_argument('--server', metavar='UUID', help='only those of one server')
    ends = parser.add_mutually_exclusive_group()
    ends.add_argument('--follow', action='store_true', help='until interrupted; the default')
    ends.add_argument('--count', type=int, metavar='N', help='end after N notifications')
    parser.set_defaults(run=run)


def run(args):
    """Print notifications as they come."""
    if args.count is not None and args.count < 1:
        raise exception.Invalid(reason='--count must be at least 1')
    conf = state_dir.control_conf(args.state_dir)
    found = following.follow(conf)
    shown = 0
    try:
        for message in found:
            if 'dropped' in message:
                print(f'{message["dropped"]} notifications were lost', file=sys.stderr)
                continue
            if args.server and following.server_of(message) != args.server:
                continue
            print(json.dumps(message) if args.json else following.line_of(message), flush=True)
            shown += 1
            if shown == args.count:
                break
    except KeyboardInterrupt:
        print(file=sys.stderr)
    finally:
        found.close()
