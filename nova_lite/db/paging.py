"""Pages of a list in any order: the rows after a marker.

NULL sorts before all values on every database, so that pages have no gaps.
"""

from collections.abc import Sequence
import typing

import sqlalchemy as sa

from nova_lite.db import rows

# The order of a list: pairs (column, 'asc' or 'desc').
Keys: typing.TypeAlias = Sequence[tuple[sa.ColumnElement[typing.Any], str]]
Query = typing.TypeVar('Query', bound=sa.Select[*tuple[typing.Any, ...]])


def ordered(query: Query, keys: Keys) -> Query:
    """Sort `query`. keys: (column, 'asc' or 'desc') pairs; the last should be unique."""
    for column, direction in keys:
        parts = [column.is_not(None), column] if column.nullable else [column]
        query = query.order_by(*(getattr(part, direction)() for part in parts))
    return query


def after(keys: Keys, marker: rows.Row) -> rows.Condition:
    """Return the condition for rows that come after the row `marker` in that order."""
    alternatives: list[rows.Condition] = []
    before: list[rows.Condition] = []
    for column, direction in keys:
        value = marker._mapping[column.key]  # type: ignore[index]  # each has a key
        alternatives.append(sa.and_(*before, _beyond(column, direction, value)))
        before.append(column.is_(None) if value is None else column == value)
    return sa.or_(*alternatives)


def _beyond(column: sa.ColumnElement[typing.Any], direction: str, value: object) -> rows.Condition:
    if isinstance(value, bool):
        # SQLAlchemy has no order for the constants.
        value = sa.literal(value)
    if direction == 'asc':
        return column.is_not(None) if value is None else column > value
    if value is None:
        return sa.false()
    return sa.or_(column < value, column.is_(None)) if column.nullable else column < value
