"""Judge samples of requests by the schemas of an installed nova.

  python -m tools.judge_requests

makes samples of bodies and queries from doc/source/reference/nova-requests.yaml, at all
microversions that change a schema of nova_lite or nova, and puts odd values in each place of the
samples. It calls the validators of nova, which is installed as for tools.compare_with_nova. Prints
once each sample that only one of nova and nova_lite accepts, unless the file says that nova refuses
this kind of value in this field after its schema has accepted the value. The exit code is 1 if
there is a difference that the file does not explain, or an explanation without a difference.
"""

import argparse
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import json
import os
import pathlib
import re
import subprocess
import sys
import typing

from nova_lite.api import operation as operations
from tests.fixtures import request_samples
from tools.comparison import environment
from tools.comparison import kinds
from tools.comparison import odd_requests

JUDGE = pathlib.Path(__file__).parent / 'comparison' / 'nova_schemas.py'
BODY, QUERY = 'body', 'query'
# A sample with its operation, field and verdict, see `samples`.
Sample: typing.TypeAlias = dict[str, typing.Any]
# An operation and its field or parameter.
Field: typing.TypeAlias = tuple[str, str]
# 'STATUS KIND' by field, by operation.
Behind: typing.TypeAlias = Mapping[str, Mapping[str, str]]


def samples(edges: Mapping[str, Mapping[str, Sequence[int]]]) -> Iterator[Sample]:
    """Yield {'operation', 'known', 'kind', 'minor', 'field', 'value', 'accepted'}.

    edges: see nova_schemas; operation: its name in nova_schemas; known: its name in the file
    """
    known = request_samples.load()
    for operation in operations.load_all():
        path = re.sub('{[^}]*}', '{}', operation.path)
        name = f'{operation.method} {path} {operation.action or ""}'
        theirs = edges.get(name, {BODY: (), QUERY: ()})
        common = {'operation': name, 'known': request_samples.name_of(operation)}
        for kind, found in ((BODY, _bodies), (QUERY, _queries)):
            for minor, field, value, accepted in found(known, operation, theirs[kind]):
                yield {
                    **common,
                    'kind': kind,
                    'minor': minor,
                    'field': field,
                    'value': value,
                    'accepted': accepted,
                }


def _bodies(
    known: request_samples.Requests, operation: operations.Operation, theirs: Sequence[int]
) -> Iterator[odd_requests.Sample]:
    if not operation.body:
        return
    body = known.body(operation)
    minors = odd_requests.minors(operation, body.kind, theirs)
    for minor in minors:
        for value in body.accepted(minor):
            yield minor, '', value, True
        for names, value in body.refused(minor):
            yield minor, '.'.join(names), value, False
    yield from odd_requests.bodies(body, operation, minors)


def _queries(
    known: request_samples.Requests, operation: operations.Operation, theirs: Sequence[int]
) -> Iterator[odd_requests.Sample]:
    query = known.query(operation)
    minors = odd_requests.minors(operation, query, theirs)
    for minor in minors:
        yield minor, '', {}, True
        for name, use in query.names(minor).items():
            accepted = list(use.accepted(minor))
            yield from ((minor, name, {name: [value]}, True) for value in accepted)
            for value in accepted[:1]:
                yield minor, name, {name: [value, value]}, not use.once
            for _names, value in use.refused(minor):
                if isinstance(value, str):
                    yield minor, name, {name: [value]}, False
        for name in query.others(minor):
            yield minor, name, {name: ['x']}, minor < query.strict
    yield from odd_requests.queries(query, operation, minors)


def differences(
    asked: Iterable[Sample], verdicts: Iterable[Mapping[str, typing.Any]]
) -> tuple[dict[str, Sample], int]:
    """Return ({text of a difference: its first sample}, number judged)."""
    found: dict[str, Sample] = {}
    judged = 0
    for sample, verdict in zip(asked, verdicts, strict=True):
        judged += verdict['judged']
        if verdict['judged'] and sample['accepted'] != (verdict['reason'] is None):
            ours = 'accepted' if sample['accepted'] else 'refused'
            place = f'{sample["operation"]} {sample["kind"]} {sample["field"]}'
            text = f'{ours} here: {place} {json.dumps(sample["value"])}'
            found.setdefault(text, sample)
    return found, judged


def explained(found: Mapping[str, Sample], behind: Behind) -> tuple[dict[str, Sample], set[Field]]:
    """Return ({text: sample} of differences without an explanation, explained fields)."""
    left: dict[str, Sample] = {}
    used: set[Field] = set()
    for text, sample in found.items():
        name: Field = sample['known'], sample['field']
        reason = behind.get(name[0], {}).get(name[1])
        if not sample['accepted'] and reason and _has(sample, reason):
            used.add(name)
        else:
            left[text] = sample
    return left, used


def _has(sample: Sample, reason: str) -> bool:
    _status, kind = reason.split()
    return any(kinds.is_of(kind, value) for value in kinds.values(sample))


def main(argv: Sequence[str] | None = None) -> int:
    """Judge, and print the differences."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('--environment', default='.venv-nova', metavar='DIR')
    args = parser.parse_args(argv)
    environment.prepare(args.environment)
    python = os.path.join(args.environment, 'bin', 'python')
    asked = list(samples(json.loads(_run(python, 'edges'))))
    lines = ''.join(f'{json.dumps(sample)}\n' for sample in asked)
    verdicts = map(json.loads, _run(python, 'judge', input=lines).splitlines())
    found, judged = differences(asked, verdicts)
    behind = request_samples.load().behind
    left, used = explained(found, behind)
    for text, sample in left.items():
        print(f'{text} at 2.{sample["minor"]}')
    unused = {(name, field) for name, fields in behind.items() for field in fields} - used
    for name, field in sorted(unused):
        print(f'no difference: {name} {field}')
    print(
        f'{judged} samples judged, {len(found)} differ, '
        f'{len(left)} of them without an explanation; {len(used)} fields explained'
    )
    return 1 if left or unused else 0


def _run(python: str, *words: str, input: str | None = None) -> str:
    command = [python, str(JUDGE), *words]
    done = subprocess.run(command, input=input, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout


if __name__ == '__main__':
    sys.exit(main())
