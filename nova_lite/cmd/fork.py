"""nova-lite fork: start a second cloud as a copy of the running cloud.

The command takes a snapshot of the running cloud and starts a cloud from it, as `nova-lite up
--detach --from` does with the same options. The new cloud has a state directory and a port of its
own, and the same servers, users and passwords. From then on the two clouds are independent. The new
cloud is ready when the command returns; `nova-lite stop --state-dir TO` stops it. Clouds with --bus
or --db cannot be forked.

The exit code is 2 if the running cloud cannot be read or the new cloud does not start.

Example: nova-lite fork ./what-if --set filter_scheduler.host_subset_size=3
"""

import argparse
import os
import tempfile

from nova_lite.cmd import up
from nova_lite.lab.launcher import control_client


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments and options."""
    parser.add_argument('to', metavar='TO', help='state directory of the new cloud')
    up.add_options(parser, port=0)
    parser.set_defaults(detach=True)


def run(args: argparse.Namespace) -> None:
    """Take a snapshot and start a cloud from it."""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, 'fork.snapshot')
        client = control_client.Client(args.state_dir, timeout_s=control_client.SNAPSHOT_S)
        client.post('snapshot', file=path)
        up.run(argparse.Namespace(**{**vars(args), 'state_dir': args.to, 'snapshot': path}))
