"""nova-lite status: show whether the cloud of a state directory runs, and where.

The exit code is 0 if it runs and all daemons are healthy, 1 if it does not run, is starting
or stopping, a daemon is not healthy, or it refuses all requests because a reset failed.

Example: nova-lite status --json
"""

import argparse
from collections.abc import Mapping
from collections.abc import Sequence
import typing

from nova_lite.cmd import subcommands
from nova_lite.lab.console import output
from nova_lite.lab.launcher import cloud_state
from nova_lite.lab.launcher import deployed_state
from nova_lite.terminal import text_tables


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments and options."""
    subcommands.add_options(parser)


def run(args: argparse.Namespace) -> int:
    """Print the state and return the exit code."""
    if args.which.deployed:
        shown = deployed_state.read(args.which)
    else:
        shown = cloud_state.read(args.state_dir)
    output.show(shown, show, as_json=args.json)
    serves = shown['state'] == cloud_state.RUNNING and not shown.get('problem')
    return 0 if serves and not shown['unhealthy'] else 1


def show(shown: Mapping[str, typing.Any]) -> None:
    """Print the state of a cloud as a table."""
    text_tables.show_fields({**shown, **_hosts(**shown)})


def _hosts(
    *, cells: Sequence[str] = (), hosts: int | Sequence[int] | None = None, **_others: object
) -> dict[str, object]:
    """Return the row of the numbers of hosts: they are those of each cell."""
    if hosts is None or len(cells) < 2:
        return {}
    each = (
        f'{hosts} in each cell' if isinstance(hosts, int) else dict(zip(cells, hosts, strict=True))
    )
    return {'hosts': each}
