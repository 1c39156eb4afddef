"""The start of a cloud by `nova-lite up` or `nova-lite fork`, from the arguments."""

import argparse

from nova_lite import exception
from nova_lite.lab.console import arguments
from nova_lite.lab.launcher import foreground
from nova_lite.lab.launcher import options
from nova_lite.lab.launcher.cloud_file import kept
from nova_lite.lab.launcher.cloud_file import reading
from nova_lite.lab.launcher.cloud_file import settings as file_settings

# The option itself, and those that name the cloud to print.
PRINTING = ('print_config', 'state_dir', 'config_dir', 'compares_cloud')


def up(args: argparse.Namespace) -> None:
    """Run the cloud until it is stopped, or until it is ready with --detach."""
    path = getattr(args, 'file', None)
    if path is not None and args.snapshot is not None:
        raise ValueError('--from: a snapshot has the objects of a cloud, and so has the file of -f')
    described = None if path is None else file_settings.read(path, args.state_dir)
    fresh = args.fresh
    if not fresh and args.snapshot is None:
        document = None if described is None else described.document
        fresh = kept.require_same(args.state_dir, document)
    settings, snapshot = options.read(args, described)
    ready = foreground.run(
        settings,
        fresh=fresh,
        detach=args.detach,
        until_exit=args.until_exit,
        snapshot=snapshot,
        described=described,
    )
    foreground.show(ready, settings, snapshot, as_json=args.json, described=described)


def print_config(args: argparse.Namespace) -> None:
    """Print the file of a running cloud. Raise Invalid if another option is given as well."""
    for option in arguments.given(args, PRINTING):
        text = f'--print-config prints the file of a running cloud and starts none. Omit {option}'
        raise exception.Invalid(reason=text)
    reading.show(args.state_dir)
