"""What shelving, offloading, unshelving and rebuilding share: a server that stays in its cell.

Source: reference/nova/moves 1, reference/nova/api-surface 2.4.
"""

from nova_lite import exception
from nova_lite.clients import release
from nova_lite.moves.parts import volumes

BEGIN = 'record the action'
RESERVE = 'reserve volumes'
SHELVE_EVENT = 'compute_shelve_instance'
OFFLOAD_EVENT = 'compute_shelve_offload_instance'
# Keys of a server's system metadata while it is shelved; the names are nova's.
SHELVED_AT, IMAGE_ID, HOST = 'shelved_at', release.SHELVED_IMAGE, 'shelved_host'


def without_shelf(system_metadata):
    """A server's system metadata without what tells how it was shelved."""
    return {
        name: value
        for name, value in system_metadata.items()
        if name not in (SHELVED_AT, IMAGE_ID, HOST)
    }


def begin(move, connection, row, event):
    """Begin the event; return what the server was: {'host', 'node', 'vm_state', 'image_id'}."""
    move.require_there(row)
    move.note_progress(connection, started=(event, row.host))
    return {
        'host': row.host,
        'node': row.node,
        'vm_state': row.vm_state,
        'image_id': row.system_metadata.get(IMAGE_ID),
    }


def at_host(move, step):
    """What a method of the server's host is asked with. move: whose `began` is as `begin`'s"""
    return {
        'host': move.began['host'],
        'instance_uuid': move.instance_uuid,
        'node': move.began['node'],
        'key': move.key(step),
    }


def require_up(move):
    """Raise ServiceIsDown when the server's host cannot be asked."""
    if not move.is_up(move.began['host']):
        raise exception.ServiceIsDown(binary='nova-compute', host=move.began['host'])


def attachments(move, **options):
    """The volumes, with attachments that connect no host or another one. options: of Volumes"""
    return volumes.Volumes(move, RESERVE, gone=move.is_gone, **options)


def settle(move):
    """Clear the task, unless it is another's by now, and end the action."""
    move.write(_settle, move)


def _settle(connection, move):
    move.clear_task(connection, {})
    move.end_events(connection)
