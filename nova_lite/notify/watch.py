"""The watcher: reads the records of a transaction's notes and gives them to the notifier.

It reads within the transaction, so a notification has the state that was committed with its
record. A hidden copy of a server is skipped, because the visible record in another cell is
the source of notifications.
"""

from collections.abc import Callable
from collections.abc import Iterable
import dataclasses
import typing

from oslo_config import cfg
from oslo_db import exception as db_exception
from oslo_log import log
import sqlalchemy as sa

from nova_lite import context
from nova_lite.db import notes
from nova_lite.db import rows
from nova_lite.db.cell import actions
from nova_lite.db.cell import children
from nova_lite.db.cell import instances
from nova_lite.db.cell import migrations
from nova_lite.db.cell import shares
from nova_lite.notify import derive
from nova_lite.notify import from_records
from nova_lite.notify import spec_payloads
from nova_lite.objects import request_spec

LOG = log.getLogger(__name__)

# Errors after which the transaction cannot continue.
DATABASE_ERRORS = (db_exception.DBError, sa.exc.SQLAlchemyError)


@dataclasses.dataclass(frozen=True, slots=True)
class Change:
    """A recorded change: a note with the server that it concerns, if any, and further facts.

    covered: whether the host has sent a notification for a conductor's failure
    """

    note: notes.Note
    server: from_records.Server | None = None
    facts: dict[str, typing.Any] = dataclasses.field(default_factory=dict)
    covered: bool = False

    @property
    def subject(self) -> from_records.Server:
        """Return the server of the note. Raise ValueError if the note has no server."""
        if self.server is None:
            raise ValueError(f'a note of {self.note.what} is about no server')
        return self.server


class Notifier(typing.Protocol):
    """The part of notifier.Notifier that this module uses."""

    def is_wanted(self) -> bool:
        """Return whether notifications are enabled or have a listener."""

    def take(self, cell: typing.Any, found: list[Change]) -> None:
        """Queue changes of the database of a cell for notification."""


class Watcher:
    """Watches a Database, see nova_lite.db.notes.Watcher.

    notifier: gets the changes; cell: the cells.Cell of the database, or None
    """

    def __init__(self, conf: cfg.ConfigOpts, notifier: Notifier, cell: typing.Any = None) -> None:
        self._notifier, self._cell = notifier, cell
        self._devices = conf.notifications.bdms_in_notifications
        self._shares = conf.notifications.include_share_mapping
        self._changes = bool(conf.notifications.notify_on_state_change)

    def wants(self) -> bool:
        return self._notifier.is_wanted()

    def wants_changes(self) -> bool:
        return self._changes

    def read(self, connection: sa.Connection, notes: list[notes.Note]) -> list[Change]:
        try:
            return self._read(connection, notes)
        except DATABASE_ERRORS:
            raise
        except Exception:
            # The transaction does not fail because of its notification.
            LOG.exception('Cannot create notifications of %s', [note.what for note in notes])
            return []

    def _read(self, connection: sa.Connection, notes: list[notes.Note]) -> list[Change]:
        subjects: dict[str, dict[str, typing.Any]] = {}
        servers: dict[tuple[str, str | None], from_records.Server | None] = {}
        changed: set[str] = set()
        for note in notes:
            if note.what == 'subject':
                subjects.setdefault(note.facts['uuid'], {}).update(note.facts)
        failed = {note.facts['uuid'] for note in notes if _is_host_failure(note)}
        concerning = [note for note in notes if derive.concerns(note)]
        moves = any(map(derive.needs_moves, concerning))
        tags = any(map(derive.needs_tags, concerning))
        records = self._records(connection, _servers(concerning), tags=tags)
        found: list[Change] = []
        for note in concerning:
            uuid: typing.Any = note.facts.get('uuid')
            if note.what in derive.RECORDS:
                found.append(Change(note))
                continue
            if note.what == 'change':
                # If a transaction has several changes, the first has the former values.
                if uuid in changed:
                    continue
                changed.add(uuid)
            key = (uuid, note.facts.get('request_id'))
            if key not in servers:
                servers[key] = _server(connection, *key, records=records, moves=moves)
            if servers[key] is not None:
                found.append(
                    Change(note, servers[key], subjects.get(uuid, {}), covered=uuid in failed)
                )
        return found

    def send(self, found: list[Change]) -> None:
        try:
            if found:
                self._notifier.take(self._cell, found)
        except Exception:
            # The transaction is committed, even if the notification fails.
            LOG.exception('Cannot create notifications of %s records', len(found))

    def _records(self, connection: sa.Connection, uuids: list[str], *, tags: bool) -> '_Records':
        """Return the records of servers, read with one statement for each table."""
        if not uuids:
            return _Records({}, None, None, {})
        found = instances.kept(connection, uuids)
        tagged = list(found)
        missing = [uuid for uuid in uuids if uuid not in found]
        if missing:
            more = (children.HAS_TAGS,) if tags else ()
            read = rows.every(connection, instances.TABLE, more=more, uuid=missing)
            found |= {row.uuid: row for row in read}
            tagged += [row.uuid for row in read if tags and row.has_tags]
        return _Records(
            {uuid: row for uuid, row in found.items() if not row.hidden},
            children.block_devices(connection, uuids) if self._devices else None,
            shares.of(connection, uuids) if self._shares else None,
            children.tags(connection, tagged) if tags and tagged else {},
        )


class _Records(typing.NamedTuple):
    """Rows by the uuid of their server. devices, shares: None if notifications omit them"""

    servers: dict[str, rows.Row]
    devices: dict[str, list[rows.Row]] | None
    shares: dict[str, list[rows.Row]] | None
    tags: dict[str, list[str]]


def _servers(concerning: Iterable[notes.Note]) -> list[str]:
    """Return the uuids of the servers of notes."""
    found = {note.facts.get('uuid') for note in concerning if note.what not in derive.RECORDS}
    return sorted(filter(None, found))


def _server(
    connection: sa.Connection,
    uuid: str,
    request_id: str | None,
    *,
    records: _Records,
    moves: bool,
) -> from_records.Server | None:
    row = records.servers.get(uuid)
    if row is None:
        return None
    asked = _asked(connection, uuid, request_id)
    return from_records.Server(
        row=row,
        devices=None if records.devices is None else records.devices.get(uuid, []),
        shares=None if records.shares is None else records.shares.get(uuid, []),
        tags=records.tags.get(uuid, []),
        migration=migrations.newest_ends(connection, uuid) if moves else None,
        asked=asked,
        request_id=request_id or (None if asked is None else asked.request_id),
    )


class Notices:
    """Notifications of events that no database records."""

    def __init__(self, notifier: Notifier) -> None:
        self._notifier = notifier

    def scheduling(
        self,
        ctxt: context.RequestContext,
        spec: request_spec.RequestSpec,
        phase: str,
        parts_of: Callable[[request_spec.RequestSpec], spec_payloads.Parts],
    ) -> None:
        """Notify of the start or the end of a scheduling decision. phase: 'start' or 'end'

        parts_of: function that returns the parts of hosts that a spec asks for
        """
        if self._notifier.is_wanted():
            # The payload is created now, because the scheduler may change the spec afterwards.
            payload = from_records.of_spec(spec, parts_of(spec))
            self.tell(ctxt, 'scheduler.select_destinations', payload=payload, phase=phase)

    def tell(self, ctxt: context.RequestContext, what: str, **facts: typing.Any) -> None:
        """Notify of one of derive.RECORDS."""
        if self._notifier.is_wanted():
            note = notes.Note(what, {**facts, 'request_id': ctxt.request_id})
            self._notifier.take(None, [Change(note)])


def _asked(connection: sa.Connection, uuid: str, request_id: str | None) -> rows.Row | None:
    if request_id is None:
        return actions.find_newest(connection, uuid)
    return actions.asked(connection, uuid, request_id)


def _is_host_failure(note: notes.Note) -> bool:
    return (
        note.what == 'event'
        and note.facts['phase'] == derive.ERROR
        and note.facts['event'] in derive.EVENTS
    )
