"""nova-lite fault: let operations of hosts or requests to services fail while a cloud runs.

With --verb, the options are those of a failure in a profile of simulated hosts. With --service,
requests to placement or to a simulated service are refused (--status), delayed (--delay), or lost:
with --lost the service does the work and the client gets no answer.

Examples: nova-lite fault add --verb spawn --host 'cell1-*' --first 2
          nova-lite fault add --service placement --status 503 --first 2
          nova-lite fault add --service placement --request 'PUT /allocations*' --lost --first 1
          nova-lite fault list
          nova-lite fault clear
"""

import argparse

from nova_lite.cmd import subcommands
from nova_lite.lab.console import durations
from nova_lite.lab.console import injected_faults
from nova_lite.lab.launcher import control_request
from nova_lite.virt import model
from nova_lite.virt.sim import rules

ACTIONS = {
    'add': subcommands.Action(
        'add a failure of operations of hosts, or of requests to a service',
        "--verb spawn --host 'cell1-*' --first 2 --message 'no space left'",
        'It is removed by `fault clear`, by a reset, and when the cloud stops.',
    ),
    'list': subcommands.Action('list all injected faults'),
    'clear': subcommands.Action('remove a failure, or all', '1'),
}
OF_HOSTS = (
    ('host', 'PATTERN', 'hosts (default: all)'),
    ('flavor', 'PATTERN', 'flavors (default: all)'),
    ('server', 'PATTERN', 'names of servers (default: all)'),
    ('error', 'CLASS', f'error, one of {", ".join(model.ERRORS)} (default: DriverError)'),
    ('message', 'TEXT', 'text of the error'),
)


VERBS_HELP = f"operation of a host, or a pattern such as 'live_*': {', '.join(rules.VERBS)}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the actions with their arguments and options."""
    parsers = subcommands.add(parser, ACTIONS)
    _add_options(parsers['add'])
    parsers['clear'].add_argument(
        'id',
        nargs='?',
        type=int,
        metavar='ID',
        help='number, as `fault list` shows it (default: all)',
    )


def _add_options(action: argparse.ArgumentParser) -> None:
    """Add the options that say what fails, and how it fails."""
    about = action.add_mutually_exclusive_group(required=True)
    about.add_argument('--verb', metavar='PATTERN', help=VERBS_HELP)
    about.add_argument(
        '--service',
        choices=('placement', 'network', 'volume', 'image', 'identity', 'share'),
        help='service whose requests fail',
    )
    _add_requests(action)
    for name, metavar, text in OF_HOSTS:
        action.add_argument(f'--{name}', metavar=metavar, help=text)
    action.add_argument(
        '--when',
        choices=('before', 'during', 'after'),
        help='moment of the failure: before, during or after the operation (default: before)',
    )
    action.add_argument(
        '--metadata',
        action='append',
        default=[],
        metavar='KEY=PATTERN',
        help='servers with this metadata; may be repeated',
    )
    action.add_argument('--first', type=int, metavar='N', help='fail only the first N times')
    action.add_argument('--nth', type=int, metavar='N', help='fail only the N-th time')
    action.add_argument(
        '--probability', type=float, metavar='P', help='probability of each failure, 0 to 1'
    )
    action.add_argument('--reschedule', action='store_true', help='try the build on another host')


def _add_requests(action: argparse.ArgumentParser) -> None:
    """Add the options that say which requests to a service fail, and how."""
    action.add_argument(
        '--request',
        metavar='PATTERN',
        help="method and path below the URL of the service, such as 'PUT /allocations*' (default: all)",
    )
    action.add_argument('--status', type=int, metavar='CODE', help='status of the answer, from 400')
    seconds = 'seconds until the service gets the request'
    action.add_argument('--delay', type=durations.option, metavar='S', help=seconds)
    action.add_argument(
        '--lost', action='store_true', help='execute the request and lose the answer'
    )


def run(args: argparse.Namespace) -> None:
    """Change the failures, and print all faults."""
    control_request.run(args, _request(args))


def _request(args: argparse.Namespace) -> control_request.Request:
    if args.action == 'list':
        return control_request.Request('faults', injected_faults.show)
    arguments = injected_faults.entry(vars(args)) if args.action == 'add' else {'id': args.id}
    return control_request.Request(f'faults/{args.action}', injected_faults.show, arguments)
