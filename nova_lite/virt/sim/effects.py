"""The frame of effects on guests: their arguments, and how they refuse.

Effects (`life`, `cold`, `live_migration`) run inside one transaction of the store. They check
before they write, so that a refusal leaves nothing behind.
"""

from collections.abc import Callable
import dataclasses
import json
import sqlite3
from typing import NoReturn

from nova_lite import states
from nova_lite.virt import model
from nova_lite.virt.sim import store

HALF_MADE = 'half made'


class Refused(Exception):
    """The guest's state forbids the effect; `error` has the reason."""

    def __init__(self, error_class: str, message: str, *, reschedule: bool = False) -> None:
        self.error = model.JobError(error_class, message, reschedule)
        super().__init__(message)


@dataclasses.dataclass(slots=True)
class Work:
    """One job at the time `at` (of the file's clock) of its effect.

    subject: a move or a device that the effect concerns besides the guest
    """

    tx: sqlite3.Connection
    id: int
    node: str
    guest: str
    verb: str
    subject: str
    args: model.Json
    at: float

    def find(self, *, departed: bool = False) -> sqlite3.Row | None:
        """Return the guest's row, or None."""
        return store.find_guest(self.tx, self.node, self.guest, departed=departed)

    def resident(self) -> sqlite3.Row:
        """Return the row of the guest, which must be defined here."""
        row = self.find()
        if row is None or row['role'] != model.Role.RESIDENT:
            what = 'is not defined' if row is None else f'is {row["role"]}'
            raise Refused('GuestNotFound', f'Guest {self.guest} {what} on {self.node}.')
        return row

    def refuse_existing(self, row: sqlite3.Row) -> NoReturn:
        """Refuse to create a guest where `row` exists."""
        raise Refused('GuestExists', f'Guest {self.guest} is {row["role"]} on {self.node} already.')

    def insert(self, spec: str, **values: object) -> None:
        """Write the guest's row; `spec` is JSON text."""
        store.insert_guest(self.tx, self.node, spec, uuid=self.guest, **values)

    def write_drive(self) -> None:
        """Write the config drive of the guest, if the job has one."""
        if self.args.get('drive') is not None:
            store.put_drive(self.tx, self.node, self.guest, json.dumps(self.args['drive']))

    def end_move(self) -> None:
        """Refuse, from now on, to begin this move on this node."""
        store.end_move(self.tx, self.node, self.guest, move=self.subject, at=self.at)

    @property
    def move_has_ended(self) -> bool:
        return store.move_has_ended(self.tx, self.node, self.guest, self.subject)

    def check_move(self) -> None:
        """Refuse to continue a move that was undone or confirmed here."""
        if self.move_has_ended:
            raise Refused(
                'MoveEnded', f'Move {self.subject} of guest {self.guest} is over on {self.node}.'
            )

    def power_result(self, power_state: int) -> model.Json:
        return {'power_state': int(power_state)}


@dataclasses.dataclass(frozen=True, slots=True)
class Later:
    """The effect took place, but the job continues until `due`."""

    due: float


@dataclasses.dataclass(frozen=True, slots=True)
class Effect:
    """The effect of a verb. Each callable takes a Work.

    finish:  makes the effect; returns the job's result, or a Later
    begin:   makes the changes that are visible while the job runs
    partial: makes the changes that a failure in the middle leaves
    is_idle: returns whether there is nothing to do; then the job takes no time and does not fail
    """

    finish: Callable[[Work], model.Json | Later]
    begin: Callable[[Work], object] | None = None
    partial: Callable[[Work], object] | None = None
    is_idle: Callable[[Work], bool] | None = None


def half_made(work: Work) -> None:
    """Show the guest of a spawn or finish_migration that is in progress."""
    if work.find() is None:
        work.insert(
            work.args['spec'],
            role=model.Role.RESIDENT,
            power_state=states.PowerState.NOSTATE,
            ticket=HALF_MADE,
        )


def is_half_made(row: sqlite3.Row) -> bool:
    """Return whether the row is unchanged since `half_made` wrote it."""
    return bool(row['ticket'] == HALF_MADE and row['power_state'] == states.PowerState.NOSTATE)
