"""Breakpoints: steps at which a debugger stops sagas, and the record in the saga.

An engine with a debugger asks the debugger before each step is done or undone. A saga that must
stop is parked without an owner, like a saga that waits. A mark in its data has the step and how
the saga was continued from there, so that any engine with a debugger can continue it, also after
a restart or a takeover. An engine without a debugger ignores the mark and runs the saga.
"""

import typing

from nova_lite.saga import journal
from nova_lite.saga import step as step_module

# The key of the mark in a saga's data, and the events of the journal.
MARK = '_stop'
STOPPED, CONTINUED = 'stopped', 'continued'
# How a saga was continued: to the next breakpoint, or by one step.
GO, STEP = 'go', 'step'


class Mark(typing.TypedDict):
    """The step before which the saga has stopped, or which it has begun.

    number: the breakpoint that stopped the saga, or None
    goes: None while the saga is stopped, afterwards GO or STEP
    """

    step: str
    direction: str
    number: int | None
    goes: str | None


class Debugger(typing.Protocol):
    """Decides at which steps sagas stop, and which sagas the engine drops there."""

    def find(self, saga: step_module.Saga, step: str) -> int | None:
        """Return the number of a breakpoint before a step of a saga, or None."""

    def kills(self, uuid: str) -> bool:
        """Return whether the engine must drop the saga now, as if the engine was killed."""


class Killed(Exception):
    """The engine drops the saga: nothing is undone or recorded, and the lease expires."""


def stopped(data: journal.Data) -> Mark | None:
    """Return the Mark in a saga's data if the saga is stopped, else None."""
    mark: Mark | None = data.get(MARK)
    return mark if mark is not None and mark['goes'] is None else None


def place(mark: Mark) -> str:
    """Return a text for people about the step of a Mark."""
    undo = 'undo of ' if mark['direction'] == journal.UNDO else ''
    return f'before {undo}{mark["step"]}'


def stops(debugger: Debugger, saga: step_module.Saga, step: str, direction: str) -> bool:
    """Mark the saga if it must stop before a step. Return whether it must. Raise Killed."""
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
