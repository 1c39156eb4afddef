"""nova-lite daemon: kill, stop or start a daemon of a running cloud that was started with --bus.

Each daemon is a process, and is called KIND.PLACE, such as scheduler.top or compute.cell1.

Examples: nova-lite daemon list
          nova-lite daemon kill super-conductor.top
"""

import argparse

from nova_lite.cmd import subcommands
from nova_lite.lab.control import endpoint
from nova_lite.lab.launcher import control_request
from nova_lite.terminal import text_tables

ACTIONS = {
    'list': subcommands.Action('list the daemons'),
    'kill': subcommands.Action(
        'kill a daemon', 'super-conductor.top', 'The cloud starts it again, as its unit would.'
    ),
    'stop': subcommands.Action(
        'stop a daemon', 'compute.cell1', 'It stays stopped until `daemon start`.'
    ),
    'start': subcommands.Action('start a daemon that was stopped', 'compute.cell1'),
}
COLUMNS = ('Name', 'State', 'Pid', 'Starts')


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the actions with their arguments and options."""
    for name, action in subcommands.add(parser, ACTIONS).items():
        if name != 'list':
            action.add_argument('name', metavar='NAME', help='name, as `daemon list` shows it')


def run(args: argparse.Namespace) -> None:
    """Change a daemon, and print all."""
    if args.action == 'list':
        request = control_request.Request('daemons', _show)
    else:
        request = control_request.Request(f'daemons/{args.action}', _show, {'name': args.name})
    control_request.run(args, request)


def _show(found: endpoint.Json) -> None:
    lines = [
        ['' if each is None else each for each in daemon.values()] for daemon in found['daemons']
    ]
    text_tables.show(COLUMNS, lines)
