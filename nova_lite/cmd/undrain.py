"""nova-lite undrain: let a host that drain-host emptied take servers again.

A service that something else disabled stays so, unless --force is given. Exits with 0
when the host is enabled, 1 when it stays disabled, 2 for a host that is not known.
"""

import json

from nova_lite.cmd import drain_host
from nova_lite.maintenance import client


def add_parser(commands):
    """Add the subcommand."""
    parser = commands.add_parser(
        'undrain', help='let a drained host take servers again', description=__doc__
    )
    parser.add_argument('host', metavar='HOST')
    client.add_options(parser)
    parser.add_argument(
        '--force', action='store_true', help='whatever the reason it is disabled for'
    )
    parser.add_argument('--json', action='store_true', help='print JSON')
    parser.set_defaults(run=run)


def run(args):
    """Enable the service; the exit code."""
    cloud = client.connect(args)
    service = cloud.service(args.host)
    reason = service['disabled_reason'] or ''
    text, code = f'{args.host} is enabled already', 0
    if service['status'] == 'disabled':
        if args.force or reason.startswith(drain_host.MARK):
            service = cloud.change_service(service, status='enabled')
            text = f'{args.host} is enabled'
        else:
            told = reason or 'no reason is noted'
            text = (
                f'{args.host} stays disabled, not by drain-host: {told}. Say --force to enable it.'
            )
            code = 1
    if args.json:
        shown = {name: service[name] for name in ('host', 'status', 'state', 'disabled_reason')}
        print(json.dumps(shown, indent=2))
    else:
        print(text)
    return code
