"""nova-lite status: show whether the cloud of a state directory runs, and where.

The exit code is 0 if it runs and all daemons are healthy, 1 if it does not run, is starting
or stopping, a daemon is not healthy, or it refuses all requests because a reset failed.

Example: nova-lite status --json
"""

import argparse

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
    output.show(shown, text_tables.show_fields, as_json=args.json)
    serves = shown['state'] == cloud_state.RUNNING and not shown.get('problem')
    return 0 if serves and not shown['unhealthy'] else 1
