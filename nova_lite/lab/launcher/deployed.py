"""The commands that cannot be used with a deployment, and the reasons."""

import argparse
import typing

from nova_lite import exception

START = 'its service manager starts it. Use `systemctl start nova-lite.target`, or --state-dir or --name'
STATES = (
    'its databases are on servers, and its daemons have no common point of rest. Copy the databases '
    'with the tools of the servers'
)
DEBUGGER = (
    'its super-conductors are processes without a debugger. `nova-lite saga list` and `nova-lite saga '
    'show` work'
)
# {command, or command and action: reason, which says what to do instead}
REASONS = {
    'up': START,
    'stop': 'its service manager stops it. Use `systemctl stop nova-lite.target`',
    'reset': STATES,
    'snapshot': STATES,
    'fork': STATES,
    'clock': 'its daemons read the clocks of their machines. Use a cloud of `nova-lite up`',
    'fault': (
        'its daemons accept no faults from commands. Add failures to the file of [compute]profile, '
        'and read it with `systemctl reload nova-lite-compute@CELL`'
    ),
    'host': (
        'its hosts share compute processes. `systemctl stop nova-lite-compute@CELL` stops all hosts '
        'of such a process, and their guests stay'
    ),
    'cell': (
        'its cells have servers of their own. Stop the database or the broker of the cell, or '
        '`systemctl stop nova-lite-conductor@CELL`'
    ),
    'bus': (
        'its buses are virtual hosts of RabbitMQ. Cut them there, for example with `rabbitmqctl '
        'close_all_connections --vhost CELL drill`'
    ),
    'saga break': DEBUGGER,
    'saga wait': DEBUGGER,
    'saga step': DEBUGGER,
    'saga go': DEBUGGER,
    'saga kill-here': DEBUGGER,
    'daemon': (
        'its service manager starts and stops its daemons. Use `systemctl kill --signal=SIGKILL '
        'nova-lite-conductor@CELL`, for example'
    ),
    'scenario run': (
        'its daemons accept no faults from commands. Use a cloud of `nova-lite up --bus BUS --db '
        'DATABASE --drills`, whose daemons are processes as well'
    ),
    'scenario undo': 'no drill runs in it, so none has left changes',
    'twin': (
        'it has no files of a cloud of `nova-lite up`. Copy it with `nova-lite import`, start the copy '
        'with `nova-lite up -f`, and use the command with the copy'
    ),
    'bench': (
        'it has no files with the processes whose CPU time is summed. Use a cloud of `nova-lite up`, '
        'also with --bus and --db'
    ),
}


class NotInDeployment(exception.Invalid):
    msg = '`nova-lite %(command)s` does not work in the deployment of %(directory)s: %(reason)s.'


def require(args: argparse.Namespace) -> None:
    """Raise NotInDeployment for a command that cannot be used with a deployment."""
    words: list[typing.Any] = [args.command, getattr(args, 'action', None)]
    for command in (args.command, f'{words[0]} {words[1]}'):
        if command in REASONS:
            raise NotInDeployment(
                command=command, directory=args.which.directory, reason=REASONS[command]
            )
