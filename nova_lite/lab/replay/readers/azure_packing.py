"""AzurePackingTraceV1: an SQLite file with virtual machines and their types.

Sizes are fractions of a type of machine. A type of virtual machine that does not run on the wanted
type of machine has its fractions of the first one on which it runs.
Source: github.com/Azure/AzurePublicDataset, AzureTracesForPacking2020.md.
"""

from collections.abc import Iterator
import contextlib
import math
import pathlib
import sqlite3
import typing

from nova_lite.lab.replay import trace
from nova_lite.lab.replay.readers import machine

MAGIC = b'SQLite format 3\0'
DAY_S = 86400
# Fractions are sums of rounded numbers.
ROUNDING = 1e-6
TYPES = 'SELECT rowid, vmTypeId, machineId, core, memory, hdd, ssd FROM vmType ORDER BY rowid'
MACHINES = 'SELECT rowid, vmId, vmTypeId, starttime, endtime FROM vm ORDER BY rowid'


def read(path: str, of: machine.Type) -> Iterator[trace.Machine]:
    """Yield the virtual machines. Machines that exist when the trace begins arrive at 0."""
    uri = f'{pathlib.Path(path).absolute().as_uri()}?mode=ro'
    row = 0
    try:
        with contextlib.closing(sqlite3.connect(uri, uri=True)) as database:
            sizes = _sizes(path, database, of)
            for row, name, kind, starts, ends in database.execute(MACHINES):
                if kind not in sizes:
                    raise _error(path, 'vm', row, f'there is no type {kind} of virtual machine')
                at_s = _days(path, row, 'starttime', starts)
                leaves_s = None if ends is None else _days(path, row, 'endtime', ends)
                yield trace.Machine(str(name), max(0.0, at_s), leaves_s, sizes[kind], row)
    except sqlite3.Error as error:
        raise _error(path, 'vm', row, f'it cannot be read: {error}') from error


def _sizes(path: str, database: sqlite3.Connection, of: machine.Type) -> dict[object, trace.Size]:
    """Return {type of virtual machine: its size}."""
    sizes: dict[object, trace.Size] = {}
    ranks: dict[object, tuple[bool, str]] = {}
    for row, kind, on, *fractions in database.execute(TYPES):
        rank = (str(on) != of.name, str(on).zfill(12))
        if kind in ranks and ranks[kind] <= rank:
            continue
        parts = [_fraction(path, row, value) for value in fractions]
        core, memory, hdd, ssd = parts
        whole = of.size
        ranks[kind] = rank
        sizes[kind] = trace.Size(
            max(1, _part(core, whole.vcpus)),
            max(1, _part(memory, whole.memory_mb)),
            _part(max(hdd, ssd), whole.disk_gb),
        )
    if of.name is not None and not any(not other for other, _name in ranks.values()):
        raise _error(path, 'vmType', 0, f'there is no machine {of.name}')
    return sizes


def _fraction(path: str, row: int, value: typing.Any) -> float:
    """Return a fraction of a machine's resource; 0 without a value."""
    if value is None:
        return 0.0
    if not isinstance(value, int | float) or not 0 <= value <= 1:
        raise _error(path, 'vmType', row, f'{value!r} is no fraction of a machine')
    return float(value)


def _days(path: str, row: int, name: str, value: typing.Any) -> float:
    """Convert days to seconds."""
    if not isinstance(value, int | float) or not math.isfinite(value):
        raise _error(path, 'vm', row, f'{name} is {value!r}, not a number of days')
    return value * DAY_S


def _part(fraction: float, whole: int) -> int:
    return math.ceil(fraction * whole - ROUNDING)


def _error(path: str, table: str, row: int, reason: str) -> trace.TraceError:
    return trace.TraceError(path=path, line=row, reason=f'table {table}: {reason}')
