"""What an engine asks of the place where sagas are remembered.

The API database implements it (`db/api/sagas.py`). Every method that writes
names the epoch under which it writes, and raises LostLease when a newer epoch
exists: someone else runs the saga now.
"""

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


def outcome(record):
    """DONE, UNDONE, or None for a saga that has not ended for its server."""
    if record.state == CLEANING:
        return end_of(record.direction)
    return record.state if record.state in ENDED else None


def end_of(direction):
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

    def acquire(self, uuid, owner, lease_s):
        """Own a saga that is due and that no one holds; its record, or None."""

    def renew(self, held, owner, lease_s):
        """Prolong the leases of {uuid: epoch}."""

    def require(self, record):
        """Raise LostLease when a newer epoch exists; nothing is written or locked."""

    def advance(self, record, note, *, position, direction, data, error=None):
        """Remember where the saga stands now, before its next step."""

    def park(self, record, note, *, position, wake_in_s, attempts, data):
        """Give the lease back and look at the saga again after `wake_in_s`.

        At the latest after LONGEST_WAIT_S.
        """

    def finish(self, record, *, state, note=None, position=0, data=None):
        """The saga has ended as `state`; note, position, data: as `advance`, of its last step."""

    def clean_later(self, record, *, wake_in_s, attempts, data, note=None, position=None):
        """Free the server, give the lease back, and go on as CLEANING after `wake_in_s`."""

    def clean_soon(self, record, *, wake_in_s, data):
        """Give the lease back and go on as CLEANING; a server that is held stays so."""

    def hold_server(self, record):
        """Let no other saga have the server until `clean_later` or `finish`; False if one has."""

    def find(self, uuid):
        """A saga's record, or None; nothing is written or locked."""

    def due(self, limit):
        """uuids of sagas to run that no one holds, longest waiting first."""


class Abandoned:
    """The journal of who is dead: nothing is noted, so that leases end by themselves."""

    def _refuse(self, *args, **kwargs):
        raise LostLease('abandoned')

    acquire = renew = require = advance = park = finish = find = due = _refuse
    clean_later = clean_soon = hold_server = _refuse
