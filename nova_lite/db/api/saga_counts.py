"""Counts of sagas for metrics: by step, and of those that fail repeatedly."""

from collections.abc import Sequence
import typing

import sqlalchemy as sa

from nova_lite.db import rows
from nova_lite.db.api import models
from nova_lite.saga import journal

TABLE = models.Saga.__table__


def standing(connection: sa.Connection) -> list[tuple[typing.Any, ...]]:
    """Return (kind, last step, direction, state, how many) of those that have not ended."""
    columns = (TABLE.c.kind, TABLE.c.step, TABLE.c.direction, TABLE.c.state)
    return _counted(connection, columns, TABLE.c.active_for.is_not(None))


def failing(connection: sa.Connection) -> list[tuple[typing.Any, ...]]:
    """(kind, last step, state, how many) of those that fail again and again, or cannot clean."""
    columns = (TABLE.c.kind, TABLE.c.step, TABLE.c.state)
    many = TABLE.c.attempts >= journal.MANY_ATTEMPTS
    return _counted(connection, columns, TABLE.c.state.in_(journal.OPEN), many)


def _counted(
    connection: sa.Connection, columns: Sequence[sa.Column[typing.Any]], *which: rows.Condition
) -> list[tuple[typing.Any, ...]]:
    query = sa.select(*columns, sa.func.count()).where(*which).group_by(*columns)
    return [tuple(row) for row in connection.execute(query)]
