"""Lines of CSV files, plain or compressed with gzip, and the numbers in them."""

from collections.abc import Iterator
import csv
import gzip
import io
import math
import typing
import zlib

from nova_lite.lab.console import messages
from nova_lite.lab.replay import trace

GZIP = b'\x1f\x8b'
MIB_PER_GIB = 1024
# No amount is larger, and SQLite could not hold a much larger integer.
LIMIT = 1e15


class Line(typing.NamedTuple):
    """One line. values: its columns"""

    path: str
    number: int
    values: list[str]

    def error(self, reason: str) -> trace.TraceError:
        """Return a TraceError that names this line."""
        return trace.TraceError(path=self.path, line=self.number, reason=reason)

    def number_of(self, column: int, name: str) -> float:
        """Return the number in a column. Raise TraceError."""
        text = self.values[column]
        try:
            found = float(text)
        except ValueError:
            found = math.nan
        if not math.isfinite(found):
            raise self.error(f'{name} is {text!r}, not a number')
        if abs(found) >= LIMIT:
            raise self.error(f'{name} is {text!r}, which is too large')
        return found

    def whole(self, column: int, name: str) -> int:
        """Return the whole number in a column. Raise TraceError."""
        found = self.number_of(column, name)
        if found != int(found):
            raise self.error(f'{name} is {self.values[column]!r}, not a whole number')
        return int(found)


def read(path: str, columns: int | None = None) -> Iterator[Line]:
    """Yield the lines of a CSV file that are not empty. Raise TraceError.

    columns: the number of columns that each line must have
    """
    number = 0
    try:
        with _opened(path) as file:
            for number, values in enumerate(csv.reader(file, strict=True), start=1):
                line = Line(path, number, [value.strip() for value in values])
                if not any(line.values):
                    continue
                if columns is not None and len(values) != columns:
                    raise line.error(f'it has {len(values)} columns, not {columns}')
                yield line
    except (UnicodeError, csv.Error, EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise trace.TraceError(
            path=path, line=number + 1, reason=f'it cannot be read: {messages.cause(error)}'
        ) from error


def _opened(path: str) -> typing.TextIO:
    with open(path, 'rb') as file:
        is_compressed = file.read(len(GZIP)) == GZIP
    if is_compressed:
        return io.TextIOWrapper(gzip.open(path), encoding='utf-8-sig', newline='')
    return open(path, encoding='utf-8-sig', newline='')
