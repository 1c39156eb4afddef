"""nova-lite fork: start a second cloud that continues as the running one is now.

It takes a snapshot of the running cloud and does what `nova-lite up --detach --from` does, with
the same options. The new cloud has a state directory and a port of its own, and the same servers,
users and passwords. From then on each of them goes its own way. It is ready when the command
returns, and `nova-lite stop --state-dir TO` stops it. Clouds with --bus or --db cannot be forked.

The exit code is 2 if the running cloud cannot be read or the new one does not start.

Example: nova-lite fork ./what-if --set filter_scheduler.host_subset_size=3
"""

import argparse
import os
import tempfile

from nova_lite.cmd import up
from nova_lite.lab.launcher import control_client

HELP = 'start a second cloud from a running one'


def add_arguments(parser):
    """Add the arguments and options."""
    parser.add_argument('to', metavar='TO', help='state directory of the new cloud')
    up.add_options(parser, port=0)
    parser.set_defaults(detach=True)


def run(args):
    """Take a snapshot and start a cloud from it."""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, 'fork.snapshot')
        client = control_client.Client(args.state_dir, timeout_s=control_client.SNAPSHOT_S)
        client.post('snapshot', file=path)
        up.run(argparse.Namespace(**{**vars(args), 'state_dir': args.to, 'snapshot': path}))
