"""Lanes of a saga: the cells and hosts that it is known to use, see saga.queue."""

from collections.abc import Iterator

from nova_lite.saga import journal
from nova_lite.saga import queue

# Names of a host in the results of steps and in a Selection.
NAMES = ('host', 'service_host')
# Both ends in the results of confirm and revert.
ENDS = ('source', 'dest')


def of(arguments: journal.Data, data: journal.Data) -> list[queue.Lane]:
    """Return the Lanes of a saga, its cell first. Ignore unknown values in `data`."""
    found = [queue.Lane(queue.CELL, arguments['cell'])] if arguments.get('cell') else []
    for result in data.values():
        if isinstance(result, dict):
            found += _of_result(result)
            for end in ENDS:
                if isinstance(result.get(end), dict):
                    found += _of_result(result[end])
    return found


def _of_result(result: journal.Data) -> Iterator[queue.Lane]:
    if result.get('cell_uuid'):
        yield queue.Lane(queue.CELL, result['cell_uuid'])
    for name in NAMES:
        if isinstance(result.get(name), str):
            yield queue.Lane(queue.HOST, result[name])
