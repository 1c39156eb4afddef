"""nova-lite verify: read everything and print what breaks the invariants.

Findings of a cloud at work count only when they stay. A cloud that is stopped can be
verified too; nothing changes in it, so one picture is enough. The exit code is 0 for a
consistent cloud, 1 when an invariant is broken, and 2 when neither is certain because
each picture showed something else.
"""

import json
import sys

from nova_lite.console import progress
from nova_lite.launcher import state_dir
from nova_lite.launcher import verification
from nova_lite.verify import bounds as bounds_module
from nova_lite.verify import settling

EXIT_CODES = {
    settling.Result.CONSISTENT: 0,
    settling.Result.INCONSISTENT: 1,
    settling.Result.UNSETTLED: 2,
}
ENDINGS = {
    settling.Result.CONSISTENT: 'Nothing breaks an invariant.',
    settling.Result.INCONSISTENT: '{findings} findings, {unsettled} unsettled',
    settling.Result.UNSETTLED: (
        'The cloud did not settle: {unsettled} findings may be work in progress. '
        'Verify again when there is less work, or with a longer --settle.'
    ),
}


def add_parser(commands):
    """Add the subcommand."""
    parser = commands.add_parser(
        'verify', help='check that a cloud is consistent', description=__doc__
    )
    defaults = bounds_module.Bounds()
    state_dir.add_option(parser)
    for option, default, text in (
        ('--settle', 10.0, 'time for which a finding must stay to count; 0 reads one picture'),
        (
            '--bound',
            defaults.work,
            'age at which a task state, saga, its clean-up, a build or an event is stuck',
        ),
        ('--audit-bound', defaults.audit, 'age up to which an audit may yet repair a difference'),
    ):
        parser.add_argument(
            option,
            type=float,
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
        help='also report sagas that noted a step which could not clean up',
    )
    parser.add_argument('--json', action='store_true', help='print JSON')
    parser.set_defaults(run=run)


def run(args):
    """Print the verdict and return the exit code."""
    bounds = bounds_module.Bounds(
        work=args.bound,
        audit=args.audit_bound,
        power=args.audit_bound,
        limits=args.quota_limits,
        journal=args.journal,
    )
    with progress.Steps('Looking', stream=sys.stderr, passing=True) as steps:
        verdict = verification.find(
            args.state_dir, settle_s=args.settle, bounds=bounds, say=steps.begin
        )
    print(_as_json(verdict) if args.json else _as_text(verdict))
    return EXIT_CODES[verdict.result]


def _as_json(verdict):
    parts = {name: [each._asdict() for each in found] for name, found in verdict._asdict().items()}
    return json.dumps({'result': verdict.result, **parts}, indent=2)


def _as_text(verdict):
    lines = ['  '.join(finding) for finding in verdict.findings]
    lines += ['  '.join((*finding, '(unsettled)')) for finding in verdict.unsettled]
    counts = {name: len(found) for name, found in verdict._asdict().items()}
    return '\n'.join([*lines, ENDINGS[verdict.result].format(**counts)])
