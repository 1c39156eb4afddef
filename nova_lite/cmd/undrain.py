"""nova-lite undrain: enable a host that drain-host disabled.

A compute service that was disabled for another reason stays disabled, unless --force is
given. The exit code is 0 if the host is enabled, 1 if it stays disabled, and 2 if the host
does not exist.
"""

import json

from nova_lite.cmd import drain_host
from nova_lite.maintenance import client


def add_parser(commands):
    """Add the subcommand."""
    parser = commands.add_parser(
        'undrain', help='enable a host after drain-host', description=__doc__
    )
    parser.add_argument('host', metavar='HOST')
    client.add_options(parser)
    parser.add_argument(
        '--force',
        action='store_true',
        help='enable the host even if it was disabled for another reason',
    )
    parser.add_argument('--json', action='store_true', help='print JSON')
    parser.set_defaults(run=run)


def run(args):
    """Enable the service and return the exit code."""
    cloud = client.connect(args)
    service = cloud.service(args.host)
    reason = service['disabled_reason'] or ''
    text, code = f'{args.host} is already enabled', 0
    if service['status'] == 'disabled':
        if args.force or reason.startswith(drain_host.MARK):
            service = cloud.change_service(service, status='enabled')
            text = f'{args.host} is enabled'
        else:
            text = (
                f'{args.host} stays disabled, because drain-host did not disable it '
                f'({reason or "no reason given"}). Use --force to enable it.'
            )
            code = 1
    if args.json:
        shown = {name: service[name] for name in ('host', 'status', 'state', 'disabled_reason')}
        print(json.dumps(shown, indent=2))
    else:
        print(text)
    return code
