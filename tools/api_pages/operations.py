"""The reference page of the API: a section for each operation, from the registry.

Returns reStructuredText. Operations that Nova removed, and those of /os-volumes_boot, which
are those of /servers, have no section.
"""

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import inspect
import json
import typing

from nova_lite.api import microversion
from nova_lite.api import operation
from nova_lite.api import schema
from tools.api_pages import request_fields

# {operation and its first microversion: a sample}
Answers: typing.TypeAlias = Mapping[str, object]

GONE = frozenset({410})
ALIAS = '/os-volumes_boot'
HEADINGS = ('Name', 'Value', 'Required', 'Microversions')
PARAMETERS = ('Name', 'Value', 'Microversions')


def page(answers: Answers) -> str:
    """Return the text of the page. answers: {operation and its first microversion: a sample}"""
    lines, group = [], None
    for each in shown():
        found = each.path.split('/')[1]
        if found != group:
            group = found
            lines += _heading(f'/{group}', '=')
        lines += _section(each) + _answer(each, answers)
    return '\n'.join(lines)


def shown() -> list[operation.Operation]:
    """Return the operations that have a section, in the order of their paths."""
    found = [
        each
        for each in operation.load_all()
        if each.faults != GONE and not each.path.startswith(ALIAS)
    ]
    return sorted(found, key=lambda each: (each.path, each.method, each.action or '', each.since))


def _section(each: operation.Operation) -> list[str]:
    until = '' if each.until == microversion.MAXIMUM else f'–{each.until}'
    title = f'{each} {each.since}{until}' if until or each.since.minor > 1 else str(each)
    lines = _heading(title, '-')
    summary = inspect.getdoc(each.handler)
    if summary:
        lines += [summary.partition('\n')[0], '']
    policy = f'``{each.policy}``' if isinstance(each.policy, str) else 'depends on the request'
    lines += [
        f'- Microversions: {each.since}–{str(each.until) if until else ""}',
        f'- Success: {each.success}',
        f'- Errors: {", ".join(map(str, sorted(each.faults)))}',
        f'- Policy: {policy}',
        '',
    ]
    if each.body is not None:
        lines += _body(each, each.body)
    return lines + _query(each)


def _heading(text: str, line: str) -> list[str]:
    return [text, line * len(text), '']


def _body(each: operation.Operation, body: operation.Versions[schema.Schema]) -> list[str]:
    rows = request_fields.fields(body, each.since, each.until)
    lines = ['Body:', '', *_table([HEADINGS, *map(_texts, rows)])] if rows else []
    newest = body.at(each.until)
    sample = _json(request_fields.sample({} if newest is None else newest.source))
    return [*lines, f'A body that {each.until} accepts:', '', *sample]


def _answer(each: operation.Operation, answers: Answers) -> list[str]:
    sample = answers.get(f'{each} {each.since}')
    return [] if sample is None else [f'An answer of {each.until}:', '', *_json(sample)]


def _json(sample: object) -> list[str]:
    text = json.dumps(sample, indent=2, ensure_ascii=False)
    return ['.. code-block:: json', '', *(f'   {line}' for line in text.splitlines()), '']


def _query(each: operation.Operation) -> list[str]:
    rows = request_fields.parameters(each.query, each.since, each.until)
    lines = []
    if rows:
        texts = [(name, found, versions) for name, found, _required, versions in map(_texts, rows)]
        lines += ['Query parameters:', '', *_table([PARAMETERS, *texts])]
    strict = [
        first for first in [each.since, *each.query.firsts()] if _is_strict(each.query.at(first))
    ]
    if strict and min(strict) <= each.until:
        lines += [f'Unknown query parameters are refused from {min(strict)} on.', '']
    return lines


def _is_strict(query: schema.Query | None) -> bool:
    return query is not None and not query.source.get('additionalProperties', True)


def _table(rows: Iterable[Sequence[str]]) -> list[str]:
    lines = ['.. list-table::', '   :header-rows: 1', '']
    for row in rows:
        for position, text in enumerate(row):
            lines.append(f'   {" " if position else "*"} - {text}'.rstrip())
    return [*lines, '']


def _texts(row: request_fields.Field) -> tuple[str, str, str, str]:
    versions = f'{row.first}–{row.last or ""}'
    return f'``{row.name}``', row.words, 'yes' if row.required else '', versions
