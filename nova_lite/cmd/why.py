"""nova-lite why: explain the last scheduling decision about a server, host by host.

The command asks all schedulers over RPC. A scheduler keeps its latest decisions in memory.
An embedded cloud is asked over a local HTTP connection, since its buses are private.

Example: nova-lite why my-server cell2-host1
"""

import argparse

from nova_lite.cmd import subcommands
from nova_lite.lab.console import explanation
from nova_lite.lab.console import output
from nova_lite.lab.launcher import decisions


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments and options."""
    subcommands.add_options(parser)
    parser.add_argument('server', metavar='SERVER', help='uuid or name of the server')
    parser.add_argument('host', metavar='HOST', nargs='?', help='explain only this host')


def run(args: argparse.Namespace) -> None:
    """Print the answer."""
    found = decisions.find(args.which.conf(), args.server, args.host)
    output.show(found, explanation.show, as_json=args.json)
