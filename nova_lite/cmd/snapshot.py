"""nova-lite snapshot: write a whole running cloud to a file, or show the contents of such a file.

`nova-lite up --from FILE` starts a cloud that continues where the snapshot was taken, with moves in
progress and at the same time by its clock. The first cloud goes on; its databases accept no changes
while they are copied. Clouds with --bus or --db have no snapshots.

The file contains the passwords of the cloud; only its owner can read it. The exit code is 2 if the
file cannot be written or used.

Example: nova-lite snapshot save moving.snapshot && nova-lite snapshot show moving.snapshot
"""

import argparse
from collections.abc import Mapping
import os

from nova_lite.cmd import subcommands
from nova_lite.lab.console import output
from nova_lite.lab.launcher import cloud_snapshots
from nova_lite.lab.launcher import control_client
from nova_lite.lab.launcher import control_request
from nova_lite.lab.launcher import which_cloud
from nova_lite.terminal import text_tables

ACTIONS = {
    'save': subcommands.Action('write the running cloud to a file', 'moving.snapshot'),
    'show': subcommands.Action(
        'show the contents of a file, and whether this release can use it', 'moving.snapshot'
    ),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the actions with their arguments and options."""
    parsers = subcommands.add(parser, ACTIONS)
    for each in parsers.values():
        each.add_argument('file', metavar='FILE', help='file of the snapshot')
    parsers['show'].set_defaults(**which_cloud.UNUSED)


def run(args: argparse.Namespace) -> None:
    """Write a snapshot, or show one."""
    if args.action == 'save':
        path = os.path.abspath(args.file)
        request = control_request.Request('snapshot', _show_saved, {'file': path})
        control_request.run(args, request, timeout_s=control_client.SNAPSHOT_S)
        return
    found = cloud_snapshots.describe(cloud_snapshots.read(args.file).manifest)
    output.show(found, text_tables.show_fields, as_json=args.json)


def _show_saved(found: Mapping[str, object]) -> None:
    print(f'Wrote {found["file"]} ({found["bytes"]} bytes), taken at {found["taken_at"]}')
