"""nova-lite why: explain the last scheduling decision about a server, host by host.

The command asks all schedulers over RPC. A scheduler keeps its latest decisions in memory.
An embedded cloud is asked over a local HTTP connection, since its buses are private.

With --diff, the command prints what differs between two decisions: the chosen host, the request
filters, the queries to placement, and the stage and the weights of each host. The exit code is 1 if
they differ.

Examples: nova-lite why my-server cell2-host1
          nova-lite why --diff web-1 web-2
          nova-lite why web-1 --json > before.json
          nova-lite why --diff before.json web-1
"""

import argparse

from nova_lite import exception
from nova_lite.cmd import subcommands
from nova_lite.lab.console import decision_differences
from nova_lite.lab.console import explanation
from nova_lite.lab.console import output
from nova_lite.lab.launcher import decisions

SAME, DIFFERENT = 0, 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments and options."""
    subcommands.add_options(parser)
    parser.add_argument(
        'server', metavar='SERVER', nargs='?', help='uuid or name of the server, unless with --diff'
    )
    parser.add_argument('host', metavar='HOST', nargs='?', help='explain only this host')
    parser.add_argument(
        '--diff',
        nargs=2,
        metavar=('A', 'B'),
        help='compare two decisions. A, B: uuid or name of a server, or a file NAME.json that '
        '`nova-lite why SERVER --json` has written, in this cloud or in another one',
    )


def run(args: argparse.Namespace) -> int:
    """Print the answer. Return the exit code."""
    if (args.server is None) == (args.diff is None):
        reason = 'give either a SERVER or --diff A B, to compare two decisions'
        raise exception.Invalid(reason=reason)
    if args.diff is None:
        found = decisions.find(args.which.conf(), args.server, args.host)
        output.show(found, explanation.show, as_json=args.json)
        return SAME
    differences = decision_differences.find(*(decisions.of(args.which, each) for each in args.diff))
    output.show(differences, decision_differences.show, as_json=args.json)
    return SAME if differences['same'] else DIFFERENT
