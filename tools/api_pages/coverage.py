"""The table of operations for the documentation, from the registry, as reStructuredText."""

import typing

from nova_lite.api import microversion
from nova_lite.api import operation

# The texts of an operation, in the order of COLUMNS.
Row: typing.TypeAlias = tuple[str, str, str, str, str, str]

COLUMNS = ('Operation', 'Microversions', 'Bodies change in', 'Success', 'Errors', 'Policy')


def rows() -> list[Row]:
    """Return one tuple of texts per operation, in the order of COLUMNS, sorted by path."""
    found = sorted(
        operation.load_all(),
        key=lambda each: (each.path, each.method, each.action or '', each.since),
    )
    return [_row(each) for each in found]


def _row(each: operation.Operation) -> Row:
    until = '' if each.until == microversion.MAXIMUM else str(each.until)
    changes = [] if each.body is None else [str(first) for first in each.body.firsts()[1:]]
    policy = each.policy if isinstance(each.policy, str) else 'by request'
    return (
        str(each),
        f'{each.since}–{until}',
        ', '.join(changes),
        str(each.success),
        ', '.join(map(str, sorted(each.faults))),
        policy,
    )


def table() -> str:
    """Return the table as reStructuredText."""
    lines = ['.. list-table::', '   :header-rows: 1', '']
    for row in (COLUMNS, *rows()):
        for position, text in enumerate(row):
            lines.append(f'   {"*" if position == 0 else " "} - {text}'.rstrip())
    return '\n'.join(lines)
