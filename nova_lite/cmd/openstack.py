"""nova-lite openstack: run the client `openstack` with a cloud.

All words after its options are those of `openstack`, which gets the variables that `nova-lite env`
prints: no shell has to set them. The exit code is that of `openstack`.

Examples: nova-lite openstack server list --all-projects
          nova-lite openstack --cloud nova-lite-demo server show my-server -f json
"""

import argparse
import typing

from nova_lite.lab.launcher import openstack_client
from nova_lite.lab.launcher import state_dir


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments and options."""
    state_dir.add_option(parser)
    parser.add_argument(
        '--cloud',
        default='nova-lite',
        metavar='NAME',
        help='name of a cloud in its clouds.yaml: nova-lite for the administrator, '
        'nova-lite-demo for a member (default: %(default)s)',
    )
    parser.add_argument(
        'words', nargs=argparse.REMAINDER, metavar='WORDS', help='arguments of openstack'
    )


def run(args: argparse.Namespace) -> typing.NoReturn:
    """Run the client in place of this process."""
    openstack_client.run(args.which, args.cloud, args.words)
