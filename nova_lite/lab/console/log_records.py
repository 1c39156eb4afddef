"""Records of log files: which lines belong together, and which of them a reader asked for."""

from collections.abc import Iterable
from collections.abc import Iterator
import dataclasses
import json
import re

# As oslo.log writes lines by default. Of the lines of a traceback none has a bracket there.
HEADER = re.compile(
    r'(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}) (?P<process>\d+) (?P<level>[A-Z]+) '
    r'(?P<logger>\S+) (?P<context>\[?)'
)
# In one process a record is of the daemon whose package wrote it.
PACKAGES = {
    'api': ('nova_lite.api', 'nova_lite.daemons.wsgi'),
    'compute': ('nova_lite.compute', 'nova_lite.virt'),
    'conductor': ('nova_lite.conductor',),
    'metadata': ('nova_lite.metadata',),
    'placement': ('placement',),
    'scheduler': ('nova_lite.scheduler',),
    'simcloud': ('nova_lite.simcloud',),
    'super-conductor': ('nova_lite.superconductor', 'nova_lite.moves', 'nova_lite.saga'),
}


@dataclasses.dataclass
class Record:
    """A record with the lines of its traceback. at: its time as text, to sort records

    file: name of the file; logger: '' if the line has none
    """

    file: str
    at: str
    logger: str
    lines: list[str]

    def has(self, text: str) -> bool:
        """Return whether one of its lines contains a text."""
        return any(text in line for line in self.lines)

    def is_of(self, daemon: str) -> bool:
        """Return whether a package of a daemon wrote it, see PACKAGES."""
        return any(
            self.logger == package or self.logger.startswith(f'{package}.')
            for package in PACKAGES[daemon]
        )


def parse(file: str, lines: Iterable[str]) -> Iterator[Record]:
    """Yield the records of lines of one file. Lines before the first header are one record."""
    record: Record | None = None
    for line in lines:
        found = _begin(file, line.rstrip('\n'))
        if record is None:
            record = found or Record(file, '', '', [line.rstrip('\n')])
        elif found is None:
            record.lines.append(line.rstrip('\n'))
        else:
            yield record
            record = found
    if record is not None:
        yield record


def _begin(file: str, line: str) -> Record | None:
    """Return the record that begins with a line, None for a further line of a record."""
    if line.startswith('{'):
        return _of_json(file, line)
    found = HEADER.match(line)
    if found is None or not found['context']:
        return None
    return Record(file, found['time'], found['logger'], [line])


def _of_json(file: str, line: str) -> Record | None:
    try:
        values = json.loads(line)
    except ValueError:
        return None
    return Record(file, str(values.get('asctime', '')), str(values.get('name', '')), [line])
