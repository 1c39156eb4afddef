"""The command `nova-lite verify --nova`: audit a nova without changing it."""

import argparse
from collections.abc import Callable
import contextlib
import json
import sys

from nova_lite.lab.audit import catalogue
from nova_lite.lab.audit import reading
from nova_lite.lab.audit import settings as settings_module
from nova_lite.lab.console import verdicts
from nova_lite.verify import age_limits
from nova_lite.verify import findings
from nova_lite.verify import settling


def audit(
    settings: settings_module.Settings,
    *,
    settle_s: float,
    ages: age_limits.AgeLimits,
    say: Callable[[str], None],
) -> tuple[settling.Verdict, catalogue.Checker]:
    """Return the verdict on a nova, and the Checker with the remedies of its findings."""
    checker = catalogue.Checker()
    with contextlib.closing(reading.Reader(settings, say=say)) as reader:
        verdict = settling.look(
            reader,
            settle_s=settle_s,
            ages=ages,
            say=say,
            check=checker.check,
            # A nova has no sagas that could explain a finding.
            explain=lambda _snapshot, found: (found, ()),
        )
    return verdict, checker


def run(
    args: argparse.Namespace, ages: age_limits.AgeLimits, say: Callable[[str], None]
) -> tuple[settling.Verdict, str]:
    """Audit the nova that the arguments name. Return the verdict and the text to print."""
    of_cloud = None
    if args.os_cloud is not None:
        # The SDK takes a second to import.
        from nova_lite.lab.audit import os_cloud

        of_cloud = os_cloud.adapters(args.os_cloud)
    settings = settings_module.read(args.nova, skipped=args.skip, of_cloud=of_cloud)
    verdict, checker = audit(settings, settle_s=args.settle, ages=ages, say=say)
    not_checked = {
        catalogue.SERVICES[name]: reason for name, reason in settings.not_checked.items()
    }
    for title, reason in not_checked.items():
        print(f'{title} was not checked: {reason}.', file=sys.stderr)
    if args.json:
        return verdict, _as_json(verdict, checker, not_checked)
    return verdict, verdicts.as_text(verdict, checker.remedies)


def _as_json(
    verdict: settling.Verdict, checker: catalogue.Checker, not_checked: dict[str, str]
) -> str:
    found = verdicts.as_dict(verdict)
    del found['explained']
    for each in (*found['findings'], *found['unsettled']):
        each['remedy'] = checker.remedies[findings.Finding(**each)]
    return json.dumps({**found, 'not_checked': not_checked}, indent=2)
