"""Shared parts of shelving, offloading, unshelving and rebuilding, within a cell.

Source: reference/nova/moves 1, reference/nova/api-surface 2.4.
"""

from collections.abc import Mapping
import typing

import sqlalchemy as sa

from nova_lite import exception
from nova_lite import saga
from nova_lite.clients import release
from nova_lite.clients import session
from nova_lite.db import rows
from nova_lite.moves import asking
from nova_lite.moves import part
from nova_lite.moves import steps
from nova_lite.moves.parts import volumes

if typing.TYPE_CHECKING:
    from nova_lite.moves import move as moves
    from nova_lite.moves import world as worlds

BEGIN = saga.Result('record-action', steps.Began)
RESERVE = saga.Result('reserve-volumes', steps.Reserved)
SHELVE_EVENT = 'compute_shelve_instance'
OFFLOAD_EVENT = 'compute_shelve_offload_instance'
# Keys of a shelved server's system metadata, with nova's names.
SHELVED_AT, IMAGE_ID, HOST = 'shelved_at', release.SHELVED_IMAGE, 'shelved_host'
# Statuses of a shelved image that has the disk of its server.
COMPLETE = ('active', 'deactivated')


def attachments(needless: volumes.Condition = lambda move: False) -> part.Of[volumes.Volumes]:
    """Return the volumes, whose new attachments are not connected. needless: of Volumes"""
    options = {'needless': needless, 'gone': lambda move: move.is_gone()}
    return part.Of(volumes.Volumes, RESERVE, **options)


def without_shelf(system_metadata: Mapping[str, str]) -> dict[str, str]:
    """Return a server's system metadata without the keys of a shelved server."""
    return {
        name: value
        for name, value in system_metadata.items()
        if name not in (SHELVED_AT, IMAGE_ID, HOST)
    }


def require_image(images: 'worlds.Image', ctxt: session.Ctxt, row: rows.Row) -> None:
    """Raise ImageNotFound or ImageNotUsable if a server's shelved image does not have its disk."""
    image_id = row.system_metadata.get(IMAGE_ID)
    if image_id is None:
        return
    status = images.get(ctxt, image_id)['status']
    if status not in COMPLETE:
        raise exception.ImageNotUsable(image_id=image_id, reason=f'its status is {status}')


def begin(
    move: 'moves.AnyMove',
    connection: sa.Connection,
    row: rows.Row | None,
    event: str,
    *,
    at_host: bool = True,
) -> steps.Began:
    """Begin the event. Return the result of the first step.

    at_host: the event is the work of the server's host, not of the super-conductor
    """
    row = move.require_there(row)
    move.note_progress(connection, started=(event, row.host if at_host else None))
    return steps.Began.of(row)


def start(move: 'moves.AnyMove', step: str) -> asking.Reply:
    """Start the guest on the server's host."""
    ask = move.compute.finish_revert_resize
    return move.ask(ask, **move.at_source(step), move=move.uuid, power_on=True)


def stop(move: 'moves.AnyMove', step: str, image_id: str | None = None) -> asking.Reply:
    """Stop the guest. With an image_id, upload its disk."""
    ask = move.compute.prep_snapshot_based_resize_at_source
    return move.ask(ask, **move.at_source(step), image_id=image_id)


def remove(move: 'moves.AnyMove', step: str) -> asking.Reply:
    """Remove the guest from the server's host, in any state."""
    return move.ask(move.compute.revert_resize, **move.at_source(step), move=move.uuid)
