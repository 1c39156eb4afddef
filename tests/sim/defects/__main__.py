"""Put defects back and search for them: python -m tests.sim.defects [--seeds A-B] [name ...].

Each is put back in a copy of the sources, and histories of its theme are lived through
there until one fails. Without the defect the same history must pass.
"""

import argparse
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

from nova_lite import runtime
from tests.sim import command as histories
from tests.sim.defects import table
from tests.sim.workload import themes

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), '..', '..', '..'))
COPIED = ('nova_lite', 'tests/sim', 'tests/fixtures', 'tests/__init__.py', 'tools')
# Themes that were added later have left the older ones few seeds before themes.FIRST_SHARED.
SEEDS = f'1-2000,{themes.FIRST_SHARED}-{themes.FIRST_SHARED + 19_999}'
# For a program that is interrupted, to remove its files.
GRACE_S = 10


def main(argv=None):
    """Search for the defects named, or for all; return the exit status."""
    args = parsed(argv)
    found = [_search(defect, args) for defect in table.DEFECTS if defect.name in args.names]
    return 0 if all(found) else 1


def parsed(argv):
    """The options, with the names of all defects unless some are given."""
    names = [defect.name for defect in table.DEFECTS]
    made = argparse.ArgumentParser(prog='python -m tests.sim.defects', description=__doc__)
    # Some versions of Python look for the empty list among the choices.
    made.add_argument('names', nargs='*', choices=[*names, []], metavar='name')
    made.add_argument(
        '--seeds',
        default=SEEDS,
        type=_seeds,
        metavar='A-B,C',
        help='where to search; default: %(default)s',
    )
    made.add_argument('--limit', type=float, default=600, help='seconds for each defect')
    args = made.parse_args(argv)
    args.names = args.names or names
    return args


def _seeds(text):
    """Return a text that stands for seeds. Raise ValueError."""
    histories.seeds_of(text)
    return text


def _search(defect, args):
    """Print where a defect is found first; whether it is."""
    began = runtime.monotonic()
    found = seeds_of(defect, histories.seeds_of(args.seeds))
    if not found:
        print(
            f'{defect.name}: not searched: none of the seeds {args.seeds} may show it', flush=True
        )
        return False
    with tempfile.TemporaryDirectory() as root:
        _copy(defect, root)
        command = ['-u', '-m', 'tests.sim', '--seeds', ','.join(map(str, found))]
        text = _run([*command, '--first'], root, args.limit)
    seconds = runtime.monotonic() - began
    failure = re.search(r'seed (\d+) FAILED: (.*)', text)
    if failure is None:
        passed = re.search(r'(\d+) histories passed', text)
        told = f'{passed[1]} histories and {seconds:.0f} s' if passed else f'{seconds:.0f} s'
        print(f'{defect.name}: not found in {told}', flush=True)
        return False
    seed, what = failure.groups()
    alone = _run(['-m', 'tests.sim', '--seed', seed, '--quiet'], ROOT, args.limit)
    passes = ': passed; ' in alone
    verdict = 'found' if passes else 'fails or does not end without it, too'
    print(f'{defect.name}: {verdict}, seed {seed}, {seconds:.0f} s: {what[:200]}', flush=True)
    return passes


def seeds_of(defect, seeds):
    """Return those of the seeds whose histories have the theme of a defect, and may show it."""
    return [each for each in seeds if themes.of_seed(each) == defect.theme and _may(defect, each)]


def _may(defect, seed):
    plan = themes.drawn(seed)
    faults = {name for name, value in vars(plan).items() if value}
    return {*defect.does} <= {*plan.operations, *plan.administration, *faults}


def _copy(defect, root):
    for part in COPIED:
        source, target = os.path.join(ROOT, part), os.path.join(root, part)
        if os.path.isdir(source):
            shutil.copytree(source, target, ignore=shutil.ignore_patterns('__pycache__'))
        else:
            shutil.copy(source, target)

    def path(file):
        return os.path.join(root, 'nova_lite', file)

    def read(file):
        with open(path(file)) as opened:
            return opened.read()

    def write(file, text):
        with open(path(file), 'w') as opened:
            opened.write(text)

    table.put_back(defect, read, write)


def _run(arguments, directory, limit_s):
    """Return what a program printed until it ended, or its time was over."""
    with tempfile.TemporaryFile('w+') as printed:
        started = subprocess.Popen(
            [sys.executable, *arguments],
            cwd=directory,
            stdout=printed,
            stderr=printed,
            start_new_session=True,
        )
        try:
            with contextlib.suppress(subprocess.TimeoutExpired):
                started.wait(limit_s)
        finally:
            # Also when the search itself is interrupted.
            if started.poll() is None:
                _interrupt(started)
        printed.seek(0)
        return printed.read()


def _interrupt(started):
    """End a program, which removes its files, and the histories that are its children."""
    started.send_signal(signal.SIGINT)
    with contextlib.suppress(subprocess.TimeoutExpired):
        started.wait(GRACE_S)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(started.pid, signal.SIGKILL)
    started.wait()


if __name__ == '__main__':
    sys.exit(main())
