"""Interface of the journal, which stores sagas.

The API database implements it (`db/api/sagas.py`). Methods that write take the epoch of
the owner, and raise LostLease if a newer epoch exists: another engine owns the saga.
"""

import collections.abc
import datetime
import typing

FORWARD, UNDO = 'forward', 'undo'
RUNNING, PARKED, DONE, UNDONE = 'running', 'parked', 'done', 'undone'
ENDED = (DONE, UNDONE)
# The saga has released its server, and continues to clean up.
CLEANING = 'cleaning'
# States in which a saga is run again.
OPEN = (RUNNING, PARKED, CLEANING)

# Plain values, as JSON keeps them.
Data: typing.TypeAlias = dict[str, typing.Any]


class Failure(typing.TypedDict):
    """An error as the journal keeps it and as faults show it."""

    type: str
    message: str
    kind: str
    traceback: str


class Record(typing.Protocol):
    """A saga as stored in the journal. step: the current step, or the last one that ended

    waits_on: the last step that the saga waited for; owner: the engine that runs the saga, or None
    """

    uuid: str
    kind: str
    instance_uuid: str
    active_for: str | None
    context: Data
    arguments: Data
    data: Data
    state: str
    direction: str
    position: int
    step: str | None
    waits_on: str | None
    attempts: int
    epoch: int
    owner: str | None
    error: Failure | None


def outcome(record: Record) -> str | None:
    """Return DONE, UNDONE, or None for a saga that has not released its server."""
    if record.state == CLEANING:
        return end_of(record.direction)
    return record.state if record.state in ENDED else None


def end_of(direction: str) -> str:
    """Return the final state of a saga that runs in a direction."""
    return DONE if direction == FORWARD else UNDONE


class LostLease(Exception):
    """A newer epoch exists: this engine must stop at once and undo nothing."""


class UnknownPlan(Exception):
    """Another release has started the saga with a plan that this release does not know."""


class Note(typing.NamedTuple):
    """An event of a saga for the journal.

    what: a word, such as 'done'; None: no event
    at: naive UTC; None: the time when it is recorded
    """

    what: str | None
    step: str | None = None
    detail: str | None = None
    at: datetime.datetime | None = None


Notes: typing.TypeAlias = collections.abc.Sequence[Note]
# A function of the connection of a transaction. It may change the data that the transaction stores.
Effect: typing.TypeAlias = collections.abc.Callable[[typing.Any], None]


class Journal(typing.Protocol):
    """Durable records of sagas. Times are seconds from now.

    notes: events to record, in order; the last one is that of the step that has ended or waits
    """

    def joined(self, effect: Effect) -> 'Journal':
        """Return a journal whose writes make an effect first, in the same transaction."""

    def acquire(
        self, uuid: str, owner: str, lease_s: float, *, new: Record | None = None
    ) -> Record | None:
        """Acquire a due saga without an owner. Return its record, or None.

        new: the record as `find` has returned it before the saga had its first owner, whose data no
            one has changed if it still has no owner
        """

    def renew(self, held: dict[str, int], owner: str, lease_s: float) -> None:
        """Renew the leases of {uuid: epoch}."""

    def require(self, record: Record) -> None:
        """Raise LostLease if a newer epoch exists. Nothing is written or locked."""

    def advance(
        self,
        record: Record,
        notes: Notes,
        *,
        position: int,
        direction: str,
        data: Data,
        error: Failure | None = None,
    ) -> None:
        """Store the position of the saga before its next step."""

    def park(
        self,
        record: Record,
        notes: Notes,
        *,
        position: int,
        wake_in_s: float,
        attempts: int,
        data: Data,
    ) -> None:
        """Release the lease and continue the saga after `wake_in_s`, at most LONGEST_WAIT_S."""

    def finish(
        self,
        record: Record,
        *,
        state: str,
        notes: Notes = (),
        position: int = 0,
        data: Data | None = None,
    ) -> None:
        """End the saga as `state`. notes, position, data: as for `advance`, of its last step"""

    def clean_later(
        self,
        record: Record,
        *,
        wake_in_s: float,
        attempts: int,
        data: Data,
        notes: Notes = (),
        position: int | None = None,
    ) -> None:
        """Release the server and the lease, and continue as CLEANING after `wake_in_s`."""

    def clean_soon(self, record: Record, *, wake_in_s: float, data: Data) -> None:
        """Release the lease and continue as CLEANING. A server that the saga holds stays held."""

    def hold_server(self, record: Record) -> bool:
        """Reserve the server until `clean_later` or `finish`.

        Return False if another saga has it.
        """

    def find(self, uuid: str) -> Record | None:
        """Return the record of a saga, or None. Nothing is written or locked."""

    def due(self, limit: int) -> collections.abc.Sequence[str]:
        """Return at most `limit` uuids of due sagas without an owner, the most overdue first."""


class Abandoned:
    """The journal of an abandoned engine. It records nothing, so that the leases expire."""

    def _refuse(self, *args: typing.Any, **kwargs: typing.Any) -> typing.NoReturn:
        raise LostLease('abandoned')

    joined = acquire = renew = require = advance = park = finish = find = due = _refuse
    clean_later = clean_soon = hold_server = _refuse
