"""nova-lite verify: read all records of a cloud and report violations of its invariants.

In a running cloud a violation is a finding if it persists for --settle seconds. A stopped
cloud is read once. The exit code is 0 if the cloud is consistent, 1 if it breaks an
invariant, and 2 if the cloud changed so much between two readings that neither result is certain.

Example: nova-lite verify --settle 30 --json
"""

import argparse
import sys

from nova_lite.cmd import subcommands
from nova_lite.lab.console import durations
from nova_lite.lab.console import verdicts
from nova_lite.lab.launcher import verification
from nova_lite.terminal import progress_display
from nova_lite.verify import age_limits
from nova_lite.verify import settling

EXIT_CODES = {
    settling.Result.CONSISTENT: 0,
    settling.Result.INCONSISTENT: 1,
    settling.Result.UNSETTLED: 2,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments and options."""
    defaults = age_limits.AgeLimits()
    subcommands.add_options(parser)
    for option, default, text in (
        ('--settle', 10.0, 'time for which a finding must persist; 0 reads the cloud once'),
        (
            '--bound',
            defaults.work,
            'age from which a task state, saga, cleanup, build or event is considered stuck',
        ),
        ('--audit-bound', defaults.audit, 'age up to which an audit may still repair a difference'),
    ):
        parser.add_argument(
            option,
            type=durations.option,
            default=default,
            metavar='SECONDS',
            help=f'{text} (default: %(default)s)',
        )
    parser.add_argument(
        '--quota-limits',
        action='store_true',
        help='also report projects that use more than their limits',
    )
    parser.add_argument(
        '--journal',
        action='store_true',
        help='also report sagas with a step whose cleanup failed',
    )


def run(args: argparse.Namespace) -> int:
    """Print the result and return the exit code."""
    ages = age_limits.AgeLimits(
        work=args.bound,
        audit=args.audit_bound,
        power=args.audit_bound,
        limits=args.quota_limits,
        journal=args.journal,
    )
    with progress_display.Steps('Reading', stream=sys.stderr, passing=True) as steps:
        asked = {'settle_s': args.settle, 'ages': ages, 'say': steps.begin}
        if args.which.deployed:
            verdict, unread = verification.find_deployed(args.which.directory, **asked)
        else:
            verdict, unread = verification.find(args.state_dir, **asked), ''
    if unread:
        print(f'{unread}.', file=sys.stderr)
    print(verdicts.as_json(verdict) if args.json else verdicts.as_text(verdict))
    return EXIT_CODES[verdict.result]
