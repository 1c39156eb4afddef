"""The command line of the simulation; `main` is given what prepares a history."""

import argparse
import collections
import signal
import statistics

from nova_lite import runtime
from tests.sim import kernel
from tests.sim import minimums
from tests.sim import totals
from tests.sim.kernel import choosers
from tests.sim.kernel import minimize
from tools import sample

# A seed that is one failure of many is not worth more lines than these.
FAILURE_LINES = 12
# After so many histories a line says how far a run is.
PROGRESS = 100
# Beyond those of the gate; nights that follow each other run through all of them.
NIGHTLY = range(201, 100_201)
# Number of seeds of the gate whose logs are compared with those of a second run.
GATE_TWICE = 3
DATABASES = ('sqlite', 'mariadb', 'postgresql')
PLACEMENTS = DOUBLE, REAL = ('double', 'real')

# The options that a history depends on, beside its seed.
HISTORY = ('database', 'placement', 'rest', 'chooser')


def parser():
    """Return the parser of the arguments."""
    made = argparse.ArgumentParser(
        prog='python -m tests.sim',
        description='Run histories of a simulated cloud; each follows from its seed.',
    )
    _add_seeds(made.add_mutually_exclusive_group(required=True))
    made.add_argument('--theme', help='of --seeds: only those of that theme')
    made.add_argument('--first', action='store_true', help='of --seeds: end at the first failure')
    made.add_argument(
        '--database',
        choices=DATABASES,
        default=DATABASES[0],
        help='where the databases of nova-lite are; a server is started for the histories',
    )
    made.add_argument(
        '--placement',
        choices=PLACEMENTS,
        default=DOUBLE,
        help='whether a double answers the frequent requests to placement; default: %(default)s',
    )
    made.add_argument(
        '--rest',
        type=float,
        metavar='MINUTES',
        default=0.0,
        help='virtual time after which all must still be well at the end of each history',
    )
    made.add_argument('--jobs', type=int, default=1, help='histories at the same time')
    made.add_argument(
        '--chooser',
        choices=sorted(choosers.CHOOSERS),
        help='how the next thread is chosen; the default follows from the seed',
    )
    made.add_argument(
        '--minimize',
        action='store_true',
        help='reduce the faults and operations of a failing --seed',
    )
    made.add_argument(
        '--twice',
        action='store_true',
        help='run each history twice, with memory laid out differently, and compare the logs',
    )
    made.add_argument('--quiet', action='store_true', help='do not print the log of --seed')
    return made


def _add_seeds(which):
    """Add the options that choose the seeds."""
    which.add_argument('--seed', type=int, help='replay one history and print its log')
    which.add_argument('--seeds', metavar='A-B,C', type=seeds_of, help='run many histories')
    which.add_argument(
        '--nightly',
        metavar='N',
        help='run the N seeds of today, of %d-%d; A-B: those' % (NIGHTLY[0], NIGHTLY[-1]),
    )
    which.add_argument(
        '--gate',
        metavar='N',
        type=int,
        help='run one Nth of the seeds %d-%d, which tools/sample.py chooses, the first %d twice'
        % (minimums.SEEDS[0], minimums.SEEDS[-1], GATE_TWICE),
    )


def seeds_of(text):
    """The seeds that A-B, one number, or several of both with commas stand for."""
    if ',' in text:
        return [seed for part in text.split(',') for seed in seeds_of(part)]
    first, _, last = text.partition('-')
    return range(int(first), int(last or first) + 1)


def seeds_of_night(text, day):
    """Return the range of `text` seeds for a night, or the range A-B. day: a date's ordinal"""
    if '-' in text:
        return seeds_of(text)
    size = int(text)
    first = day % -(-len(NIGHTLY) // size) * size
    return NIGHTLY[first : first + size]


def seeds_of_gate(parts, number, theme_of=None):
    """Return a share of the seeds of the gate, which has its share of each theme."""
    seeds = sorted(minimums.SEEDS, key=theme_of)
    return sorted(seeds[number % parts :: parts])


def main(prepared, argv=None, *, theme_of=None, **options):
    """Run histories as `argv` says; return the exit status.

    prepared: a context manager that makes what histories of some seeds share, and gives
        their body; called with the seeds and the parsed arguments
    theme_of: seed -> the name of its theme, for --theme
    options: of kernel.run for every history
    """
    # A shell has its background programs ignore the first. With --seeds either prints totals.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    args = parser().parse_args(argv)
    if args.nightly:
        args.seeds = seeds_of_night(args.nightly, runtime.now().toordinal())
        print('seeds %d-%d' % (args.seeds[0], args.seeds[-1]), flush=True)
    if args.gate:
        args.seeds = seeds_of_gate(args.gate, sample.number(), theme_of)
        print('seeds of %s' % sample.replay(), flush=True)
    if args.chooser:
        options['chooser'] = args.chooser
    seeds = args.seeds or [args.seed]
    if args.theme:
        seeds = [seed for seed in seeds if theme_of(seed) == args.theme]
    with prepared(seeds, args) as body:
        if args.seeds:
            return _many(args, seeds, body, options)
        if args.minimize:
            return _minimized(args.seed, body, options)
        return _replayed(args, body, options)


def chooser_of(seed, options):
    """Return `options` with the chooser of this seed."""
    return {'chooser': choosers.of_seed(seed), **options}


def _replayed(args, body, options):
    on_line = None if args.quiet else _print_line
    options = chooser_of(args.seed, options)
    outcome = kernel.run(args.seed, body, on_line=on_line, **options)
    print(summary(outcome))
    if not outcome.ok:
        print(outcome.failure)
    if args.twice:
        again = kernel.run(args.seed, body, perturbed=True, **options)
        return max(_compared(outcome, again), not outcome.ok)
    return 0 if outcome.ok else 1


def _print_line(line):
    print(line, flush=True)


def summary(outcome):
    """Return one line about a history."""
    return (
        'seed %d: %s; %.1f virtual min in %.1f s (%.1f s CPU), %d points, %d switches, log %s'
        % (
            outcome.seed,
            'passed' if outcome.ok else 'FAILED',
            outcome.virtual_s / 60,
            outcome.real_s,
            outcome.cpu_s,
            outcome.points,
            outcome.switches,
            outcome.log_hash[:16],
        )
    )


def _many(args, seeds, body, options):
    failures = collections.defaultdict(list)
    outcomes = []
    try:
        different = _run_many(args, seeds, (body, options), outcomes=outcomes, failures=failures)
    finally:
        # Also of those until an interrupt.
        _print_totals(outcomes, failures)
    missing = _print_missing(args, outcomes)
    if not outcomes:
        print('There is no such history')
    return 1 if failures or different or missing or not outcomes else 0


def _print_missing(args, outcomes):
    """Print what has happened less often than it has to in some seeds; return how much."""
    counted = totals.Totals(minimums.of_run(args))
    for outcome in outcomes:
        counted.add(outcome)
    missing = [*counted.missing()]
    for line in (*counted.lines(), *missing):
        print(line)
    return len(missing)


def _run_many(args, seeds, prepared, *, outcomes, failures):
    """Run a history per seed, print what fails; return how many differ from their repetition."""
    body, options = prepared
    repeated = {*seeds} if args.twice else {*seeds[:GATE_TWICE]} if args.gate else set()

    def options_of(seed, given):
        return {'keeps_log': seed in repeated, **chooser_of(seed, given)}

    different = 0
    for outcome in kernel.run_many(seeds, body, args.jobs, options_of=options_of, **options):
        outcomes.append(outcome)
        if len(outcomes) % PROGRESS == 0:
            print('%d histories so far' % len(outcomes), flush=True)
        if not outcome.ok:
            first = not failures[minimize.headline(outcome.failure)]
            failures[minimize.headline(outcome.failure)].append(outcome.seed)
            _print_failure(outcome, FAILURE_LINES if first else 1, args)
        if outcome.seed in repeated:
            again = kernel.run(
                outcome.seed, body, perturbed=True, **chooser_of(outcome.seed, options)
            )
            different += _compared(outcome, again)
        outcome.log.clear()
        if failures and args.first:
            break
    return different


def _print_failure(outcome, lines, args):
    text = outcome.failure.rstrip('\n').split('\n')
    print('seed %d FAILED: %s' % (outcome.seed, '\n  '.join(text[:lines])))
    usual = vars(parser().parse_args(['--seed', '0']))
    given = [name for name in HISTORY if getattr(args, name) != usual[name]]
    more = ''.join(f' --{name} {getattr(args, name)}' for name in given)
    print('  replay: python -m tests.sim --seed %d%s' % (outcome.seed, more), flush=True)


def _print_totals(outcomes, failures):
    failed = sum(len(seeds) for seeds in failures.values())
    speeds = [outcome.virtual_s / 60 / outcome.cpu_s for outcome in outcomes if outcome.cpu_s]
    print(
        '%d histories passed, %d failed; %.0f s CPU, median %.1f virtual minutes a CPU second, %.0f points'
        % (
            len(outcomes) - failed,
            failed,
            sum(outcome.cpu_s for outcome in outcomes),
            statistics.median(speeds) if speeds else 0,
            statistics.median(outcome.points for outcome in outcomes) if outcomes else 0,
        )
    )
    for text, seeds in sorted(failures.items(), key=lambda item: -len(item[1])):
        shown = ', '.join(str(seed) for seed in sorted(seeds)[:8])
        print('%5d times, seeds %s: %s' % (len(seeds), shown, text))


def _compared(one, other):
    """Print where two logs of a seed begin to differ; return 1 if they do."""
    if one.log == other.log:
        return 0
    for number, (first, second) in enumerate(zip(one.log, other.log, strict=False)):
        if first != second:
            print('seed %d: logs differ from line %d' % (one.seed, number + 1))
            print('\n'.join(one.log[max(0, number - 5) : number]))
            print('< %s\n> %s' % (first, second))
            return 1
    print('seed %d: logs of %d and %d lines' % (one.seed, len(one.log), len(other.log)))
    return 1


def _minimized(seed, body, options):
    options = chooser_of(seed, options)
    outcome = kernel.run(seed, body, **options)
    print(summary(outcome))
    if outcome.ok:
        return 0
    runs = 0

    def run(suppressed):
        nonlocal runs
        runs += 1
        return kernel.run(seed, body, suppressed=suppressed, **options)

    before = len(outcome.choices)
    outcome, _suppressed = minimize.reduced(run, outcome)
    print('\n'.join(outcome.log))
    print(
        '%s\n\nneeds %d of %d choices (%d runs):'
        % (
            outcome.failure,
            len(outcome.choices),
            before,
            runs,
        )
    )
    for stream, number, what in outcome.choices:
        print('  %s %d %s' % (stream, number, what))
    return 1
