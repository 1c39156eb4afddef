"""nova-lite saga: show the progress of each move, and stop moves before their steps.

A breakpoint stops the moves of a server, or of a kind, before a step is done or undone. While a
move is stopped, clients see the result of its former steps. `step`, `go` and `kill-here` continue
a stopped move. A cloud with --bus has breakpoints if it was started with --drills. Breakpoints stay
when the cloud is stopped, and are part of saved states and snapshots.

The exit code of `wait` is 1 if the move is not stopped. The exit code of `step` is 1 if the step
did not end.

Examples: nova-lite saga list --active
          nova-lite saga show 5f0c7c5e-7f8e-4a55-9f0d-3b1c1f6a2d10 --html saga.html
          nova-lite saga break my-server --before claim-on-destination
          nova-lite saga break --kind live-migration --before copy
          nova-lite saga step my-server
"""

import argparse
import typing

from nova_lite.cmd import subcommands
from nova_lite.lab.console import breakpoints
from nova_lite.lab.console import durations
from nova_lite.lab.launcher import sagas
from nova_lite.lab.launcher import stepping
from nova_lite.lab.launcher import which_cloud
from nova_lite.lab.timeline import listing
from nova_lite.moves import kinds

UUID = '5f0c7c5e-7f8e-4a55-9f0d-3b1c1f6a2d10'
WAITING = 'The exit code is 1 if the saga is not stopped.'
ACTIONS = {
    'list': subcommands.Action('list sagas, newest first', '--active'),
    'show': subcommands.Action('show one saga with its events', f'{UUID} --html saga.html'),
    'steps': subcommands.Action('list the steps that sagas have', 'live-migration'),
    'break': subcommands.Action(
        'stop sagas before a step, or list or remove breakpoints',
        'my-server --before claim-on-destination',
        '--kind stops sagas of any server.',
    ),
    'wait': subcommands.Action(
        'wait until the newest saga of a server is stopped or has ended', 'my-server', WAITING
    ),
    'step': subcommands.Action(
        'let a stopped saga do one step, and wait for its end',
        'my-server --timeout 120',
        'The exit code is 1 if the step did not end.',
    ),
    'go': subcommands.Action('let a stopped saga go on to the next breakpoint', 'my-server'),
    'kill-here': subcommands.Action(
        'let a super-conductor lose a stopped saga, as if it was killed', 'my-server'
    ),
}
SERVER = 'name or uuid of the server'
KINDS = f'kind of saga: {", ".join(sorted(kinds.KINDS))}'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the actions with their arguments and options."""
    parsers = subcommands.add(parser, ACTIONS)
    parsers['list'].add_argument(
        '--active', action='store_true', help='only sagas that run, wait or clean up'
    )
    parsers['list'].add_argument('--server', metavar='SERVER', help='only sagas of this server')
    parsers['show'].add_argument(
        'uuid', metavar='UUID', help='uuid, or its beginning as `saga list` shows it'
    )
    parsers['show'].add_argument(
        '--html', metavar='FILE', help='write the timeline of the saga to this file instead'
    )
    parsers['steps'].add_argument('kind', nargs='?', metavar='KIND', help=f'{KINDS} (default: all)')
    parsers['steps'].set_defaults(**which_cloud.UNUSED)
    _add_breakpoints(parsers['break'])
    for name in ('wait', 'step', 'go', 'kill-here'):
        parsers[name].add_argument('server', metavar='SERVER', help=SERVER)
    for name in ('wait', 'step'):
        parsers[name].add_argument(
            '--timeout',
            type=durations.option,
            default=60,
            metavar='S',
            help='longest time to wait in seconds (default: %(default)s)',
        )


def _add_breakpoints(action: argparse.ArgumentParser) -> None:
    action.add_argument('server', nargs='?', metavar='SERVER', help=f'{SERVER} (default: any)')
    action.add_argument('--kind', metavar='KIND', help=f'{KINDS} (default: any)')
    wanted = action.add_mutually_exclusive_group(required=True)
    wanted.add_argument(
        '--before', metavar='STEP', help='id of the step, as `nova-lite saga steps` shows it'
    )
    wanted.add_argument('--list', action='store_true', help='list the breakpoints; set none')
    wanted.add_argument(
        '--remove',
        type=breakpoints.number,
        metavar='ID',
        help='remove a breakpoint; `all` removes all breakpoints',
    )


def run(args: argparse.Namespace) -> int:
    """Print sagas, one saga or steps, or change where sagas stop. Return the exit code."""
    if args.action == 'steps':
        listing.show_steps(args.kind, as_json=args.json)
        return 0
    if args.action == 'list':
        sagas.show(args.which.conf(), active=args.active, server=args.server, as_json=args.json)
        return 0
    if args.action == 'show':
        sagas.show_one(args.which.conf(), args.uuid, html=args.html, as_json=args.json)
        return 0
    asked: dict[str, typing.Any] = {'as_json': args.json}
    if args.action == 'break':
        point = {'server': args.server, 'kind': args.kind, 'step': args.before}
        stepping.change(args.state_dir, remove=args.remove, **point, **asked)
        return 0
    if args.action in ('wait', 'step'):
        wait = stepping.wait if args.action == 'wait' else stepping.step
        return wait(args.state_dir, args.server, timeout_s=args.timeout, **asked)
    change = stepping.go if args.action == 'go' else stepping.kill_here
    change(args.state_dir, args.server, **asked)
    return 0
