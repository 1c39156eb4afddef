"""Comparison of answers with those of a former commit: python -m tests.upgrade.answers

The gabbi cases of `--commit` are played against its own code and against the code of now. The
answers are compared byte by byte, headers included, but for what differs in each run: ids,
times, addresses and secrets. Prints what differs.
"""

import argparse
import contextlib
import difflib
import json
import os
import subprocess
import sys
import tempfile
import typing

from tests.fixtures import run_values

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RECORD = os.path.join(TOP, 'tests', 'upgrade', 'record.py')
CASES = os.path.join('tests', 'gabbits', 'cases')
# One before the plans of moves became those of the journals: since then steps have only come.
COMMIT = '9ec81546'
# Headers that differ with each run, or with the length of what differs.
VARYING = ('date', 'content-length')
TEMPLATES = {
    'request': 'req-ID',
    'host': r'\1ID',
    'password': r'\1SECRET',
    'private key': r'\1SECRET\2',
    'public key': r'\1KEY',
    'fingerprint': r'\1SUM',
    'reservation': r'\1ID',
    'token': r'\1TOKEN',
    'uptime': r'\1UPTIME',
    'time': r'TIME\1\2',
    'address': 'ADDRESS',
    'mac': 'MAC',
}


class Exchange(typing.NamedTuple):
    """A request and its answer as texts, in which what differs in each run is replaced."""

    request: str
    answer: str


def exchanges(lines):
    """Return the Exchanges of lines that `record` wrote.

    A request that is repeated until its answer is as wanted counts once, with the last answer.
    """
    replacer = run_values.Replacer(TEMPLATES, lambda number, _separator: f'ID-{number}')
    made = []
    for line in map(json.loads, lines):
        headers = {k: v for k, v in line['headers'].items() if k not in VARYING}
        request = replacer.replace(json.dumps(line['request']))
        answer = replacer.replace(json.dumps(headers, indent=1) + '\n' + line['body'])
        if made and made[-1].request == request:
            made.pop()
        made.append(Exchange(request, answer))
    return made


def differences(former, current):
    """Yield (request, lines of difference) of Exchanges that are not the same.

    Both are of the same cases in the same order; ValueError where they are not.
    """
    for then, now in zip(former, current, strict=True):
        if then.request != now.request:
            raise ValueError(f'Not the same request: {then.request} and {now.request}')
        if then.answer != now.answer:
            lines = difflib.unified_diff(
                then.answer.splitlines(), now.answer.splitlines(), lineterm='', n=0
            )
            yield then.request, list(lines)[2:]


def play(tree, cases, path):
    """Play cases against the code of a tree; their Exchanges. path: of a file for them"""
    environment = {**os.environ, 'PYTHONPATH': tree}
    command = [sys.executable, RECORD, tree, cases, path]
    subprocess.run(command, cwd=tree, env=environment, check=True, stdout=sys.stderr)
    with open(path) as file:
        return exchanges(file)


@contextlib.contextmanager
def checked_out(commit):
    """In the context the tree of a commit exists; yields its path."""
    with tempfile.TemporaryDirectory(prefix='nova-lite-former-') as directory:
        tree = os.path.join(directory, 'tree')
        subprocess.run(
            ['git', 'worktree', 'add', '-q', '--detach', tree, commit], cwd=TOP, check=True
        )
        try:
            yield tree
        finally:
            subprocess.run(['git', 'worktree', 'remove', '--force', tree], cwd=TOP, check=True)


def main():
    """Compare, and print; the exit code."""
    parser = argparse.ArgumentParser(prog='python -m tests.upgrade.answers', description=__doc__)
    parser.add_argument('--commit', default=COMMIT, help='the former one (default: %(default)s)')
    args = parser.parse_args()
    with checked_out(args.commit) as tree, tempfile.TemporaryDirectory() as directory:
        cases = os.path.join(tree, CASES)
        former = play(tree, cases, os.path.join(directory, 'former'))
        current = play(TOP, cases, os.path.join(directory, 'current'))
    found = list(differences(former, current))
    for request, lines in found:
        print(request, *lines, sep='\n  ')
    print(f'{len(former)} requests, {len(found)} of them answered otherwise')
    return 1 if found or not former else 0


if __name__ == '__main__':
    sys.exit(main())
