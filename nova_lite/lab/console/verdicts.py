"""Verdicts of `verify` as text and as JSON."""

import json

from nova_lite.verify import settling

ENDINGS = {
    settling.Result.CONSISTENT: 'No invariant is violated.',
    settling.Result.INCONSISTENT: '{findings} findings, {unsettled} unsettled',
    settling.Result.UNSETTLED: (
        'The cloud did not settle: {unsettled} findings may be work in progress. '
        'Run verify again under less load, or with a longer --settle.'
    ),
}


def as_json(verdict: settling.Verdict) -> str:
    """Return a verdict as a JSON document."""
    parts = {name: [each._asdict() for each in found] for name, found in verdict._asdict().items()}
    return json.dumps({'result': verdict.result, **parts}, indent=2)


def as_text(verdict: settling.Verdict) -> str:
    """Return the findings of a verdict, one a line, and its result."""
    lines = ['  '.join(finding) for finding in verdict.findings]
    lines += ['  '.join((*finding, '(unsettled)')) for finding in verdict.unsettled]
    lines += ['  '.join((*finding, '(no finding)')) for finding in verdict.explained]
    return '\n'.join([*lines, ending(verdict)])


def ending(verdict: settling.Verdict) -> str:
    """Return the result of a verdict as a sentence."""
    counts = {name: len(found) for name, found in verdict._asdict().items()}
    return ENDINGS[verdict.result].format(**counts)
