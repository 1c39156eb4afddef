"""nova-lite list: list the cloud of the default state directory, and clouds with a name.

A cloud that was started with another --state-dir is not found.

Example: nova-lite list --json
"""

import argparse
from collections.abc import Iterable
from collections.abc import Mapping

from nova_lite.lab.console import output
from nova_lite.lab.launcher import known_clouds
from nova_lite.terminal import text_tables

HELP = 'list the default cloud and clouds with a name'
COLUMNS = {
    'name': 'Name',
    'state': 'State',
    'compute_url': 'Compute API',
    'state_dir': 'State directory',
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument('--json', action='store_true', help='print JSON')


def run(args: argparse.Namespace) -> None:
    """Print the clouds."""
    output.show(known_clouds.find(), _show, as_json=args.json)


def _show(found: Iterable[Mapping[str, str | None]]) -> None:
    text_tables.show(
        list(COLUMNS.values()), [[each[name] or '' for name in COLUMNS] for each in found]
    )
