"""Evacuate a host that is down: rebuild its servers on other hosts."""

import argparse

from nova_lite.lab.maintenance import client
from nova_lite.lab.maintenance import leaving
from nova_lite.lab.maintenance import plan
from nova_lite.terminal import plurals


def evacuate(args: argparse.Namespace) -> int:
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
    if not run.consent(f'{first} {plurals.of(count, "server")}?'):
        return 1
    if force:
        run.service = run.cloud.change_service(run.service, forced_down=True)
        run.report.say(f'{args.host} is forced down')
    return run.run(entries)
