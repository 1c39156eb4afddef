"""nova-lite scenario: run drills by name in a running embedded cloud.

A drill boots servers, injects faults, waits for the signals that an operator would see, and ends
with `verify`. It then removes its faults and servers. It needs hosts without servers, and a cloud
without injected faults. A cloud with --bus needs --drills for most drills. `undo` restores the
cloud if the process of a drill was killed. The exit code of `run` is 0 if all was as the drill
expects, and 1 if not.

Examples: nova-lite scenario list
          nova-lite scenario show host-dies-in-a-drain
          nova-lite scenario run host-dies-in-a-drain
"""

import argparse

from nova_lite.cmd import subcommands
from nova_lite.lab.launcher import which_cloud
from nova_lite.lab.scenarios import command
from nova_lite.lab.scenarios import exams

EXAMPLE = 'host-dies-in-a-drain'
ACTIONS = {
    'list': subcommands.Action('list all drills'),
    'show': subcommands.Action('print the purpose, the cluster and the steps of a drill', EXAMPLE),
    'run': subcommands.Action(
        'run a drill, and print its timeline and its verdict',
        EXAMPLE,
        'The exit code is 1 if the cloud did not behave as the drill expects.',
    ),
    'undo': subcommands.Action(
        'undo what a drill left whose process was killed', text='The next drill does so as well.'
    ),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the actions with their arguments and options."""
    parsers = subcommands.add(parser, ACTIONS)
    for name in ('show', 'run'):
        parsers[name].add_argument(
            'scenario', metavar='SCENARIO', help='name of the drill, as `scenario list` shows it'
        )
    parsers['run'].add_argument(
        '--exam',
        action='store_true',
        help='hide the cause, print the symptom, and judge what you did: a JSON document in each line',
    )
    for name in ('list', 'show'):
        parsers[name].set_defaults(**which_cloud.UNUSED)


def run(args: argparse.Namespace) -> int:
    """List, show, run or undo drills. Return the exit code."""
    if args.action == 'list':
        command.list_all(as_json=args.json)
        return 0
    if args.action == 'show':
        command.show(args.scenario, as_json=args.json)
        return 0
    if args.action == 'undo':
        command.undo(args.state_dir, as_json=args.json)
        return 0
    if args.exam:
        return exams.examine(args.scenario, args.state_dir)
    return command.run(args.scenario, args.state_dir, as_json=args.json)
