"""Breakpoints: steps at which a debugger stops sagas, and the record in the saga.

An engine with a debugger asks it before each step that is done or undone. A saga that is to
stop is parked without an owner, like one that waits; its data have a mark of the place and of
how it was let go on from there. So any engine with a debugger knows what to do with it, also
after a restart or takeover. An engine without one ignores the mark: the saga goes on.
"""

import typing

from nova_lite.saga import journal
from nova_lite.saga import step as step_module

# The key of a saga's data, and events in the journal.
MARK = '_stop'
STOPPED, CONTINUED = 'stopped', 'continued'
# How a saga was continued: to the next breakpoint, or by one step.
GO, STEP = 'go', 'step'


class Mark(typing.TypedDict):
    """The step before which the saga stands, or that it has begun.

    number: of the breakpoint that stopped it, or None
    goes: None while it is stopped, then GO or STEP
    """

    step: str
    direction: str
    number: int | None
    goes: str | None


class Debugger(typing.Protocol):
    """Says where sagas stop, and which are lost there."""

    def find(self, saga: step_module.Saga, step: str) -> int | None:
        """Return the number of a breakpoint before a step of a saga, or None."""

    def kills(self, uuid: str) -> bool:
        """Return whether the engine is to lose the saga that goes on now, as if it was killed."""


class Killed(Exception):
    """The engine loses the saga: nothing is undone or recorded, and its lease expires."""


def stopped(data: journal.Data) -> Mark | None:
    """Return the mark of a saga with such data if it is stopped, else None."""
    mark: Mark | None = data.get(MARK)
    return mark if mark is not None and mark['goes'] is None else None


def place(mark: Mark) -> str:
    """Return where a saga with this mark stands, for people."""
    undo = 'undo of ' if mark['direction'] == journal.UNDO else ''
    return f'before {undo}{mark["step"]}'


def stops(debugger: Debugger, saga: step_module.Saga, step: str, direction: str) -> bool:
    """Return whether a saga stops before a step, and mark it. Raise Killed."""
    mark: Mark | None = saga.data.get(MARK)
    if mark is not None and (mark['step'], mark['direction']) == (step, direction):
        if mark['goes'] is not None and debugger.kills(saga.uuid):
            raise Killed()
        return mark['goes'] is None
    number = debugger.find(saga, step)
    is_single = mark is not None and mark['goes'] == STEP
    goes = GO if number is None and not is_single else None
    saga.data[MARK] = Mark(step=step, direction=direction, number=number, goes=goes)
    return goes is None
