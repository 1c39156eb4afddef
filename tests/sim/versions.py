"""Compare logs of histories: python -m tests.sim.versions --seeds A-B python3.13 ...

Each seed is lived through with this interpreter and with those named, which have the
same packages. Its log must be the same with all of them. Without names they are those of
NOVA_LITE_TEST_PYTHONS, separated by spaces.
"""

import argparse
import os
import re
import subprocess
import sys

from tests.sim import command as command_line
from tools import sample

RESULT = re.compile(r'^seed \d+: (\w+); .* log (\w+)$', re.MULTILINE)


def main(argv=None):
    """Print what each interpreter made of each seed; return the exit status."""
    parser = argparse.ArgumentParser(prog='python -m tests.sim.versions', description=__doc__)
    parser.add_argument('interpreters', nargs='*', help='paths of other interpreters')
    parser.add_argument('--seeds', default='1-20', type=command_line.seeds_of, help='A-B')
    args = parser.parse_args(argv)
    interpreters = args.interpreters or os.environ.get('NOVA_LITE_TEST_PYTHONS', '').split()
    if not interpreters:
        print('Skipped: NOVA_LITE_TEST_PYTHONS names no interpreter with the same packages')
        return 1 if os.environ.get('CI') else 0
    different = 0
    for seed in args.seeds:
        results = [_result(each, seed) for each in (sys.executable, *interpreters)]
        same = len({*results}) == 1
        different += not same
        print('seed %d: %s %s' % (seed, 'same' if same else 'DIFFERENT', results), flush=True)
    return 1 if different else 0


def _result(interpreter, seed):
    """('passed' or 'FAILED', beginning of the log's hash)"""
    command = [interpreter, '-m', 'tests.sim', '--seed', str(seed), '--quiet']
    done = subprocess.run(command, cwd=sample.TOP, stdout=subprocess.PIPE, text=True, check=False)
    found = RESULT.search(done.stdout)
    if found is None:
        raise RuntimeError('%s ended with %d: %s' % (command, done.returncode, done.stdout))
    return found.groups()


if __name__ == '__main__':
    sys.exit(main())
