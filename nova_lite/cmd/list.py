"""nova-lite list: list the clouds of this user, running or not.

They are the default one, those with a name, and those that were started with --state-dir or `fork`.
A star marks the one that commands use without an option. The port is that of its services, or was
when the cloud last ran. Deployments are not listed.

Example: nova-lite list --json
"""

import argparse
from collections.abc import Iterable
from collections.abc import Mapping
import typing

from nova_lite.lab.console import output
from nova_lite.lab.launcher import known_clouds
from nova_lite.terminal import text_tables

COLUMNS = {
    'current': '',
    'name': 'Name',
    'state': 'State',
    'port': 'Port',
    'compute_url': 'Compute API',
    'state_dir': 'State directory',
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument('--json', action='store_true', help='print JSON')


def run(args: argparse.Namespace) -> None:
    """Print the clouds."""
    output.show(known_clouds.find(), _show, as_json=args.json)


def _show(found: Iterable[Mapping[str, typing.Any]]) -> None:
    text_tables.show(list(COLUMNS.values()), [_row(each) for each in found])


def _row(each: Mapping[str, typing.Any]) -> list[typing.Any]:
    return ['*' if each['current'] else '', *(each[name] or '' for name in list(COLUMNS)[1:])]
