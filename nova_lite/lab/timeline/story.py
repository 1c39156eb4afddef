"""The story of a saga: the time, the place and the super-conductor of each step.

The story is read from the journal, which records the end of each step; the next step began then.
A step whose super-conductor died is drawn until another super-conductor takes over. A step before
which a debugger has stopped the saga is drawn until the saga continues.
"""

from collections.abc import Iterator
from collections.abc import Sequence
import dataclasses
import datetime
import typing

import sqlalchemy as sa

from nova_lite.db import rows as db_rows
from nova_lite.db.api import breakpoints as breakpoint_rows
from nova_lite.db.api import cell_mappings
from nova_lite.db.api import host_mappings
from nova_lite.db.api import sagas
from nova_lite.lab.timeline import saga_states
from nova_lite.moves import kinds
from nova_lite.moves import places
from nova_lite.saga import breakpoints
from nova_lite.saga import journal
from nova_lite.saga import step as step_module

CONTROL = 'super-conductor'
# Notes in the journal that end a step, and notes of an interruption.
ENDS = ('done', 'undone', 'failed', 'turns', 'left', 'kept')
WAITS = ('waits', 'retries', 'yields', 'stopping', 'unknown')
TAKEN_OVER = 'taken over'
LOST, STOPPED = 'lost', breakpoints.STOPPED
# {source or destination: (host, cell name)}; None where the journal has no value.
Ends: typing.TypeAlias = dict[str, tuple[str | None, str | None]]


@dataclasses.dataclass(frozen=True)
class Bar:
    """One step, or the part of it that a dead owner ran. begin, end: seconds since the request

    daemon: or service; cell: None outside of cells; outcome: one of ENDS, LOST or STOPPED
    notes: texts of the events in between
    """

    step: str
    daemon: str
    cell: str | None
    begin: float
    end: float
    outcome: str
    owner: str
    epoch: int
    is_pivot: bool = False
    notes: tuple[str, ...] = ()

    @property
    def lasted(self) -> float:
        return self.end - self.begin

    @property
    def is_idle(self) -> bool:
        """Return whether no super-conductor runs the saga during this time."""
        return self.outcome in (LOST, STOPPED)

    @property
    def place(self) -> str:
        """Return the daemon and its cell in one text."""
        return f'{self.daemon}, {self.cell}' if self.cell else self.daemon


@dataclasses.dataclass(frozen=True)
class Story:
    """title: of the page; state: the saga's last state, or where it is stopped

    source, dest: cells by name, None where they are not known
    killed: seconds since the request at which its owner was killed, if known
    """

    uuid: str
    title: str
    state: str
    source: str | None
    dest: str | None
    bars: tuple[Bar, ...]
    killed: float | None = None

    @property
    def lasted(self) -> float:
        return max((bar.end for bar in self.bars), default=0.0)

    @property
    def owners(self) -> list[str]:
        """Return the super-conductors that ran the saga, in order."""
        return list(dict.fromkeys(bar.owner for bar in self.bars if not bar.is_idle))


def read(
    connection: sa.Connection,
    uuid: str,
    *,
    title: str | None = None,
    killed_at: datetime.datetime | None = None,
) -> Story:
    """Return the Story of a saga. Raise SagaNotFound. killed_at: naive UTC"""
    row = sagas.get(connection, uuid)
    ends = _ends(connection, row)
    events = sagas.events(connection, uuid)
    killed = None if killed_at is None else (killed_at - row.created_at).total_seconds()
    return Story(
        uuid=row.uuid,
        title=title or f'{saga_states.kind_of(row)} of server {row.instance_uuid}',
        state=_state(row),
        source=ends[places.SOURCE][1],
        dest=ends[places.DEST][1],
        bars=tuple(_bars(row, events, ends)),
        killed=killed,
    )


def _state(row: db_rows.Row) -> str:
    mark = breakpoint_rows.mark_of(row)
    return row.state if mark is None else f'{STOPPED} {breakpoints.place(mark)}'


def _bars(row: db_rows.Row, events: Sequence[db_rows.Row], ends: Ends) -> Iterator[Bar]:
    """Yield the bars of all steps, in order."""
    began, steps = row.created_at, kinds.steps(row.kind)
    notes: list[str] = []
    for index, event in enumerate(events):
        if event.what in WAITS:
            notes.append(f'{event.what}: {event.detail}' if event.detail else event.what)
            continue
        if event.step is None and event.what in journal.ENDED:
            continue
        step, outcome = event.step, event.what
        if outcome == STOPPED:
            outcome = None
        elif outcome == breakpoints.CONTINUED:
            outcome = STOPPED
        elif outcome == TAKEN_OVER:
            step, outcome = _under_way(events[index + 1 :]), LOST
            notes.append(f'{event.owner} takes over {event.detail}')
        elif outcome in ENDS and event.detail:
            notes.append(event.detail)
        if outcome in (*ENDS, LOST, STOPPED):
            known = steps.get(step)
            daemon, cell = place_of(known, ends)
            yield Bar(
                step=step,
                daemon=daemon,
                cell=cell,
                begin=(began - row.created_at).total_seconds(),
                end=(event.at - row.created_at).total_seconds(),
                outcome=outcome,
                owner=event.owner,
                epoch=event.epoch,
                is_pivot=known is not None and known.pivot and outcome == 'done',
                notes=tuple(notes),
            )
        began, notes = event.at, []


def _under_way(later: Sequence[db_rows.Row]) -> str:
    """Return the step that a dead owner was running: the next step that ends."""
    return next((event.step for event in later if event.what in ENDS), CONTROL)


def place_of(step: step_module.Step | None, ends: Ends) -> tuple[str, str | None]:
    """Return (daemon, cell) of a step. step: None if this release does not know it"""
    place = step.at if step is not None else places.Place(CONTROL)
    host, cell = ends[place.end] if place.end else (None, None)
    if place in (places.SOURCE_HOST, places.DEST_HOST) and host:
        return f'{place.daemon} {host}', cell
    return place.daemon, cell


def _ends(connection: sa.Connection, row: db_rows.Row) -> Ends:
    """Return the source and the destination of a saga."""
    source, dest = hosts_of(row)
    cells = {cell.id: cell.name for cell in cell_mappings.every(connection)}
    of_host = host_mappings.cell_ids(connection, [host for host in (source, dest) if host])
    return {
        end: (host, cells.get(of_host[host]) if host in of_host else None)
        for end, host in ((places.SOURCE, source), (places.DEST, dest))
    }


def hosts_of(row: db_rows.Row) -> tuple[str | None, str | None]:
    """Return the hosts of the source and of the destination, None where they are not known."""
    source = dest = None
    for known in row.data.values():
        if isinstance(known, dict):
            source = source or known.get('host')
            dest = dest or known.get('service_host')
            for name, found in (('source', known.get('source')), ('dest', known.get('dest'))):
                if isinstance(found, dict):
                    source = found['host'] if name == 'source' else source
                    dest = found['host'] if name == 'dest' else dest
    return source, dest
