"""Drain a host, and undo that: disable its compute service and migrate its servers."""

import argparse
import http

from nova_lite import runtime
from nova_lite.lab.maintenance import client
from nova_lite.lab.maintenance import leaving
from nova_lite.lab.maintenance import plan
from nova_lite.terminal import plurals

# Prefix of the disabled reason of a drained host.
MARK = 'drain'


def drain(args: argparse.Namespace) -> int:
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
    if not run.consent(f'Disable {args.host} and move {plurals.of(count, "server")}?'):
        return 1
    _disable(run)
    # Servers that were being built when the service was disabled may be on the host now.
    known = {entry.uuid for entry in entries}
    entries = _plan(run)
    late = [entry for entry in entries if entry.uuid not in known]
    if late:
        run.report.plan('Arrived since', late)
    return run.run(entries, confirm=args.confirm)


def undrain(cloud: client.Cloud, host: str, *, force: bool) -> tuple[plan.Json, str, bool]:
    """Enable the service of a host that `drain` has disabled, and end forced_down.

    force: enable the service even if `drain` has not disabled it
    Return (record of the service, text about the change, whether the host is in use again).
    """
    service = cloud.service(host)
    reason = service['disabled_reason'] or ''
    is_disabled, is_forced = service['status'] == 'disabled', service['forced_down']
    if is_disabled and not force and not reason.startswith(MARK):
        text = (
            f'{host} stays disabled, because drain-host did not disable it '
            f'({reason or "no reason given"}). Use --force to enable it.'
        )
        return service, text, False
    if is_forced:
        try:
            service = cloud.change_service(service, forced_down=False)
        except client.Refused as error:
            if error.status != http.HTTPStatus.BAD_REQUEST:
                raise
            return service, f'{host} stays forced down: {error}', False
    if is_disabled:
        service = cloud.change_service(service, status='enabled')
    text = 'enabled' if is_disabled or is_forced else 'already enabled'
    forced = ' and no longer forced down' if is_forced else ''
    return service, f'{host} is {text}{forced}', True


def _plan(run: leaving.Leaving) -> list[plan.Entry]:
    args = run.args
    entries = [
        plan.drain(server, run.under_way(server), cold=not args.live_only, live=not args.cold_only)
        for server in run.cloud.servers_on(args.host)
    ]
    return entries + _kept(run, {entry.uuid for entry in entries})


def _kept(run: leaving.Leaving, there: set[str]) -> list[plan.Entry]:
    """Return entries of servers that have left the host and whose old guest is still there."""
    found: dict[str, plan.Json] = {}
    for migration in run.cloud.migrations(source_compute=run.host, status='finished'):
        found.setdefault(migration['instance_uuid'], migration)
    entries = []
    for uuid in found.keys() - there:
        server = run.cloud.server(uuid)
        if server is not None and server['status'] == 'VERIFY_RESIZE':
            entries.append(plan.kept(server, found[uuid], confirm=run.args.confirm))
    return sorted(entries, key=lambda entry: entry.name)


def _disable(run: leaving.Leaving) -> None:
    if run.service['status'] == 'disabled':
        reason = run.service['disabled_reason'] or 'no reason given'
        run.report.say(f'{run.host} is already disabled: {reason}')
        return
    at = runtime.now().strftime('%Y-%m-%dT%H:%M:%SZ')
    reason = f'{MARK}: nova-lite drain-host, {at}'
    run.service = run.cloud.change_service(run.service, status='disabled', disabled_reason=reason)
    run.report.say(f'{run.host} is disabled: {reason}')
