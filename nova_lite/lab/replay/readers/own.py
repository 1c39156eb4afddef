"""The CSV format of nova-lite, see doc/source/howto/scheduler-study.rst."""

from collections.abc import Iterator

from nova_lite.lab.replay import trace
from nova_lite.lab.replay.readers import lines
from nova_lite.lab.replay.readers import machine

HEADER = ['name', 'arrival_s', 'departure_s', 'vcpus', 'memory_mb', 'disk_gb']


def read(path: str, _of: machine.Type) -> Iterator[trace.Machine]:
    """Yield the machines of a file. An empty departure means that the machine stays."""
    found = lines.read(path, len(HEADER))
    header = next(found, None)
    if header is not None and header.values != HEADER:
        raise header.error(f'the first line must be {",".join(HEADER)}')
    for line in found:
        if not line.values[0]:
            raise line.error('the machine has no name')
        yield trace.Machine(
            line.values[0],
            line.number_of(1, 'arrival_s'),
            line.number_of(2, 'departure_s') if line.values[2] else None,
            trace.Size(
                line.whole(3, 'vcpus'), line.whole(4, 'memory_mb'), line.whole(5, 'disk_gb')
            ),
            line.number,
        )
