"""nova-lite verify: read all records of a cloud and report violations of its invariants.

In a running cloud a violation is a finding if it persists for --settle seconds. A stopped
cloud is read once. The exit code is 0 if the cloud is consistent, 1 if it breaks an
invariant, and 2 if the cloud changed so much between two readings that neither result is certain.

With --nova the command audits a nova of OpenStack instead: its databases, and placement, Neutron
and Cinder. It changes nothing there, and prints the command that mends each finding.

Example: nova-lite verify --settle 30 --json
"""

import argparse
import sys

from nova_lite import exception
from nova_lite.lab.audit import catalogue
from nova_lite.lab.audit import command as audit_command
from nova_lite.lab.console import durations
from nova_lite.lab.console import verdicts
from nova_lite.lab.launcher import state_dir
from nova_lite.lab.launcher import verification
from nova_lite.terminal import progress_display
from nova_lite.verify import age_limits
from nova_lite.verify import settling

EXIT_CODES = {
    settling.Result.CONSISTENT: 0,
    settling.Result.INCONSISTENT: 1,
    settling.Result.UNSETTLED: 2,
}
# Default of --bound for a nova, whose live migrations take longer than those of simulated hosts.
OF_NOVA_S = 3600.0
# {option: its value if it is not given}, of one kind of cloud only.
OF_NOVA: dict[str, object] = {'os_cloud': None, 'skip': []}
OF_OURS: dict[str, object] = {'audit_bound': None, 'quota_limits': False, 'journal': False}


class WrongUse(exception.Invalid):
    msg = '%(option)s cannot be used %(where)s. Omit it, or see `nova-lite verify --help`'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments and options."""
    _add_clouds(parser)
    defaults = age_limits.AgeLimits()
    for option, default, text in (
        ('--settle', 10.0, 'time for which a finding must persist; 0 reads the cloud once'),
        (
            '--bound',
            None,
            'age from which a task state, saga, cleanup, build, migration or event is considered '
            f'stuck (default: {defaults.work}; with --nova {OF_NOVA_S})',
        ),
        (
            '--audit-bound',
            None,
            f'age up to which an audit may still repair a difference (default: {defaults.audit})',
        ),
    ):
        parser.add_argument(
            option,
            type=durations.option,
            default=default,
            metavar='SECONDS',
            help=text if default is None else f'{text} (default: %(default)s)',
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


def _add_clouds(parser: argparse.ArgumentParser) -> None:
    """Add the options that name a cloud, and the form of the output."""
    clouds = parser.add_mutually_exclusive_group()
    state_dir.add_names(clouds)
    clouds.add_argument(
        '--nova',
        metavar='FILE',
        help='nova.conf of a nova to audit, with the URLs of its databases and the credentials for '
        'the services around it',
    )
    parser.add_argument(
        '--os-cloud',
        metavar='NAME',
        help='with --nova: cloud in clouds.yaml whose services are asked, instead of those in FILE',
    )
    parser.add_argument(
        '--skip',
        action='append',
        default=[],
        choices=sorted(catalogue.SERVICES),
        help='with --nova: service that is not asked; may be repeated',
    )
    parser.add_argument('--json', action='store_true', help='print JSON')


def run(args: argparse.Namespace) -> int:
    """Print the result and return the exit code. Raise WrongUse."""
    _refuse(args)
    defaults = age_limits.AgeLimits()
    default_s = defaults.work if args.nova is None else OF_NOVA_S
    audit_s = defaults.audit if args.audit_bound is None else args.audit_bound
    ages = age_limits.AgeLimits(
        work=default_s if args.bound is None else args.bound,
        audit=audit_s,
        power=audit_s,
        limits=args.quota_limits,
        journal=args.journal,
    )
    with progress_display.Steps('Reading', stream=sys.stderr, passing=True) as steps:
        if args.nova is not None:
            verdict, text = audit_command.run(args, ages, steps.begin)
        else:
            verdict, text = _of_ours(args, ages, steps)
    print(text)
    return EXIT_CODES[verdict.result]


def _of_ours(
    args: argparse.Namespace, ages: age_limits.AgeLimits, steps: progress_display.Steps
) -> tuple[settling.Verdict, str]:
    """Verify a cloud of nova_lite. Return the verdict and the text to print."""
    if args.which.deployed:
        verdict, unread = verification.find_deployed(
            args.which.directory, settle_s=args.settle, ages=ages, say=steps.begin
        )
        if unread:
            print(f'{unread}.', file=sys.stderr)
    else:
        verdict = verification.find(
            args.state_dir, settle_s=args.settle, ages=ages, say=steps.begin
        )
    return verdict, verdicts.as_json(verdict) if args.json else verdicts.as_text(verdict)


def _refuse(args: argparse.Namespace) -> None:
    """Raise WrongUse for an option of the other kind of cloud."""
    others, where = (
        (OF_OURS, 'with --nova') if args.nova is not None else (OF_NOVA, 'without --nova')
    )
    for name, default in others.items():
        if getattr(args, name) != default:
            raise WrongUse(option='--' + name.replace('_', '-'), where=where)
