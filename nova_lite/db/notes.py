"""Notes: facts that a transaction recorded, for notifications.

Functions that record a fact add a note to their connection. After the commit of the transaction,
and only then, the database's watcher sends the notes. Without a watcher no note is kept.
`nova_lite.notify` makes notifications of the notes.
"""

import dataclasses
import datetime
import typing

import sqlalchemy as sa

from nova_lite import runtime

KEY = 'nova_lite_notes'


@dataclasses.dataclass(frozen=True, slots=True)
class Note:
    """One fact. what: its kind, such as 'event' or 'flavor.create'; facts: values, by the kind

    at: time of the note, shortly before the commit
    """

    what: str
    facts: dict[str, typing.Any]
    at: datetime.datetime = dataclasses.field(default_factory=runtime.naive_now)


class Watcher(typing.Protocol):
    """Receives notes. It must not wait, and raise only errors of the database."""

    def wants(self) -> bool:
        """Return whether notes are needed. Called before each transaction that may write."""

    def wants_changes(self) -> bool:
        """Return whether former states must be read when a server's states change."""

    def read(self, connection: sa.Connection, notes: list[Note]) -> typing.Any:
        """Read the records of the notes, at the end of the transaction."""

    def send(self, found: typing.Any) -> None:
        """Handle a commit. found: result of `read`"""


class PendingNotes:
    """The notes of one transaction, until it is committed."""

    __slots__ = ('notes', 'watcher')

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self.notes: list[Note] = []


def is_kept(connection: sa.Connection) -> bool:
    """Return whether notes are kept in this transaction."""
    return connection.info.get(KEY) is not None


def wants_changes(connection: sa.Connection) -> bool:
    """Return whether former states must be read in this transaction."""
    pending = connection.info.get(KEY)
    return pending is not None and pending.watcher.wants_changes()


def add(connection: sa.Connection, what: str, /, **facts: typing.Any) -> None:
    """Note a fact that this transaction has recorded."""
    pending = connection.info.get(KEY)
    if pending is not None:
        pending.notes.append(Note(what, facts))
