"""Which cells and hosts a saga works with, as far as it knows: see saga.queue."""

from nova_lite.saga import queue

# What steps remember of a host; a Selection names it otherwise.
NAMES = ('host', 'service_host')
# Ends of a resize that is confirmed or reverted.
ENDS = ('source', 'dest')


def of(arguments, data):
    """The Lanes of a saga: its cell first. Raises nothing, whatever a kind keeps in `data`."""
    found = [queue.Lane(queue.CELL, arguments['cell'])] if arguments.get('cell') else []
    for result in data.values():
        if isinstance(result, dict):
            found += _of_result(result)
            for end in ENDS:
                if isinstance(result.get(end), dict):
                    found += _of_result(result[end])
    return found


def _of_result(result):
    if result.get('cell_uuid'):
        yield queue.Lane(queue.CELL, result['cell_uuid'])
    for name in NAMES:
        if isinstance(result.get(name), str):
            yield queue.Lane(queue.HOST, result[name])
