"""nova-lite drain-host: empty a host that is up, for maintenance.

Disables its compute service, moves its servers live where they run and cold where they
do not, and says what stays and why. Run again it goes on where it stopped. Exits with
0 when nothing is left, 1 when something is, 2 for wrong use and without the API.
"""

from nova_lite import runtime
from nova_lite.maintenance import client
from nova_lite.maintenance import leaving
from nova_lite.maintenance import plan

MARK = 'drain'


def add_parser(commands):
    """Add the subcommand."""
    parser = commands.add_parser('drain-host', help='empty a host that is up', description=__doc__)
    leaving.add_options(parser)
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument('--cold-only', action='store_true', help='nothing is migrated live')
    kinds.add_argument('--live-only', action='store_true', help='nothing is migrated cold')
    parser.add_argument(
        '--confirm',
        action='store_true',
        help='confirm the cold migrations, so that nothing is kept on the host',
    )
    parser.set_defaults(run=run)


def run(args):
    """Plan, ask, disable, move; the exit code."""
    run = leaving.Leaving(args)
    if run.service['state'] != 'up':
        raise client.WrongUse(
            reason=f'host {args.host} is down: nothing can be migrated from it; see '
            '`nova-lite evacuate-host`'
        )
    entries = _plan(run)
    run.report.plan(f'Plan for {args.host}', entries)
    if args.plan:
        return run.only_plan(entries)
    count = sum(entry.is_work for entry in entries)
    if not run.consent(f'Disable {args.host} and move {count} servers?'):
        return 1
    _disable(run)
    # What was being built there when the service was disabled is there by now, or not.
    known = {entry.uuid for entry in entries}
    entries = _plan(run)
    late = [entry for entry in entries if entry.uuid not in known]
    if late:
        run.report.plan('Came since', late)
    return run.run(entries, confirm=args.confirm)


def _plan(run):
    args = run.args
    entries = [
        plan.drain(server, run.under_way(server), cold=not args.live_only, live=not args.cold_only)
        for server in run.cloud.servers_on(args.host)
    ]
    return entries + _kept(run, {entry.uuid for entry in entries})


def _kept(run, there):
    """Entries of servers that left, whose old copy is kept on the host."""
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
        reason = run.service['disabled_reason'] or 'no reason is noted'
        run.report.say(f'{run.host} is disabled already: {reason}')
        return
    at = runtime.now().strftime('%Y-%m-%dT%H:%M:%SZ')
    reason = f'{MARK}: nova-lite drain-host, {at}'
    run.service = run.cloud.change_service(run.service, status='disabled', disabled_reason=reason)
    run.report.say(f'{run.host} is disabled: {reason}')
