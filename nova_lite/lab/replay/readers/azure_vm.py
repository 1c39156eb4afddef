"""The tables of virtual machines of AzurePublicDataset 2017 and 2019: CSV without a header.

The columns that are used: id, seconds of creation and deletion, vCPUs and GiB of memory. In 2019
the last two are buckets; a bucket without an upper end, such as ">24", counts as the next power of
two.
Source: github.com/Azure/AzurePublicDataset, AzurePublicDatasetV1.md and AzurePublicDatasetV2.md.
"""

from collections.abc import Iterator
import math

from nova_lite.lab.replay import trace
from nova_lite.lab.replay.readers import lines
from nova_lite.lab.replay.readers import machine

COLUMNS = 11
ID, CREATED, DELETED, VCPUS, MEMORY_GB = 0, 3, 4, 9, 10
ABOVE = '>'
DIGITS = 9


def read(path: str, _of: machine.Type) -> Iterator[trace.Machine]:
    """Yield the virtual machines, which have no disk."""
    for line in lines.read(path, COLUMNS):
        if not line.values[ID]:
            raise line.error('the machine has no id')
        vcpus = _amount(line, VCPUS, 'the number of cores')
        memory_gb = _amount(line, MEMORY_GB, 'the memory')
        yield trace.Machine(
            line.values[ID],
            line.number_of(CREATED, 'the time of creation'),
            line.number_of(DELETED, 'the time of deletion') if line.values[DELETED] else None,
            trace.Size(math.ceil(vcpus), math.ceil(memory_gb * lines.MIB_PER_GIB), 0),
            line.number,
        )


def _amount(line: lines.Line, column: int, name: str) -> float:
    text = line.values[column]
    if not text.startswith(ABOVE):
        return line.number_of(column, name)
    bound = text.removeprefix(ABOVE).strip()
    if not bound.isdecimal() or len(bound) > DIGITS:
        raise line.error(f'{name} is {text!r}, not a number or a bucket')
    return float(1 << int(bound).bit_length())
