"""nova-lite stop: stop the cloud of a state directory and wait until it has stopped.

The next `nova-lite up` continues with the same servers, unless --delete is given. The exit code is
0 also if no cloud runs there, and 2 if the cloud does not stop in time.

Examples: nova-lite stop --state-dir ./cloud
          nova-lite stop --name one --delete
"""

import argparse
import os

from nova_lite.lab.console import durations
from nova_lite.lab.launcher import deletion
from nova_lite.lab.launcher import running
from nova_lite.lab.launcher import state_dir


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments and options."""
    state_dir.add_option(parser)
    parser.add_argument(
        '--timeout',
        type=durations.option,
        default=60.0,
        metavar='S',
        help='seconds to wait for its end (default: %(default)g)',
    )
    parser.add_argument(
        '--delete',
        action='store_true',
        help='delete the cloud then: its state directory, and its databases on a server of --db',
    )


def run(args: argparse.Namespace) -> None:
    """Stop the cloud, and delete it if that is asked for."""
    stopped = running.stop(args.state_dir, args.timeout)
    print('Stopped' if stopped else f'No cloud runs in {args.state_dir}')
    if args.delete and os.path.exists(args.state_dir):
        dropped = deletion.delete(args.state_dir)
        print(f'Deleted {args.state_dir}' + ''.join(f', database {name}' for name in dropped))
