"""Counts of sagas for metrics: by step, and of those that fail repeatedly."""

import collections
from collections.abc import Iterable
from collections.abc import Sequence
import typing

import sqlalchemy as sa

from nova_lite.db import rows
from nova_lite.db.api import models
from nova_lite.saga import breakpoints
from nova_lite.saga import cleaning
from nova_lite.saga import journal
from nova_lite.saga import retries
from nova_lite.saga import step

TABLE = models.Saga.__table__
_COLUMNS = ('kind', 'direction', 'state', 'position', 'step', 'data')
_SAGAS = sa.select(*(TABLE.c[name] for name in _COLUMNS))

# The labels of a metric, and the number of sagas with these labels.
Counts: typing.TypeAlias = list[tuple[typing.Any, ...]]


def standing(connection: sa.Connection) -> Counts:
    """Return (kind, current step, direction, state, number) of sagas that occupy a server."""
    found = connection.execute(_SAGAS.where(TABLE.c.active_for.is_not(None)))
    return _counted((row.kind, _current(row), row.direction, _state(row)) for row in found)


def failing(connection: sa.Connection) -> Counts:
    """Return (kind, current step, state, number) of sagas that fail again and again."""
    many = TABLE.c.attempts >= retries.MANY_ATTEMPTS
    found = connection.execute(_SAGAS.where(TABLE.c.state.in_(journal.OPEN), many))
    return _counted((row.kind, _current(row), row.state) for row in found)


def _state(row: rows.Row) -> str:
    """Return the state, or `stopped` where a debugger has stopped the saga before that step."""
    return breakpoints.STOPPED if breakpoints.stopped(row.data) else str(row.state)


def _current(row: rows.Row) -> str | None:
    """Return the step that runs, waits or is retried; None before the first step has ended.

    For a saga that cleans up, return the step of its first duty.
    """
    if row.state == journal.CLEANING:
        return next((str(duty['step']) for duty in row.data.get(cleaning.DUTIES, ())), None)
    steps: Sequence[str] = row.data.get(step.PLAN, {}).get('steps', ())
    name: str | None = steps[row.position] if row.position < len(steps) else row.step
    return name


def _counted(labels: Iterable[tuple[str | None, ...]]) -> Counts:
    return [(*each, number) for each, number in collections.Counter(labels).items()]
