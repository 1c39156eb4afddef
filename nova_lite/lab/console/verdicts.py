"""Verdicts of `verify` as text and as JSON."""

from collections.abc import Mapping
import json
import types
import typing

from nova_lite.verify import findings
from nova_lite.verify import settling

ENDINGS = {
    settling.Result.CONSISTENT: 'No invariant is violated.',
    settling.Result.INCONSISTENT: '{findings} findings, {unsettled} unsettled',
    settling.Result.UNSETTLED: (
        'The cloud did not settle: {unsettled} findings may be work in progress. '
        'Run verify again under less load, or with a longer --settle.'
    ),
}


def as_dict(verdict: settling.Verdict) -> dict[str, typing.Any]:
    """Return the result and the lists of findings of a verdict, as JSON."""
    parts = {name: [each._asdict() for each in found] for name, found in verdict._asdict().items()}
    return {'result': verdict.result, **parts}


def as_json(verdict: settling.Verdict) -> str:
    """Return a verdict as a JSON document."""
    return json.dumps(as_dict(verdict), indent=2)


def as_text(
    verdict: settling.Verdict, remedies: Mapping[findings.Finding, str] = types.MappingProxyType({})
) -> str:
    """Return the findings of a verdict, one a line, and its result.

    remedies: {finding: the line to print below it}
    """
    lines = []
    for finding in verdict.findings:
        lines.append('  '.join(finding))
        if finding in remedies:
            lines.append(f'    {remedies[finding]}')
    lines += ['  '.join((*finding, '(unsettled)')) for finding in verdict.unsettled]
    lines += ['  '.join((*finding, '(no finding)')) for finding in verdict.explained]
    counts = {name: len(found) for name, found in verdict._asdict().items()}
    return '\n'.join([*lines, ENDINGS[verdict.result].format(**counts)])
