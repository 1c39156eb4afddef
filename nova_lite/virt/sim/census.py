"""Count guests in the files of simulated hosts, without a daemon.

It only reads the rows. Effects that are due but were not settled yet have not taken place.
"""

import contextlib
import dataclasses
import datetime
import json
import pathlib
import sqlite3

from nova_lite import runtime
from nova_lite import states
from nova_lite.virt import model
from nova_lite.virt.sim import job_clock


@dataclasses.dataclass(frozen=True, slots=True)
class Row:
    """A guest on a node, as stored in a file.

    jobs: how many of its jobs have not ended
    changed_at: time of day (UTC, without zone) at which its last job ended or its node was
        switched on or off; None: neither is known
    """

    uuid: str
    node: str
    role: model.Role
    power_state: states.PowerState
    move: str | None
    jobs: int = 0
    spec: model.GuestSpec | None = None
    changed_at: datetime.datetime | None = None

    @property
    def running(self) -> bool:
        """Return whether it is running or has its memory, so that a second one would do harm."""
        return self.role is model.Role.RESIDENT and self.power_state in (
            states.PowerState.RUNNING,
            states.PowerState.PAUSED,
        )


def guests(path: str | pathlib.Path) -> list[Row]:
    """Return all rows of the file, as one consistent snapshot. Raise FileNotFoundError."""
    if not pathlib.Path(path).exists():
        raise FileNotFoundError(path)
    with _reading(path) as connection:
        now = job_clock.read(connection)
        rows = connection.execute(
            'SELECT uuid, node, role, power_state, move, spec,'
            " (SELECT COUNT(*) FROM jobs WHERE state = 'running'"
            '  AND jobs.node = guests.node AND jobs.guest = guests.uuid),'
            " (SELECT MAX(due) FROM jobs WHERE state != 'running' AND due <= ?"
            '  AND jobs.node = guests.node AND jobs.guest = guests.uuid),'
            ' (SELECT booted_at FROM nodes WHERE nodes.node = guests.node)'
            ' FROM guests ORDER BY uuid, node',
            (now,),
        ).fetchall()
        return [
            Row(
                uuid,
                node,
                model.Role(role),
                states.PowerState(power),
                move,
                jobs=jobs,
                spec=model.GuestSpec.from_dict(json.loads(spec)),
                changed_at=_changed_at(now, ended, switched),
            )
            for uuid, node, role, power, move, spec, jobs, ended, switched in rows
        ]


def _reading(path: str | pathlib.Path) -> contextlib.closing[sqlite3.Connection]:
    """Return a connection to a file that changes nothing, for a `with` block."""
    uri = f'{pathlib.Path(path).resolve().as_uri()}?mode=ro'
    return contextlib.closing(sqlite3.connect(uri, uri=True, timeout=30))


def _changed_at(
    now: float | None, ended: float | None, switched: float | None
) -> datetime.datetime | None:
    """Return the later of two changes. now, ended: instants; switched: a timestamp; or None"""
    known = [] if switched is None else [switched]
    if now is not None and ended is not None:
        known.append(runtime.timestamp() - (now - ended))
    if not known:
        return None
    return datetime.datetime.fromtimestamp(max(known), datetime.UTC).replace(tzinfo=None)


def drive(path: str | pathlib.Path, guest: str) -> model.Json | None:
    """Return the packed config drive of a guest that is resident in the file, or None."""
    with _reading(path) as connection:
        row = connection.execute(
            'SELECT content FROM drives JOIN guests ON drives.node = guests.node'
            ' AND drives.guest = guests.uuid WHERE guests.uuid = ? AND guests.role = ?',
            (guest, model.Role.RESIDENT),
        ).fetchone()
    if row is None:
        return None
    found: model.Json = json.loads(row[0])
    return found


def ownerless_drives(path: str | pathlib.Path) -> list[tuple[str, str]]:
    """Return (uuid, node) of guests that are not in the file, while their config drives are."""
    with _reading(path) as connection:
        return connection.execute(
            'SELECT guest, node FROM drives WHERE NOT EXISTS (SELECT 1 FROM guests'
            ' WHERE guests.node = drives.node AND guests.uuid = drives.guest)'
        ).fetchall()
