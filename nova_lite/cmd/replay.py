"""nova-lite replay: replay a trace of virtual machines against the real scheduler and placement.

Each arrival is a decision of the scheduler, with its filters, its weighers and a claim in
placement. No host builds the machines, unless --boots asks for whole boots. --vary compares
settings with the same trace and seed. DIR gets report.html, results.json and series.csv. Ctrl-C
interrupts a study, and --continue continues it.

Examples: nova-lite replay trace.csv --hosts 1000 --vary cpu_weight_multiplier=1,-1
          nova-lite replay --continue replay-trace
"""

import argparse

from nova_lite.lab.console import arguments
from nova_lite.lab.replay import command
from nova_lite.lab.replay import readers


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments and options."""
    parser.set_defaults(default_of=parser.get_default)
    parser.add_argument('trace', nargs='?', metavar='TRACE', help='file with the trace')
    _add_format(parser)
    parser.add_argument(
        '--limit', type=arguments.count, metavar='N', help='use the first N arrivals only'
    )
    parser.add_argument(
        '--flavors',
        metavar='FILE',
        help='CSV file of flavors; a machine gets the smallest flavor that is large enough. Without '
        'this option each size has a separate flavor',
    )
    parser.add_argument(
        '--fits',
        type=_size,
        metavar='VCPUS:MIB:GIB',
        help='size of the reference servers: the report says how many of them fit into the free '
        'resources (default: the largest size of the trace)',
    )
    parser.add_argument(
        '--vary',
        action='append',
        default=[],
        metavar='OPTION=VALUE,VALUE',
        help='option of the scheduler and the values to compare, with a run for each value; the '
        'option is in the group filter_scheduler unless it is named GROUP.OPTION. May be repeated',
    )
    parser.add_argument(
        '--seed',
        type=int,
        default=1,
        metavar='N',
        help='seed of the choices that the options leave open; equal seeds give equal results '
        '(default: %(default)s)',
    )
    _add_cloud(parser)
    _add_mode(parser)
    parser.add_argument(
        '--output', metavar='DIR', help='directory of the results (default: replay-NAME of TRACE)'
    )
    parser.add_argument(
        '--continue', dest='resumed', metavar='DIR', help='continue the interrupted study in DIR'
    )
    parser.add_argument('--json', action='store_true', help='print results.json')


def _add_format(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how to read the trace."""
    parser.add_argument(
        '--format',
        choices=sorted(readers.READERS),
        help='format of TRACE (default: detected from the beginning of the file)',
    )
    parser.add_argument(
        '--machine',
        metavar='ID',
        help='azure-packing: type of machine to which the fractions refer (default: for each type of '
        'virtual machine, the first type of machine that runs it)',
    )
    parser.add_argument(
        '--machine-size',
        type=_size,
        metavar='VCPUS:MIB:GIB',
        help='azure-packing: resources of that machine (default: 64:262144:4096)',
    )


def _add_cloud(parser: argparse.ArgumentParser) -> None:
    """Add the options of the cloud in which the trace is replayed."""
    parser.add_argument(
        '-f',
        '--file',
        metavar='FILE',
        help='file that describes the cloud, as for `nova-lite up -f`',
    )
    parser.add_argument(
        '--cells',
        type=arguments.count,
        metavar='N',
        help='number of cells (default: 1, or as in FILE)',
    )
    parser.add_argument(
        '--hosts',
        type=arguments.count,
        metavar='N',
        help='number of simulated hosts in each cell (default: 100, or as in FILE)',
    )
    parser.add_argument(
        '--profile',
        metavar='NAME|FILE',
        help='profile of the hosts, which sets their capacity (default: default, or as in FILE)',
    )
    parser.add_argument(
        '--set',
        action='append',
        default=[],
        metavar='GROUP.OPTION=VALUE',
        help='configuration option of the cloud; may be repeated',
    )


def _add_mode(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how requests are served."""
    parser.add_argument(
        '--boots',
        action='store_true',
        help='boot and delete servers through the API, one at a time, with the clock of the cloud set '
        'to the time of the trace; `verify` checks the cloud at the end',
    )
    parser.add_argument(
        '--migrations',
        type=arguments.count,
        default=0,
        metavar='N',
        help='with --boots: live-migrate a server at each of N random times',
    )
    parser.add_argument(
        '--lose-host',
        action='store_true',
        help='with --boots: after 60 %% of the trace the host with the most servers loses its power, '
        'and its servers are evacuated',
    )
    parser.add_argument(
        '--plain-placement',
        action='store_true',
        help='use placement without the changes of `up --tuned-placement`; the results are equal',
    )
    parser.add_argument(
        '--ask-always',
        action='store_true',
        help='ask placement for candidates at each decision, instead of updating earlier answers; '
        'the results are equal, which checks this command',
    )


def _size(text: str) -> list[int]:
    parts = text.split(':')
    if len(parts) != 3 or not all(part.isdecimal() for part in parts) or '0' in parts[:2]:
        raise argparse.ArgumentTypeError(f'{text!r} is not VCPUS:MIB:GIB, such as 16:65536:100')
    return [int(part) for part in parts]


def run(args: argparse.Namespace) -> int:
    """Run a study, print its summary and return the exit code."""
    return command.run(args)
