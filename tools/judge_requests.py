"""Have the schemas of an installed nova judge our samples of requests.

  python -m tools.judge_requests

makes samples of bodies and queries from doc/source/reference/nova-requests.yaml, at all
microversions that change a schema here or there, and asks the validators of nova, which is
installed as for tools.compare_with_nova. Prints each sample on whose acceptance nova and the
file differ, once. What only the file refuses may be refused by nova behind its schemas: that is
not judged here. The exit code is 1 if nova's schemas refuse what the file says is accepted.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys

from nova_lite.api import operation as operations
from tests.fixtures import request_samples
from tools.comparison import environment

JUDGE = pathlib.Path(__file__).parent / 'comparison' / 'nova_schemas.py'
SHOWN = 160


def samples(edges):
    """Yield {'operation', 'kind', 'minor', 'value', 'accepted'}. edges: see nova_schemas"""
    known = request_samples.load()
    for operation in operations.load_all():
        path = re.sub('{[^}]*}', '{}', operation.path)
        name = f'{operation.method} {path} {operation.action or ""}'
        theirs = edges.get(name, {'body': (), 'query': ()})
        for kind, found in (('body', _bodies), ('query', _queries)):
            own, values = found(known, operation)
            for minor in request_samples.minors(operation, {*own, *theirs[kind]}):
                for value, accepted in values(minor):
                    yield {
                        'operation': name,
                        'kind': kind,
                        'minor': minor,
                        'value': value,
                        'accepted': accepted,
                    }


def _bodies(known, operation):
    if not operation.body:
        return (), lambda _minor: ()
    body = known.body(operation)

    def values(minor):
        yield from ((value, True) for value in body.accepted(minor))
        yield from ((value, False) for _names, value in body.refused(minor))

    return body.kind.edges(), values


def _queries(known, operation):
    query = known.query(operation)

    def values(minor):
        yield {}, True
        for name, use in query.names(minor).items():
            accepted = list(use.accepted(minor))
            yield from (({name: [value]}, True) for value in accepted)
            yield from (({name: [value, value]}, not use.once) for value in accepted[:1])
            for _names, value in use.refused(minor):
                if isinstance(value, str):
                    yield {name: [value]}, False
        for name in query.others(minor):
            yield {name: ['x']}, minor < query.strict

    return query.edges(), values


def differences(asked, verdicts):
    """Return ({text of a difference: first minor version}, number judged)."""
    found, judged = {}, 0
    for sample, verdict in zip(asked, verdicts, strict=True):
        judged += verdict['judged']
        if verdict['judged'] and sample['accepted'] != (verdict['reason'] is None):
            ours = 'accepted' if sample['accepted'] else 'refused'
            value = json.dumps(sample['value'])[:SHOWN]
            text = f'{ours} here: {sample["operation"]} {sample["kind"]} {value}'
            found.setdefault(text, sample['minor'])
    return found, judged


def main(argv=None):
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
    for text, minor in found.items():
        print(f'{text} at 2.{minor}')
    wrong = sum(text.startswith('accepted') for text in found)
    print(f'{judged} samples judged, {len(found)} differ, {wrong} of them accepted only here')
    return 1 if wrong else 0


def _run(python, *words, **options):
    command = [python, str(JUDGE), *words]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, **options).stdout


if __name__ == '__main__':
    sys.exit(main())
