"""Huawei-East-1: a CSV file of creations and deletions.

Columns: vmid, cpu (vCPUs), memory (GiB), time (seconds), type (0 creation, 1 deletion).
Source: github.com/mail-ecnu/VMAgent, docs/source/simulator/dataset.rst.
"""

from collections.abc import Iterator

from nova_lite.lab.replay import trace
from nova_lite.lab.replay.readers import lines
from nova_lite.lab.replay.readers import machine

HEADER = ['vmid', 'cpu', 'memory', 'time', 'type']
CREATION, DELETION = 0, 1


def read(path: str, _of: machine.Type) -> Iterator[trace.Machine]:
    """Yield the virtual machines, which have no disk. A machine without a deletion stays."""
    found = lines.read(path, len(HEADER))
    header = next(found, None)
    if header is not None and header.values != HEADER:
        raise header.error(f'the first line must be {",".join(HEADER)}')
    living: dict[str, trace.Machine] = {}
    for line in found:
        name, kind = line.values[0], line.whole(4, 'type')
        at_s = line.number_of(3, 'time')
        if kind == CREATION:
            if name in living:
                raise line.error(f'machine {name} is created a second time')
            size = trace.Size(line.whole(1, 'cpu'), line.whole(2, 'memory') * lines.MIB_PER_GIB, 0)
            # An id may be used again after the deletion.
            living[name] = trace.Machine(f'{name}-{line.number}', at_s, None, size, line.number)
        elif kind == DELETION:
            if name not in living:
                raise line.error(f'machine {name} is deleted and was not created before')
            born = living.pop(name)
            yield trace.Machine(born.name, born.at_s, at_s, born.size, born.line)
        else:
            raise line.error(f'type is {line.values[4]!r}, not 0 or 1')
    yield from living.values()
