"""Readers of trace files, one module for each format.

A reader is a function of a path and a machine.Type that yields the virtual machines of the file, in
its order. It raises TraceError, which names a line or row that cannot be used.
"""

from collections.abc import Callable
from collections.abc import Iterator

from nova_lite.lab.replay import trace
from nova_lite.lab.replay.readers import azure_packing
from nova_lite.lab.replay.readers import azure_vm
from nova_lite.lab.replay.readers import huawei
from nova_lite.lab.replay.readers import lines
from nova_lite.lab.replay.readers import machine
from nova_lite.lab.replay.readers import own

Reader = Callable[[str, machine.Type], Iterator[trace.Machine]]
READERS: dict[str, Reader] = {
    'csv': own.read,
    'azure-packing': azure_packing.read,
    'azure-vm': azure_vm.read,
    'huawei': huawei.read,
}
HEADERS = {tuple(own.HEADER): 'csv', tuple(huawei.HEADER): 'huawei'}


def format_of(path: str) -> str:
    """Return the name of the format of a file. Raise TraceError if its beginning fits none."""
    with open(path, 'rb') as file:
        if file.read(len(azure_packing.MAGIC)) == azure_packing.MAGIC:
            return 'azure-packing'
    first = next(lines.read(path), None)
    if first is None:
        raise trace.TraceError(path=path, line=1, reason='the file is empty')
    if len(first.values) == azure_vm.COLUMNS:
        return 'azure-vm'
    found = HEADERS.get(tuple(first.values))
    if found is None:
        raise first.error(
            f'this is the first line of no format that is known. In CSV it is {",".join(own.HEADER)}'
        )
    return found
