"""Shared parts of shelving, offloading, unshelving and rebuilding, within a cell.

Source: reference/nova/moves 1, reference/nova/api-surface 2.4.
"""

from collections.abc import Callable
from collections.abc import Mapping

import sqlalchemy as sa

from nova_lite import exception
from nova_lite import saga
from nova_lite.clients import image as image_client
from nova_lite.clients import release
from nova_lite.clients import session
from nova_lite.db import rows
from nova_lite.moves import asking
from nova_lite.moves import duties
from nova_lite.moves import scope as scopes
from nova_lite.moves import server_cell
from nova_lite.moves import steps
from nova_lite.moves.parts import progress_records
from nova_lite.moves.parts import volumes

BEGIN = saga.Result('record-action', steps.Began)
RESERVE = saga.Result('reserve-volumes', steps.Reserved)
SHELVE_EVENT = 'compute_shelve_instance'
OFFLOAD_EVENT = 'compute_shelve_offload_instance'
# Keys of a shelved server's system metadata, with nova's names.
SHELVED_AT, IMAGE_ID, HOST = 'shelved_at', release.SHELVED_IMAGE, 'shelved_host'
# Statuses of a shelved image that has the disk of its server.
COMPLETE = ('active', 'deactivated')


def attachments(
    scope: scopes.Scope,
    *,
    needless: Callable[[], bool] = lambda: False,
    devices: Callable[[], server_cell.Devices] | None = None,
) -> volumes.Volumes:
    """Return Volumes with new attachments that connect no host. needless, devices: see Volumes"""
    return volumes.Volumes(
        scope, RESERVE, needless=needless, gone=lambda: scope.is_gone(), devices=devices
    )


def without_shelf(system_metadata: Mapping[str, str]) -> dict[str, str]:
    """Return a server's system metadata without the keys of a shelved server."""
    return {
        name: value
        for name, value in system_metadata.items()
        if name not in (SHELVED_AT, IMAGE_ID, HOST)
    }


def require_image(images: image_client.Image, ctxt: session.Ctxt, row: rows.Row) -> None:
    """Raise ImageNotFound or ImageNotUsable if a server's shelved image does not have its disk."""
    image_id = row.system_metadata.get(IMAGE_ID)
    if image_id is None:
        return
    status = images.get(ctxt, image_id)['status']
    if status not in COMPLETE:
        raise exception.ImageNotUsable(image_id=image_id, reason=f'its status is {status}')


def drop_image(scope: scopes.Scope, image_id: str | None) -> None:
    """Delete a shelved image. If the image service refuses that, the image stays."""
    images = release.Images(shelved=image_id)
    release.drop_images(scope.world.image, scope.ctxt, scope.instance_uuid, images)


def drop_unnamed_image(scope: scopes.Scope, image_id: str | None) -> None:
    """Delete a shelved image, unless the server's record in its current cell names it."""
    _cell, row = duties.now(scope)
    named = None if row is None else row.system_metadata.get(IMAGE_ID)
    if named != image_id:
        drop_image(scope, image_id)


def begin(
    progress: progress_records.Progress,
    connection: sa.Connection,
    row: rows.Row | None,
    event: str,
    *,
    at_host: bool = True,
) -> steps.Began:
    """Begin the event. Return the result of the first step.

    at_host: whether the server's host does the work of the event, not the super-conductor
    """
    row = progress.scope.require_there(row)
    progress.note(connection, started=(event, row.host if at_host else None))
    return steps.Began.of(row)


def start(scope: scopes.Scope, host: scopes.End, step: str) -> asking.Reply:
    """Start the guest on the server's host."""
    method = host.compute.finish_revert_resize
    return asking.ask(scope, method, **host.asked(step), move=scope.uuid, power_on=True)


def stop(
    scope: scopes.Scope, host: scopes.End, step: str, image_id: str | None = None
) -> asking.Reply:
    """Stop the guest on the server's host. With an image_id, upload its disk."""
    method = host.compute.prep_snapshot_based_resize_at_source
    return asking.ask(scope, method, **host.asked(step), image_id=image_id)


def remove(scope: scopes.Scope, host: scopes.End, step: str) -> asking.Reply:
    """Remove the guest from the server's host, in any state."""
    return asking.ask(scope, host.compute.revert_resize, **host.asked(step), move=scope.uuid)
