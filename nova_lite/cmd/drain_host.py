"""nova-lite drain-host: move all servers off a host that is up, for maintenance.

It disables the compute service of the host, live migrates running servers, cold migrates
the others, and reports which servers stay and why. Run the command again to continue after
an interruption. The exit code is 0 if no server is left on the host, 1 if some are left,
and 2 if the arguments are wrong or the API does not answer.
"""

from nova_lite import runtime
from nova_lite.maintenance import client
from nova_lite.maintenance import leaving
from nova_lite.maintenance import plan

MARK = 'drain'


def add_parser(commands):
    """Add the subcommand."""
    parser = commands.add_parser(
        'drain-host', help='move all servers off a host', description=__doc__
    )
    leaving.add_options(parser)
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument('--cold-only', action='store_true', help='do not live migrate')
    kinds.add_argument('--live-only', action='store_true', help='do not cold migrate')
    parser.add_argument(
        '--confirm',
        action='store_true',
        help='confirm cold migrations, which removes the old guests from the host',
    )
    parser.set_defaults(run=run)


def run(args):
    """Plan, ask for consent, disable the service, move the servers. Return the exit code."""
    run = leaving.Leaving(args)
    if run.service['state'] != 'up':
        raise client.WrongUse(
            reason=f'host {args.host} is down, so no server can be migrated from it. '
            'Use `nova-lite evacuate-host` instead'
        )
    entries = _plan(run)
    run.report.plan(f'Plan for {args.host}', entries)
    if args.plan:
        return run.only_plan(entries)
    count = sum(entry.is_work for entry in entries)
    if not run.consent(f'Disable {args.host} and move {count} servers?'):
        return 1
    _disable(run)
    # Servers whose build was in progress when the service was disabled may be there now.
    known = {entry.uuid for entry in entries}
    entries = _plan(run)
    late = [entry for entry in entries if entry.uuid not in known]
    if late:
        run.report.plan('Arrived since', late)
    return run.run(entries, confirm=args.confirm)


def _plan(run):
    args = run.args
    entries = [
        plan.drain(server, run.under_way(server), cold=not args.live_only, live=not args.cold_only)
        for server in run.cloud.servers_on(args.host)
    ]
    return entries + _kept(run, {entry.uuid for entry in entries})


def _kept(run, there):
    """Return entries of servers that left and whose old guest is kept on the host."""
    found = {}
    for migration in run.cloud.migrations(source_compute=run.host, status='finished'):
        found.setdefault(migration['instance_uuid'], migration)
    entries = []
    for uuid in found.keys() - there:
        server = run.cloud.server(uuid)
        if server is not None and server['status'] == 'VERIFY_RESIZE':
            entries.append(plan.kept(server, found[uuid], confirm=run.args.confirm))
    return sorted(entries, key=lambda entry: entry.name)


def _disable(run):
    if run.service['status'] == 'disabled':
        reason = run.service['disabled_reason'] or 'no reason given'
        run.report.say(f'{run.host} is already disabled: {reason}')
        return
    at = runtime.now().strftime('%Y-%m-%dT%H:%M:%SZ')
    reason = f'{MARK}: nova-lite drain-host, {at}'
    run.service = run.cloud.change_service(run.service, status='disabled', disabled_reason=reason)
    run.report.say(f'{run.host} is disabled: {reason}')
