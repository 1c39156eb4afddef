"""nova-lite clock: freeze, advance or speed up the time of a running embedded cloud.

While the clock is advanced, the cloud does all work that becomes due: periodic tasks, timeouts and
simulated operations. Time never goes back: the clock stays ahead after the next `nova-lite up`.

Examples: nova-lite clock advance 24h
          nova-lite clock rate 1000
"""

import argparse

from nova_lite.cmd import subcommands
from nova_lite.lab.console import durations
from nova_lite.lab.launcher import control_request
from nova_lite.terminal import text_tables

ACTIONS = {
    'show': subcommands.Action('show the time of the cloud, and how it passes'),
    'freeze': subcommands.Action('stop time: nothing becomes due'),
    'resume': subcommands.Action('let time pass at its usual rate'),
    'advance': subcommands.Action(
        'move time ahead and wait until the cloud has done what became due', '1h30m'
    ),
    'rate': subcommands.Action('let time pass faster while the cloud has nothing to do', '1000'),
}
TIMEOUT_S = 3600


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the actions with their arguments and options."""
    parsers = subcommands.add(parser, ACTIONS)
    parsers['advance'].add_argument(
        'duration', metavar='DURATION', help='number with d, h, m or s, such as 90s, 1h30m or 2d'
    )
    parsers['rate'].add_argument(
        'rate', type=float, metavar='N', help='seconds of the cloud in one second, 1 to 100000'
    )


def run(args: argparse.Namespace) -> None:
    """Change the clock and print what it shows."""
    request = control_request.Request('clock', text_tables.show_fields, _arguments(args))
    control_request.run(args, request, timeout_s=TIMEOUT_S)


def _arguments(args: argparse.Namespace) -> dict[str, object] | None:
    """Return the arguments of the request, None to show the clock. Raise ValueError."""
    if args.action == 'show':
        return None
    if args.action == 'advance':
        return {'action': args.action, 'seconds': durations.seconds_of(args.duration)}
    return {'action': args.action, 'rate': getattr(args, 'rate', None)}
