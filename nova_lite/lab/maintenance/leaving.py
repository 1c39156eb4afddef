"""Common parts of drain-host and evacuate-host: the options, the consent and the run."""

import argparse
import sys

from nova_lite import exception
from nova_lite.lab.console import arguments
from nova_lite.lab.console import durations
from nova_lite.lab.maintenance import client
from nova_lite.lab.maintenance import mover
from nova_lite.lab.maintenance import mover_pool
from nova_lite.lab.maintenance import plan
from nova_lite.lab.maintenance import report


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that drain-host and evacuate-host have in common."""
    parser.add_argument('host', metavar='HOST', help='compute host to empty')
    client.add_options(parser)
    parser.add_argument(
        '--target',
        metavar='HOST',
        help='destination host, which the scheduler checks (default: any)',
    )
    parser.add_argument(
        '--max',
        type=arguments.count,
        default=4,
        metavar='N',
        help='number of moves in progress at the same time (default: %(default)s)',
    )
    parser.add_argument(
        '--timeout',
        type=durations.option,
        default=3600.0,
        metavar='S',
        help='seconds to wait for each server (default: %(default)s)',
    )
    parser.add_argument(
        '--poll',
        type=durations.option,
        default=1.0,
        metavar='S',
        help='seconds between two polls of a server (default: %(default)s)',
    )
    parser.add_argument('--plan', action='store_true', help='print the plan and exit')
    parser.add_argument('--yes', action='store_true', help='do not ask for consent')
    parser.add_argument('--json', action='store_true', help='print the result as JSON')


class Leaving:
    """One run of drain-host or evacuate-host."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args, self.host = args, args.host
        self.cloud = client.connect(args)
        self.report = report.Report(as_json=args.json)
        self.service = self.cloud.service(self.host)
        if args.target == self.host:
            raise client.WrongUse(reason='--target must differ from HOST')
        if args.target:
            self.cloud.service(args.target)

    def under_way(self, server: plan.Json) -> plan.Json | None:
        """Return the newest migration of a server if the server is leaving the host, or None."""
        if server['OS-EXT-STS:task_state'] is None:
            return None
        found = self.cloud.last_migration(server['id'])
        return found if found and plan.is_under_way(found, self.host) else None

    def only_plan(self, entries: list[plan.Entry]) -> int:
        """Print the plan as JSON if --json was given. Return the exit code of --plan."""
        self.report.document(
            {'host': self.host, 'plan': [report.planned(entry) for entry in entries]}
        )
        return 0

    def consent(self, question: str) -> bool:
        """Ask the operator for consent, unless --yes was given. Return whether it was given.

        Raise WrongUse if stdin is not a terminal.
        """
        if self.args.yes:
            return True
        if not sys.stdin.isatty():
            raise client.WrongUse(reason='stdin is not a terminal: use --yes or --plan')
        print(f'{question} [y/N] ', end='', file=sys.stderr, flush=True)
        agreed = sys.stdin.readline().strip().lower() in ('y', 'yes')
        if not agreed:
            self.report.say('Nothing was changed.')
        return agreed

    def run(self, entries: list[plan.Entry], *, confirm: bool = False) -> int:
        """Move the servers, and report the outcomes. Return the exit code."""
        options = mover.Options(
            target=self.args.target,
            confirm=confirm,
            poll_s=self.args.poll,
            timeout_s=self.args.timeout,
        )
        one = mover.Mover(self.cloud, self.host, options)
        work = [entry for entry in entries if entry.is_work]
        with self.report:
            self.report.begin(len(work))
            outcomes = mover_pool.MoverPool(one, self.args.max, self.report.heard).work(work)
        return self.report.result(self.host, [*entries, *self._newcomers(entries)], outcomes)

    def _newcomers(self, entries: list[plan.Entry]) -> list[plan.Entry]:
        """Return entries of servers that are on the host now but not in the plan."""
        known = {entry.uuid for entry in entries}
        try:
            found = self.cloud.servers_on(self.host)
        except exception.NovaLiteError as error:
            self.report.say(f'Cannot check whether the host is empty: {error}')
            return []
        return [
            plan.entry(server, plan.How.STAYS, 'arrived during the run: run the command again')
            for server in found
            if server['id'] not in known
        ]
