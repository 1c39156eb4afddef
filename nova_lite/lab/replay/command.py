"""The command `nova-lite replay`: the plan made from its options, Ctrl-C, and the summary."""

import argparse
from collections.abc import Callable
from collections.abc import Iterator
import contextlib
import json
import os
import sys
import typing

from nova_lite.lab.console import arguments
from nova_lite.lab.console import interrupts
from nova_lite.lab.console import messages
from nova_lite.lab.launcher import given_options
from nova_lite.lab.replay import plan as plans
from nova_lite.lab.replay import readers
from nova_lite.lab.replay import results
from nova_lite.lab.replay import study as studies
from nova_lite.lab.replay import study_page
from nova_lite.terminal import text_tables


def run(args: argparse.Namespace) -> int:
    """Run or continue a study, and print its summary. Raise KeyboardInterrupt.

    Return 1 if `verify` has findings after whole boots.
    """
    with noted() as is_interrupted:
        study = _study(args, is_interrupted)
        try:
            found = study.run()
        except studies.Interrupted:
            raise KeyboardInterrupt from None
    if args.json:
        print(json.dumps(found, indent=1))
    else:
        text_tables.show(*results.table(found))
        names = ', '.join((study_page.NAME, results.JSON, results.CSV))
        print(f'{_directory(args)} has {names}')
    broken = [
        f'{run["setting"]}: {each}' for run in found['runs'] for each in run.get('verify', ())
    ]
    for each in broken:
        print(each, file=sys.stderr)
    return 1 if broken else 0


def _study(args: argparse.Namespace, is_interrupted: Callable[[], bool]) -> studies.Study:
    if args.resumed is not None:
        if args.trace is not None:
            raise ValueError('--continue: the study has its trace; omit TRACE')
        for option in arguments.given(args, besides=('resumed', 'json')):
            raise ValueError(f'--continue: the study has its options; omit {option}')
        plan, progress = plans.load(args.resumed)
        return studies.Study(args.resumed, plan, progress=progress, is_interrupted=is_interrupted)
    if args.trace is None:
        raise ValueError('it needs a TRACE, or --continue DIR')
    plan = _plan(args)
    study = studies.Study(_directory(args), plan, is_interrupted=is_interrupted)
    plans.create(_directory(args), study.plan)
    return study


def _directory(args: argparse.Namespace) -> str:
    """Return the directory of the results."""
    if args.resumed is not None:
        return str(args.resumed)
    if args.output is not None:
        return str(args.output)
    name = os.path.basename(args.trace).partition('.')[0]
    return f'replay-{name}'


def _plan(args: argparse.Namespace) -> plans.Plan:
    options = given_options.parse(args.set)
    given_options.check(options)
    trace = _file('TRACE', args.trace, 'a trace of virtual machines')
    flavors = args.flavors and _file('--flavors', args.flavors, 'a CSV file of flavors')
    profile = args.profile
    if profile is not None and os.path.exists(profile):
        profile = os.path.abspath(profile)
    return plans.Plan(
        trace=trace,
        format=args.format or readers.format_of(trace),
        machine=args.machine,
        machine_size=args.machine_size,
        digest='',
        seed=args.seed,
        limit=args.limit,
        flavors=flavors,
        reference=args.fits,
        vary=args.vary,
        cells=args.cells,
        hosts=args.hosts,
        profile=profile,
        options=options,
        tuned=not args.plain_placement,
        asks_always=args.ask_always,
        boots=args.boots,
        migrations=args.migrations,
        lose_host=args.lose_host,
        cloud_file=None if args.file is None else os.path.abspath(args.file),
    )


def _file(option: str, path: str, wanted: str) -> str:
    """Return the absolute path of a file of the user. Raise ValueError if it cannot be read."""
    try:
        with open(path, 'rb'):
            return os.path.abspath(path)
    except OSError as error:
        raise ValueError(
            f'{option}: {path} cannot be read: {messages.cause(error)}. Name {wanted}'
        ) from error


@contextlib.contextmanager
def noted() -> Iterator[Callable[[], bool]]:
    """Catch Ctrl-C in the block; yield a function that returns whether it came.

    A second Ctrl-C ends the process at once.
    """
    asked: list[int] = []

    def note(number: int, _frame: typing.Any) -> None:
        asked.append(number)
        if len(asked) > 1:
            raise KeyboardInterrupt

    with interrupts.handled(note):
        yield lambda: bool(asked)
