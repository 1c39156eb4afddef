"""nova-lite evacuate-host: rebuild the servers of a failed host on other hosts.

It refuses a host that is up, unless --force-down is given. Before you use --force-down,
make sure that the host is off: otherwise its guests run twice. Run the command again to
continue after an interruption. The exit code is 0 if no server is left on the host, 1 if
some are left, and 2 if the arguments are wrong or the API does not answer.
"""

from nova_lite.maintenance import client
from nova_lite.maintenance import leaving
from nova_lite.maintenance import plan


def add_parser(commands):
    """Add the subcommand."""
    parser = commands.add_parser(
        'evacuate-host', help='rebuild the servers of a failed host', description=__doc__
    )
    leaving.add_options(parser)
    parser.add_argument(
        '--force-down',
        action='store_true',
        help='set forced_down first; the host must already be off',
    )
    parser.set_defaults(run=run)


def run(args):
    """Plan, ask for consent, force the host down, evacuate. Return the exit code."""
    run = leaving.Leaving(args)
    is_up = run.service['state'] == 'up'
    if is_up and not args.force_down:
        raise client.WrongUse(
            reason=f'host {args.host} is up. Use `nova-lite drain-host` to move its servers '
            'while they run. If the host has failed, make sure that it is off and add --force-down'
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
