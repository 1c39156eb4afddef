"""nova-lite twin: try what a cloud can take, on a copy of it.

Each command copies a running embedded cloud, such as a twin that `nova-lite import` has read, and
asks the scheduler and placement of the copy. No server of the cloud moves, and the copy is deleted
at the end. The exit code is 1 if a server has no place.

Examples: nova-lite twin survives
          nova-lite twin drain compute-17
          nova-lite twin fit m1.large --count 50
          nova-lite twin rebalance --moves 10
"""

import argparse

from nova_lite.cmd import subcommands
from nova_lite.lab.console import arguments
from nova_lite.lab.twin import command

ACTIONS = {
    'fit': subcommands.Action(
        'count the further servers of a flavor that get a host', 'm1.large --count 50'
    ),
    'survives': subcommands.Action(
        'show for which hosts or zones a loss can be evacuated',
        '--zones',
        'Without an option, each host is lost alone.',
    ),
    'drain': subcommands.Action(
        'plan the moves of all servers off a host, and predict their time', 'cell1-host1'
    ),
    'rebalance': subcommands.Action(
        'plan moves from the fullest to the emptiest hosts', '--moves 10'
    ),
}
RUN = {
    'fit': command.fit,
    'survives': command.survives,
    'drain': command.drain,
    'rebalance': command.rebalance,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the actions with their arguments and options."""
    parsers = subcommands.add(parser, ACTIONS)
    _add_wanted(parsers['fit'])
    lost = parsers['survives'].add_mutually_exclusive_group()
    lost.add_argument(
        '--host',
        action=arguments.Distinct,
        metavar='HOST',
        help='a host; may be repeated: several hosts are lost together',
    )
    lost.add_argument(
        '--zone',
        action=arguments.Distinct,
        metavar='ZONE',
        help='an availability zone; may be repeated',
    )
    lost.add_argument('--zones', action='store_true', help='each availability zone')
    parsers['drain'].add_argument('host', metavar='HOST', help='host to empty')
    parsers['rebalance'].add_argument(
        '--moves',
        type=arguments.count,
        default=20,
        metavar='N',
        help='largest number of moves (default: %(default)s)',
    )
    for name in ('drain', 'rebalance'):
        _add_rates(parsers[name])


def _add_wanted(parser: argparse.ArgumentParser) -> None:
    """Add the arguments and options of further servers."""
    parser.add_argument('flavor', metavar='FLAVOR', help='name or id of the flavor')
    parser.add_argument(
        '--count',
        type=arguments.count,
        default=1,
        metavar='N',
        help='number of servers (default: %(default)s)',
    )
    parser.add_argument(
        '--project',
        metavar='PROJECT',
        help='name or id of the project of the servers, for hosts that are for certain projects; '
        'in a twin also the id that it has in the imported cloud (default: a project without '
        'hosts of its own)',
    )
    parser.add_argument(
        '--project-domain',
        metavar='DOMAIN',
        help='name or id of the domain of the project, where several have its name',
    )
    parser.add_argument(
        '--image',
        metavar='IMAGE',
        help='name or id of the image of the servers, for hosts that its properties require '
        '(default: servers without an image)',
    )
    parser.add_argument(
        '--group',
        metavar='GROUP',
        help='name or id of the server group of the servers, whose policy holds (default: none)',
    )


def _add_rates(parser: argparse.ArgumentParser) -> None:
    """Add the options of the prediction."""
    parser.add_argument(
        '--parallel',
        type=arguments.count,
        default=4,
        metavar='N',
        help='number of moves in progress at the same time (default: %(default)s)',
    )
    parser.add_argument(
        '--bandwidth',
        type=arguments.count,
        metavar='MB',
        help='MB/s of a copy (default: that of the profile)',
    )
    parser.add_argument(
        '--dirty-rate',
        type=arguments.count,
        metavar='MB',
        help='MB/s that a guest writes to its memory (default: that of the profile)',
    )


def run(args: argparse.Namespace) -> int:
    """Run an action. Return the exit code."""
    return RUN[args.action](args)
