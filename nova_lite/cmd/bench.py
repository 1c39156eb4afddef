"""nova-lite bench: measure the speed and the CPU time of a running cloud.

It sends HTTP requests with the credentials of clouds.yaml. CPU seconds are summed over
the processes of the cloud (found by their pid files) and those given with `--also PID`,
such as a broker or a database server. To compare two versions, alternate their runs.

Examples: nova-lite bench boot --count 100
          nova-lite bench profile show --count 2000 --concurrency 1
"""

import argparse

from nova_lite.cmd import subcommands
from nova_lite.lab.bench import measuring
from nova_lite.lab.bench import moves
from nova_lite.lab.bench import scenarios
from nova_lite.lab.console import durations


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments and options."""
    known = sorted({*scenarios.SCENARIOS, *moves.SCENARIOS})
    parser.add_argument('scenario', choices=['idle', 'profile', *known])
    parser.add_argument(
        'profiled',
        nargs='?',
        choices=known,
        metavar='SCENARIO',
        help='after `profile`: the scenario during which py-spy samples every daemon',
    )
    subcommands.add_options(parser)
    moves.add_options(parser)
    scenarios.add_options(parser)
    parser.add_argument(
        '--also',
        type=int,
        action='append',
        default=[],
        metavar='PID',
        help='process whose CPU time, with that of its children, is added; may be repeated',
    )
    parser.add_argument(
        '--seconds',
        type=durations.option,
        default=60,
        metavar='N',
        help='duration of the scenario `idle` (default: %(default)s)',
    )


def run(args: argparse.Namespace) -> int:
    """Measure one scenario and print the figures."""
    return measuring.run(args)
