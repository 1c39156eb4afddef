"""nova-lite evacuate-host: rebuild the servers of a host that failed on others.

Refuses a host that is up. --force-down has the cloud take it for down: the guests must
be off then, or they run twice. Run again it goes on where it stopped. Exits with 0
when nothing is left, 1 when something is, 2 for wrong use and without the API.
"""

from nova_lite.maintenance import client
from nova_lite.maintenance import leaving
from nova_lite.maintenance import plan


def add_parser(commands):
    """Add the subcommand."""
    parser = commands.add_parser(
        'evacuate-host', help='rebuild the servers of a failed host elsewhere', description=__doc__
    )
    leaving.add_options(parser)
    parser.add_argument(
        '--force-down',
        action='store_true',
        help='set forced_down first; make sure that the host is off',
    )
    parser.set_defaults(run=run)


def run(args):
    """Plan, ask, force down, evacuate; the exit code."""
    run = leaving.Leaving(args)
    is_up = run.service['state'] == 'up'
    if is_up and not args.force_down:
        raise client.WrongUse(
            reason=f'host {args.host} is up: `nova-lite drain-host` moves its servers while '
            'they run. If it has failed, make sure that it is off, then say --force-down'
        )
    entries = [
        plan.evacuation(server, run.under_way(server)) for server in run.cloud.servers_on(args.host)
    ]
    run.report.plan(f'Plan for {args.host}', entries)
    if args.plan:
        return run.only_plan(entries)
    count = sum(entry.is_work for entry in entries)
    force = args.force_down and not run.service['forced_down']
    first = f'Force {args.host} down and evacuate' if force else 'Evacuate'
    if not run.consent(f'{first} {count} servers?'):
        return 1
    if force:
        run.service = run.cloud.change_service(run.service, forced_down=True)
        run.report.say(f'{args.host} is forced down')
    return run.run(entries)
