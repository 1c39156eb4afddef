"""nova-lite undrain: enable a host that drain-host disabled.

A compute service that was disabled for another reason stays disabled, unless --force is
given. The exit code is 0 if the host is enabled, 1 if it stays disabled, and 2 if the host
does not exist.

Example: nova-lite undrain cell1-host1
"""

from nova_lite.console import output
from nova_lite.maintenance import client
from nova_lite.maintenance import draining

HELP = 'enable a host after drain-host'


def add_arguments(parser):
    """Add the arguments and options."""
    parser.add_argument('host', metavar='HOST')
    client.add_options(parser)
    parser.add_argument(
        '--force',
        action='store_true',
        help='enable the host even if it was disabled for another reason',
    )
    parser.add_argument('--json', action='store_true', help='print JSON')


def run(args):
    """Enable the service and return the exit code."""
    service, text, enabled = draining.undrain(client.connect(args), args.host, force=args.force)
    shown = {name: service[name] for name in ('host', 'status', 'state', 'disabled_reason')}
    output.show(shown, lambda _shown: print(text), as_json=args.json)
    return 0 if enabled else 1
