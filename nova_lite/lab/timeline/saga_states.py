"""The state of a saga as a text: the step that it runs, or the object for which it waits."""

from collections.abc import Sequence
import datetime
import typing

from nova_lite.db import rows as db_rows
from nova_lite.db.api import breakpoints as breakpoint_rows
from nova_lite.moves import resize
from nova_lite.moves.parts import cross_cell
from nova_lite.saga import breakpoints
from nova_lite.saga import journal
from nova_lite.saga import step

# Notes of the journal that say why a saga is parked.
PARKING = ('waits', 'retries', 'yields', 'queued', 'stopping', 'unknown')
# The end of a saga whose failure is left as in nova.
LEFT = 'left as nova'
# (seconds up to which a unit is used, seconds in it, its sign)
UNITS = ((120, 1, 's'), (7200, 60, 'm'), (172800, 3600, 'h'), (float('inf'), 86400, 'd'))


def text_of(saga: db_rows.Row, events: Sequence[db_rows.Row]) -> str:
    """Return the state of a saga. events: those of its journal, in order"""
    mark = breakpoint_rows.mark_of(saga)
    if mark:
        return f'stopped {breakpoints.place(mark)}'
    if saga.state in journal.ENDED:
        return _outcome(saga.state, saga)
    if saga.state == journal.CLEANING:
        return f'{_outcome(journal.end_of(saga.direction), saga)}, cleans up'
    undo = 'undo of ' if saga.direction == journal.UNDO else ''
    if saga.owner is not None:
        return f'runs {undo}{saga.step}' if saga.step else 'runs'
    if not saga.epoch:
        return 'waits for a super-conductor'
    found = [event for event in events if event.what in PARKING]
    why = found[-1].detail or found[-1].what if found else None
    step = saga.waits_on or saga.step
    return f'waits{f" in {undo}{step}" if step else ""}{f": {why}" if why else ""}'


def crosses(saga: typing.Any) -> bool | None:
    """Return whether a move goes to another cell; None where it has chosen no host yet.

    None also for a kind that stays in the cell. saga: row with kind and data
    """
    if saga.kind not in resize.ACROSS or resize.CHOSEN not in saga.data:
        return None
    return str(cross_cell.SPAWN) in saga.data.get(step.PLAN, {}).get('steps', ())


def kind_of(saga: typing.Any) -> str:
    """Return the kind of a saga for people, see `kind_for_people`."""
    return kind_for_people(saga.kind, crosses(saga))


def kind_for_people(kind: str, to_another: bool | None) -> str:
    """Return a kind: without `cross-cell-` for a move that stays in its cell.

    to_another: result of `crosses`
    """
    return kind.removeprefix(resize.PREFIX) if to_another is False else kind


def _outcome(end: str, saga: db_rows.Row) -> str:
    # A saga with a Leave keeps effects, also one that continued without the step that failed.
    name = LEFT if step.LEFT_AS in saga.data else end
    return f'{name}: {saga.error["type"]}' if end == journal.UNDONE and saga.error else name


def age(since: datetime.datetime, now: datetime.datetime) -> str:
    """Return how long ago a time was, such as 45s, 12m, 3h or 9d."""
    seconds = max(0.0, (now - since).total_seconds())
    unit, sign = next((unit, sign) for limit, unit, sign in UNITS if seconds < limit)
    return f'{seconds // unit:.0f}{sign}'
