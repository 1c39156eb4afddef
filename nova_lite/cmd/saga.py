"""nova-lite saga: show the progress of each move, and stop moves before their steps.

A breakpoint stops the moves of a server, or of a kind, before a step is done or undone. While a
move is stopped, clients see the result of its former steps. `step`, `go` and `kill-here` continue
a stopped move. Only a cloud of `nova-lite up` without --bus has breakpoints. Breakpoints stay when
the cloud is stopped, and are part of saved states and snapshots.

The exit code of `wait` is 1 if the move is not stopped. The exit code of `step` is 1 if the step
did not end.

Examples: nova-lite saga list --active
          nova-lite saga show 5f0c7c5e-7f8e-4a55-9f0d-3b1c1f6a2d10 --html saga.html
          nova-lite saga break my-server --before claim-on-destination
          nova-lite saga break --kind live-migration --before copy
          nova-lite saga step my-server
"""

import argparse
from collections.abc import Callable
import typing

from nova_lite.cmd import subcommands
from nova_lite.lab.console import breakpoints
from nova_lite.lab.console import durations
from nova_lite.lab.launcher import sagas
from nova_lite.lab.launcher import stepping
from nova_lite.lab.timeline import listing

HELP = 'show moves and their progress, or debug them'
ACTIONS = {
    'list': 'list sagas, newest first',
    'show': 'show one saga with its events',
    'steps': 'list the steps that sagas have',
    'break': 'stop sagas before a step, or list or remove breakpoints',
    'wait': 'wait until the newest saga of a server is stopped or has ended',
    'step': 'let a stopped saga do one step, and wait until the step has ended',
    'go': 'let a stopped saga go on to the next breakpoint',
    'kill-here': 'let a super-conductor lose a stopped saga, as if it was killed',
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the actions with their arguments and options."""
    parsers = subcommands.add(parser, ACTIONS)
    parsers['list'].add_argument(
        '--active', action='store_true', help='only sagas that run, wait or clean up'
    )
    parsers['list'].add_argument('--server', metavar='UUID', help='only sagas of this server')
    parsers['show'].add_argument('uuid', help='uuid of the saga')
    parsers['show'].add_argument(
        '--html', metavar='FILE', help='write the timeline of the saga to this file instead'
    )
    parsers['steps'].add_argument('kind', nargs='?', help='kind of saga (default: all)')
    parsers['break'].add_argument('server', nargs='?', help='name or uuid (default: any)')
    parsers['break'].add_argument('--kind', help='kind of saga (default: any)')
    wanted = parsers['break'].add_mutually_exclusive_group(required=True)
    wanted.add_argument('--before', metavar='STEP', help='id of the step')
    wanted.add_argument('--list', action='store_true', help='list the breakpoints; set none')
    wanted.add_argument(
        '--remove',
        type=breakpoints.number,
        metavar='ID',
        help='remove a breakpoint; `all` removes all breakpoints',
    )
    for name in ('wait', 'step', 'go', 'kill-here'):
        parsers[name].add_argument('server', help='name or uuid')
    for name in ('wait', 'step'):
        parsers[name].add_argument(
            '--timeout',
            type=durations.option,
            default=60,
            metavar='S',
            help='seconds to wait (default: %(default)s)',
        )


def run(args: argparse.Namespace) -> int:
    """Print sagas, one saga or steps, or change where sagas stop. Return the exit code."""
    if args.action == 'steps':
        listing.show_steps(args.kind, as_json=args.json)
        return 0
    if args.action == 'list':
        return sagas.show(args.state_dir, active=args.active, server=args.server, as_json=args.json)
    if args.action == 'show':
        return sagas.show_one(args.state_dir, args.uuid, html=args.html, as_json=args.json)
    asked: dict[str, typing.Any] = {'as_json': args.json}
    if args.action == 'break':
        point = {'server': args.server, 'kind': args.kind, 'step': args.before}
        return stepping.change(args.state_dir, remove=args.remove, **point, **asked)
    if args.action in ('wait', 'step'):
        asked['timeout_s'] = args.timeout
    ask: dict[str, Callable[..., int]] = {
        'wait': stepping.wait,
        'step': stepping.step,
        'go': stepping.go,
    }
    return ask.get(args.action, stepping.kill_here)(args.state_dir, args.server, **asked)
