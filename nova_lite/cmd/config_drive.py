"""nova-lite config-drive: show the config drive of a server as its guest would find it.

The command reads the files of the simulated hosts and asks no daemon. Without PATH it lists
the files of the drive with their sizes in bytes.

Example: nova-lite config-drive my-server openstack/latest/meta_data.json
"""

import argparse

from nova_lite.lab.launcher import config_drives
from nova_lite.lab.launcher import state_dir


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments and options."""
    state_dir.add_option(parser)
    parser.add_argument('server', metavar='SERVER', help='uuid or name of the server')
    parser.add_argument('path', metavar='PATH', nargs='?', help='print only this file')
    parser.add_argument(
        '--write', metavar='DIR', help='write all files below DIR, which must not exist'
    )
    parser.add_argument('--json', action='store_true', help='print the list of files as JSON')


def run(args: argparse.Namespace) -> None:
    """Print or write the drive."""
    files = config_drives.find(args.which, args.server)
    if args.path is not None:
        config_drives.print_file(files, args.path.strip('/'))
    elif args.write is None:
        config_drives.show(files, as_json=args.json)
    if args.write is not None:
        config_drives.write(files, args.write)
