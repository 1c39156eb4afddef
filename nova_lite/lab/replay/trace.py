"""Traces: the virtual machines of a file, in the order of their arrival.

They are sorted in a temporary SQLite file, so the memory does not grow with the trace.
"""

from collections.abc import Iterable
from collections.abc import Iterator
import dataclasses
import hashlib
import sqlite3
import typing

from nova_lite import exception
from nova_lite.api import formats

BLOCK = 1 << 20
SCHEMA = """
CREATE TABLE machines (
    number INTEGER PRIMARY KEY, name TEXT UNIQUE, at_s REAL, leaves_s REAL,
    vcpus INTEGER, memory_mb INTEGER, disk_gb INTEGER, line INTEGER
)
"""
# Largest numbers of a flavor, and the most characters of a server's name.
MOST, LONGEST = formats.INT32_MOST, 255
FIELDS = 'name, at_s, leaves_s, vcpus, memory_mb, disk_gb, line'


class TraceError(exception.Invalid):
    msg = '%(path)s:%(line)s: %(reason)s'


class Empty(exception.Invalid):
    msg = '%(path)s has no virtual machine'


@dataclasses.dataclass(frozen=True, order=True)
class Size:
    """The resources of a virtual machine."""

    vcpus: int
    memory_mb: int
    disk_gb: int

    def __str__(self) -> str:
        return f'{self.vcpus} vCPUs, {self.memory_mb} MiB of memory and {self.disk_gb} GiB of disk'


@dataclasses.dataclass(frozen=True, slots=True)
class Machine:
    """A virtual machine. at_s, leaves_s: seconds in the trace; leaves_s is None if it stays

    line: number of its line or row in the file
    """

    name: str
    at_s: float
    leaves_s: float | None
    size: Size
    line: int


class Trace:
    """A trace that was read. count: number of machines; digest: SHA-256 of the file

    began_s, ended_s: times of the first and the last arrival
    """

    def __init__(self, path: str, machines: Iterable[Machine], *, most: int | None = None) -> None:
        """Read machines. most: maximum number of arrivals; None: all"""
        self.path = path
        self.digest = _digest(path)
        # SQLite keeps a database without a name in a temporary file, and removes the file.
        self._database = sqlite3.connect('')
        self._database.execute(SCHEMA)
        for machine in machines:
            self._add(machine)
        self._most = -1 if most is None else most
        self.count, self.began_s, self.ended_s = self._database.execute(
            'SELECT count(*), min(at_s), max(at_s) FROM '
            '(SELECT at_s FROM machines ORDER BY at_s, number LIMIT ?)',
            (self._most,),
        ).fetchone()
        if not self.count:
            raise Empty(path=path)

    def _add(self, machine: Machine) -> None:
        name, size = machine.name, machine.size
        if len(name) > LONGEST or not formats.is_name(name):
            reason = (
                f'{name[:40]!r} cannot be the name of a server: it must have at most {LONGEST} '
                'printable characters, and no blanks at either end'
            )
            raise self._error(machine.line, reason)
        if machine.leaves_s is not None and machine.leaves_s < machine.at_s:
            raise self._error(machine.line, f'machine {name} leaves before it arrives')
        if size.vcpus < 1 or size.memory_mb < 1 or size.disk_gb < 0:
            raise self._error(machine.line, f'machine {name} cannot have {size}')
        if max(dataclasses.astuple(size)) > MOST:
            raise self._error(
                machine.line, f'machine {name} cannot have {size}: no flavor has more than {MOST}'
            )
        try:
            self._database.execute(
                f'INSERT INTO machines ({FIELDS}) VALUES (?, ?, ?, ?, ?, ?, ?)',
                (
                    *(name, machine.at_s, machine.leaves_s),
                    *(size.vcpus, size.memory_mb, size.disk_gb, machine.line),
                ),
            )
        except sqlite3.IntegrityError as error:
            reason = f'machine {name} occurs a second time'
            raise self._error(machine.line, reason) from error

    def _error(self, line: int, reason: str) -> TraceError:
        return TraceError(path=self.path, line=line, reason=reason)

    def machines(self, after: int = 0) -> Iterator[Machine]:
        """Yield the machines in the order of arrival, without the first `after` machines."""
        found = self._database.execute(
            f'SELECT {FIELDS} FROM machines ORDER BY at_s, number LIMIT ? OFFSET ?',
            (max(-1, self._most - after) if self._most >= 0 else -1, after),
        )
        return map(_machine, found)

    def sizes(self) -> dict[Size, Machine]:
        """Return {size: the first machine of that size}, the smallest size first."""
        found: dict[Size, Machine] = {}
        for machine in self.machines():
            found.setdefault(machine.size, machine)
        return dict(sorted(found.items()))

    def close(self) -> None:
        """Remove the temporary file."""
        self._database.close()


def _machine(row: tuple[typing.Any, ...]) -> Machine:
    name, at_s, leaves_s, *size, line = row
    return Machine(name, at_s, leaves_s, Size(*size), line)


def _digest(path: str) -> str:
    found = hashlib.sha256()
    with open(path, 'rb') as file:
        while block := file.read(BLOCK):
            found.update(block)
    return found.hexdigest()
