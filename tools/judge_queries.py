"""Compare queries to placement with those of an installed nova.

  python -m tools.judge_queries

makes pairs of a flavor and an image as tools.judge_guests does. Nova, which is installed as for
tools.compare_with_nova, and the scheduler make the queries of those that both accept. Prints the
differences with a sample of each. The exit code is 1 if there is one.
"""

import argparse
from collections.abc import Sequence
import json
import os
import pathlib
import subprocess
import sys
import types
import typing

from nova_lite import exception
from nova_lite.scheduler import query
from nova_lite.scheduler import request_filters
from nova_lite.scheduler.request_filters import base as filters
from nova_lite.scheduler.request_filters import traits
from tests.unit.scheduler import base
from tools import judge_guests
from tools.comparison import environment
from tools.comparison import guest_pairs

JUDGE = pathlib.Path(__file__).parent / 'comparison' / 'nova_queries.py'
LIMIT = 1000
# Keys whose values are lists of parts in any order.
LISTS = 'resources', 'required', 'root_required'
Query: typing.TypeAlias = frozenset[tuple[str, str]]
DEPLOYMENT = filters.Deployment(options=types.SimpleNamespace(image_metadata_prefilter=True))


def ours(pair: guest_pairs.Pair) -> list[Query] | str | None:
    """Return the queries of a pair, as nova_queries does."""
    if judge_guests.ours(pair)[0]:
        return None
    sizes = {'vcpus': pair['vcpus'], 'memory_mb': pair['memory_mb'], 'root_gb': 1}
    spec = base.make_spec(pair['extra_specs'], pair['properties'], sizes=sizes)
    try:
        for each in (traits.transform_image_metadata, *request_filters.OF_GUEST):
            each(spec, DEPLOYMENT)
        made = [query.build(spec, limit=LIMIT, pinned=pinned) for pinned in (True, False)]
    except exception.NovaLiteError as error:
        return error.message
    return [parts(each.pairs()) for each in made]


def parts(pairs: Sequence[Sequence[str]]) -> Query:
    """Return the parts of a query, each with its key."""
    return frozenset(
        (key, part)
        for key, value in pairs
        for part in (value.split(',') if key.startswith(LISTS) else [value])
    )


def report(
    asked: Sequence[guest_pairs.Pair],
    theirs: Sequence[list[list[list[str]]] | str | None],
) -> int:
    """Print the differences; return 1 if there is one."""
    found: dict[str, guest_pairs.Pair] = {}
    accepted = different = 0
    for pair, answer in zip(asked, theirs, strict=True):
        own = ours(pair)
        if own is None or answer is None:
            continue
        accepted += 1
        text = _difference(own, answer)
        if text:
            different += 1
            found.setdefault(text, pair)
    for text, pair in found.items():
        print(f'{text}\n  {json.dumps(pair)}')
    print(f'{len(asked)} pairs, {accepted} accepted by both; the queries of {different} differ')
    return 1 if different else 0


def _difference(own: list[Query] | str, answer: list[list[list[str]]] | str) -> str | None:
    if isinstance(own, str) or isinstance(answer, str):
        # Texts are not compared.
        return None if type(own) is type(answer) else f'nova: {answer}; here: {own}'
    for mine, theirs in zip(own, map(parts, answer), strict=True):
        if mine != theirs:
            return f'nova alone: {sorted(theirs - mine)}; here alone: {sorted(mine - theirs)}'
    return None


def main(argv: Sequence[str] | None = None) -> int:
    """Compare, and print the differences."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('--environment', default='.venv-nova', metavar='DIR')
    parser.add_argument('--pairs', type=int, default=20000, metavar='NUMBER')
    parser.add_argument('--seed', type=int, default=1)
    args = parser.parse_args(argv)
    environment.prepare(args.environment)
    asked = [{**pair, 'check': 'create'} for pair in judge_guests.chosen(args.pairs, args.seed)]
    python = os.path.join(args.environment, 'bin', 'python')
    lines = ''.join(f'{json.dumps(pair)}\n' for pair in asked)
    done = subprocess.run(
        [python, str(JUDGE)], input=lines, stdout=subprocess.PIPE, text=True, check=True
    )
    return report(asked, [json.loads(line) for line in done.stdout.splitlines()])


if __name__ == '__main__':
    sys.exit(main())
