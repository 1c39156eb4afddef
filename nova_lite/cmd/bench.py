"""nova-lite bench: measure the speed and the CPU time of a running cloud.

It sends HTTP requests with the credentials of clouds.yaml. CPU seconds are summed over
the processes of the cloud (found by their pid files) and those given with `--also PID`,
such as a broker or a database server. To compare two versions, alternate their runs.

Example: nova-lite bench boot --count 100
"""

from nova_lite.bench import client
from nova_lite.bench import idle
from nova_lite.bench import moves
from nova_lite.bench import report
from nova_lite.bench import scenarios
from nova_lite.cmd import actions

HELP = 'measure a running cloud'


def add_arguments(parser):
    """Add the arguments and options."""
    known = {'idle', *scenarios.SCENARIOS, *moves.SCENARIOS}
    parser.add_argument('scenario', choices=sorted(known))
    actions.add_options(parser)
    moves.add_options(parser)
    parser.add_argument(
        '--count',
        type=int,
        default=50,
        metavar='N',
        help='operations to measure (default: %(default)s)',
    )
    parser.add_argument(
        '--concurrency',
        type=int,
        default=16,
        metavar='N',
        help='operations in progress at the same time (default: %(default)s)',
    )
    parser.add_argument('--flavor', default='m1.tiny', help='flavor (default: %(default)s)')
    parser.add_argument('--image', default='cirros', help='image (default: %(default)s)')
    parser.add_argument(
        '--poll',
        type=float,
        default=0.02,
        metavar='SECONDS',
        help='interval of polling the status of a server (default: %(default)s)',
    )
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
        type=float,
        default=60,
        metavar='N',
        help='duration of the scenario `idle` (default: %(default)s)',
    )


def run(args):
    """Measure one scenario and print the figures."""
    moves.check(args)
    if args.scenario in moves.SCENARIOS:
        return moves.run(args)
    if args.scenario == 'idle':
        figures = idle.measure(args.state_dir, args.also, args.seconds)
        idle.show(figures, as_json=args.json)
        return 0
    cloud = client.Client(args.state_dir)
    measured = report.Measured(args.scenario, args.state_dir, args.also)
    scenarios.SCENARIOS[args.scenario](cloud, args, measured)
    measured.print(as_json=args.json)
    return 1 if measured.failures else 0
