"""nova-lite undrain: enable a host that drain-host disabled or evacuate-host forced down.

A compute service that was disabled for another reason stays as it is, unless --force is
given. A service that was forced down stays forced down until it has removed the servers that were
evacuated from its host. The exit code is 0 if the host is enabled and not forced down, 1 if
it stays disabled or forced down, and 2 if it does not exist.

Example: nova-lite undrain cell1-host1
"""

import argparse

from nova_lite.lab.console import output
from nova_lite.lab.maintenance import client
from nova_lite.lab.maintenance import draining

SHOWN = ('host', 'status', 'state', 'disabled_reason', 'forced_down')


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments and options."""
    parser.add_argument('host', metavar='HOST')
    client.add_options(parser)
    parser.add_argument(
        '--force',
        action='store_true',
        help='enable the host even if it was disabled for another reason',
    )
    parser.add_argument('--json', action='store_true', help='print JSON')


def run(args: argparse.Namespace) -> int:
    """Put the service into use and return the exit code."""
    service, text, is_usable = draining.undrain(client.connect(args), args.host, force=args.force)
    shown = {name: service[name] for name in SHOWN}
    output.show(shown, lambda _shown: print(text), as_json=args.json)
    return 0 if is_usable else 1
