"""Pages of a list in any order: what comes after a marker.

NULL sorts before everything on every database, so that pages join without
gaps whichever it is.
"""

import sqlalchemy as sa


def ordered(query, keys):
    """Sort `query`. keys: (column, 'asc' or 'desc') pairs; the last should be unique."""
    for column, direction in keys:
        parts = [column.is_not(None), column] if column.nullable else [column]
        query = query.order_by(*(getattr(part, direction)() for part in parts))
    return query


def after(keys, marker):
    """The condition for rows that come after the row `marker` in that order."""
    alternatives, before = [], []
    for column, direction in keys:
        value = marker._mapping[column.key]
        alternatives.append(sa.and_(*before, _beyond(column, direction, value)))
        before.append(column.is_(None) if value is None else column == value)
    return sa.or_(*alternatives)


def _beyond(column, direction, value):
    if direction == 'asc':
        return column.is_not(None) if value is None else column > value
    if value is None:
        return sa.false()
    return sa.or_(column < value, column.is_(None)) if column.nullable else column < value
