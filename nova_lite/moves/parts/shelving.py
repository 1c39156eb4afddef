"""What shelving, offloading, unshelving and rebuilding share: a server that stays in its cell.

Source: reference/nova/moves 1, reference/nova/api-surface 2.4.
"""

from nova_lite import saga
from nova_lite.clients import release
from nova_lite.moves import part
from nova_lite.moves import steps
from nova_lite.moves.parts import volumes

BEGIN = saga.Result('record the action', steps.Began)
RESERVE = saga.Result('reserve volumes', steps.Reserved)
SHELVE_EVENT = 'compute_shelve_instance'
OFFLOAD_EVENT = 'compute_shelve_offload_instance'
# Keys of a server's system metadata while it is shelved; the names are nova's.
SHELVED_AT, IMAGE_ID, HOST = 'shelved_at', release.SHELVED_IMAGE, 'shelved_host'


def attachments(needless=lambda move: False):
    """The volumes, with attachments that connect no host or another one. needless: of Volumes"""
    options = {'needless': needless, 'gone': lambda move: move.is_gone()}
    return part.Of(volumes.Volumes, RESERVE, **options)


def without_shelf(system_metadata):
    """A server's system metadata without what tells how it was shelved."""
    return {
        name: value
        for name, value in system_metadata.items()
        if name not in (SHELVED_AT, IMAGE_ID, HOST)
    }


def begin(move, connection, row, event, *, at_host=True):
    """Begin the event; return what the server was.

    at_host: the event is about work of the server's host, and not the super-conductor's
    """
    move.require_there(row)
    move.note_progress(connection, started=(event, row.host if at_host else None))
    return steps.Began.of(row)


def start(move, step):
    """finish_revert_resize: the server's host starts the guest."""
    ask = move.compute.finish_revert_resize
    return move.ask(ask, **move.at_source(step), move=move.uuid, power_on=True)


def stop(move, step, image_id=None):
    """prep_snapshot_based_resize_at_source: the guest stops; its disk becomes an image, if any."""
    ask = move.compute.prep_snapshot_based_resize_at_source
    return move.ask(ask, **move.at_source(step), image_id=image_id)


def remove(move, step):
    """revert_resize: the host removes the guest, whatever there is of it."""
    return move.ask(move.compute.revert_resize, **move.at_source(step), move=move.uuid)
