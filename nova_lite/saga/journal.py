"""What an engine asks of the place where sagas are remembered.

The API database implements it (`db/api/sagas.py`). Every method that writes
names the epoch under which it writes, and raises LostLease when a newer epoch
exists: someone else runs the saga now.
"""

import collections.abc
import typing

FORWARD, UNDO = 'forward', 'undo'
RUNNING, PARKED, DONE, UNDONE = 'running', 'parked', 'done', 'undone'
ENDED = (DONE, UNDONE)
# It has ended for its server, and goes on cleaning up.
CLEANING = 'cleaning'
# It is run again.
OPEN = (RUNNING, PARKED, CLEANING)
# A wait or a lease that ends later was written before the clock was set back.
LONGEST_WAIT_S = 900
LONGEST_LEASE_S = 3600
# A saga whose step, or cleaning, has failed so often in a row is one to look at.
MANY_ATTEMPTS = 8


# Plain values, as JSON keeps them.
Data: typing.TypeAlias = dict[str, typing.Any]


class Failure(typing.TypedDict):
    """An error as the journal keeps it and as faults show it."""

    type: str
    message: str
    kind: str
    traceback: str


class Record(typing.Protocol):
    """A saga as the journal has it. step: the one that it stands at, or has just left

    waits_on: the one that it waited for last; owner: the engine that runs it, or None
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
    """DONE, UNDONE, or None for a saga that has not ended for its server."""
    if record.state == CLEANING:
        return end_of(record.direction)
    return record.state if record.state in ENDED else None


def end_of(direction: str) -> str:
    """How a saga ends that runs in a direction."""
    return DONE if direction == FORWARD else UNDONE


class LostLease(Exception):
    """This engine's epoch is no longer the newest: stop at once, undo nothing."""


class UnknownPlan(Exception):
    """Another release has begun this saga, and this one would do other steps: do none."""


class Note(typing.NamedTuple):
    """What is told of a saga. what: a word, such as 'done'; None tells nothing."""

    what: str | None
    step: str | None = None
    detail: str | None = None


class Journal(typing.Protocol):
    """Durable records of sagas. Times are seconds from now."""

    def acquire(self, uuid: str, owner: str, lease_s: float) -> Record | None:
        """Own a saga that is due and that no one holds; its record, or None."""

    def renew(self, held: dict[str, int], owner: str, lease_s: float) -> None:
        """Prolong the leases of {uuid: epoch}."""

    def require(self, record: Record) -> None:
        """Raise LostLease when a newer epoch exists; nothing is written or locked."""

    def advance(
        self,
        record: Record,
        note: Note,
        *,
        position: int,
        direction: str,
        data: Data,
        error: Failure | None = None,
    ) -> None:
        """Remember where the saga stands now, before its next step."""

    def park(
        self,
        record: Record,
        note: Note,
        *,
        position: int,
        wake_in_s: float,
        attempts: int,
        data: Data,
    ) -> None:
        """Give the lease back and look at the saga again after `wake_in_s`.

        At the latest after LONGEST_WAIT_S.
        """

    def finish(
        self,
        record: Record,
        *,
        state: str,
        note: Note | None = None,
        position: int = 0,
        data: Data | None = None,
    ) -> None:
        """The saga has ended as `state`; note, position, data: as `advance`, of its last step."""

    def clean_later(
        self,
        record: Record,
        *,
        wake_in_s: float,
        attempts: int,
        data: Data,
        note: Note | None = None,
        position: int | None = None,
    ) -> None:
        """Free the server, give the lease back, and go on as CLEANING after `wake_in_s`."""

    def clean_soon(self, record: Record, *, wake_in_s: float, data: Data) -> None:
        """Give the lease back and go on as CLEANING; a server that is held stays so."""

    def hold_server(self, record: Record) -> bool:
        """Let no other saga have the server until `clean_later` or `finish`; False if one has."""

    def find(self, uuid: str) -> Record | None:
        """A saga's record, or None; nothing is written or locked."""

    def due(self, limit: int) -> collections.abc.Sequence[str]:
        """uuids of sagas to run that no one holds, longest waiting first."""


class Abandoned:
    """The journal of who is dead: nothing is noted, so that leases end by themselves."""

    def _refuse(self, *args: typing.Any, **kwargs: typing.Any) -> typing.NoReturn:
        raise LostLease('abandoned')

    acquire = renew = require = advance = park = finish = find = due = _refuse
    clean_later = clean_soon = hold_server = _refuse
