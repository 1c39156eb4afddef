"""nova-lite openstack: run the client `openstack` with a cloud.

The words from the first one that is not listed below are those of `openstack`, options as well. It
gets the variables that `nova-lite env` prints: no shell has to set them. The exit code is that of
`openstack`.

Examples: nova-lite openstack server list --all-projects
          nova-lite openstack --os-cloud nova-lite-demo server show my-server -f json
          nova-lite openstack --version
"""

import argparse
import typing

from nova_lite.lab.console import arguments
from nova_lite.lab.launcher import openstack_client
from nova_lite.lab.launcher import state_dir

BEFORE = ('--state-dir', '--name', '--config-dir', '--cloud')


def add_arguments(parser: arguments.Parser) -> None:
    """Add the arguments and options."""
    parser.before = BEFORE
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
    words = args.words[1:] if args.words[:1] == [arguments.SEPARATOR] else args.words
    openstack_client.run(args.which, args.cloud, words)
