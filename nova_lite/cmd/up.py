"""nova-lite up: run a cloud, in this process or with a process for each daemon.

Examples: nova-lite up --cells 3 --hosts 10
          nova-lite up --detach --port 0 --fresh --state-dir ./cloud
          nova-lite up -f cloud.yaml --fresh
          nova-lite up --print-config > cloud.yaml
          nova-lite up --from moving.snapshot --state-dir ./moving

With --detach, --json prints the URLs and the state directory for programs.
"""

import argparse

from nova_lite.cmd import subcommands
from nova_lite.daemons import leash
from nova_lite.lab.console import arguments
from nova_lite.lab.launcher import asked
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import which_cloud
from nova_lite.lab.launcher.cloud_file import schema
from nova_lite.states import nova_failures


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments and options."""
    add_options(parser)
    parser.set_defaults(**which_cloud.NOT_COMPARED, default_of=parser.get_default)
    parser.add_argument(
        '-f',
        '--file',
        metavar='FILE',
        help='file that describes the cloud: its cells, hosts, objects and faults',
    )
    parser.add_argument(
        '--print-config', action='store_true', help='print the file of the running cloud, and exit'
    )
    parser.add_argument(
        '--print-schema',
        nargs=0,
        action=schema.Show,
        help='print the JSON Schema of these files, and exit',
    )
    parser.add_argument(
        '--detach',
        action='store_true',
        help='return when the cloud is ready; `nova-lite stop` stops it',
    )
    parser.add_argument(
        '--from',
        dest='snapshot',
        metavar='FILE',
        help='continue with a snapshot of another cloud, see `nova-lite snapshot`',
    )


def add_options(parser: argparse.ArgumentParser, *, port: int = layout.Settings.port) -> None:
    """Add the options of each command that starts a cloud. port: default of --port"""
    subcommands.add_options(parser)
    parser.add_argument(
        '--cells',
        type=int,
        metavar='N',
        help=f'number of cells (default: {layout.Settings.cells}, or as before or in the snapshot)',
    )
    parser.add_argument(
        '--hosts',
        type=arguments.counts,
        metavar='N[,N...]',
        help='number of simulated hosts in each cell, or one number for each cell '
        f'(default: {layout.Settings.hosts}, or as before or in the snapshot)',
    )
    parser.add_argument(
        '--port',
        type=int,
        default=port,
        metavar='P',
        help='port of all services; 0 for any free port (default: %(default)s)',
    )
    parser.add_argument(
        '--listen',
        default='127.0.0.1',
        metavar='ADDRESS',
        help='address to listen on; 0.0.0.0 or :: for all addresses, as in a container '
        '(default: %(default)s)',
    )
    parser.add_argument(
        '--until-exit',
        type=leash.process,
        metavar='PID',
        help='stop the cloud when this process ends, such as the job that uses it',
    )
    _add_servers(parser)
    _add_behaviour(parser)
    _add_processes(parser)


def _add_servers(parser: argparse.ArgumentParser) -> None:
    """Add the options that name brokers and database servers."""
    parser.add_argument(
        '--bus',
        action='append',
        default=[],
        metavar='URL',
        help='RabbitMQ, as rabbit://user:password@host:port/virtual-host: one URL that contains '
        '{cell}, or one for the top and one for each cell. Without --bus all daemons run in '
        'this process',
    )
    parser.add_argument(
        '--db',
        metavar='URL',
        help='database server, as mysql+pymysql://user:password@host:port or '
        'postgresql+psycopg://user:password@host:port. Without --db SQLite files are used',
    )
    for option in ('--bus', '--db'):
        text = (
            f'file with the URLs of {option}, one on each line; other users can read command lines'
        )
        parser.add_argument(f'{option}-file', metavar='FILE', help=text)


def _add_behaviour(parser: argparse.ArgumentParser) -> None:
    """Add the options that change the behaviour of the cloud."""
    parser.add_argument(
        '--profile',
        metavar='NAME|FILE',
        help='behaviour of the simulated hosts '
        f'(default: {layout.Settings.profile}, or as in the snapshot)',
    )
    parser.add_argument(
        '--speed',
        type=float,
        metavar='X',
        help='factor by which simulated operations are faster '
        f'(default: {layout.Settings.speed}, or as in the snapshot)',
    )
    parser.add_argument(
        '--auth',
        choices=('keystone', 'noauth'),
        help='keystone checks tokens; noauth accepts identity headers without a check, for '
        f'benchmarks only (default: {layout.Settings.auth}, or as in the snapshot)',
    )
    parser.add_argument('--fresh', action='store_true', help='delete the former cloud in DIR first')
    parser.add_argument(
        '--set',
        action='append',
        default=[],
        metavar='GROUP.OPTION=VALUE',
        help='configuration option for every daemon; may be repeated',
    )
    parser.add_argument(
        '--tuned-placement',
        action='store_true',
        help='replace functions of placement by faster ones for SQLite; results are the same. '
        'Without this option placement is the one that is installed, unmodified',
    )
    parser.add_argument('--lab', action='store_true', help='let the live page change the cloud')
    parser.add_argument('--debug', action='store_true', help='log at level DEBUG')


def _add_failures(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        '--failures',
        choices=tuple(map(str, nova_failures.Mode)),
        help='end of moves that fail: undo them, leave the server as nova does, or do as the metadata '
        'of the server say; as --set conductor.failures=MODE (default: undo, or as in the snapshot)',
    )


def _add_processes(parser: argparse.ArgumentParser) -> None:
    """Add the options that add processes to the cloud."""
    parser.add_argument(
        '--drills',
        action='store_true',
        help='pass the connections of a cloud with --bus through this process, so that '
        '`nova-lite cell`, `bus` and `fault` can strike them, and start a super-conductor that stops '
        'at breakpoints; both become slower',
    )
    parser.add_argument(
        '--process-per-host',
        action='store_true',
        help='start a compute process for each host of a cloud with --bus, so that '
        '`nova-lite daemon kill compute.HOST` loses one host; each takes about 100 MB',
    )
    _add_failures(parser)
    parser.add_argument(
        '--with',
        dest='programs',
        action='append',
        default=[],
        choices=(layout.HORIZON,),
        help='program to run beside the cloud: horizon, the dashboard, on an address of loopback. '
        'The first start with it installs it from PyPI below DIR',
    )


def run(args: argparse.Namespace) -> None:
    """Run the cloud until it is stopped, or until it is ready with --detach."""
    if getattr(args, 'print_config', False):
        asked.print_config(args)
    else:
        asked.up(args)
