"""Servers that have a volume, even if the volume service reports the volume as free.

An administrator may set a volume in use to available (reset-state). Nova keeps the volume attached,
so no other server may attach it.
"""

from nova_lite import cells
from nova_lite import exception
from nova_lite import states
from nova_lite.api import request
from nova_lite.clients import session
from nova_lite.db import rows
from nova_lite.db.cell import devices


class AttachedElsewhere(exception.VolumeNotUsable):
    msg = 'Invalid volume: volume %(volume_id)s is already attached to instances: %(servers)s'


def require_none(req: request.Request, volume: session.Json) -> None:
    """Raise AttachedElsewhere if a server in any cell that answers has the volume.

    Servers may share a multiattach volume. The volumes of a server that could not be built, or that
    is being deleted, become available while the record of the server still names them.
    """
    if volume['multiattach']:
        return
    every = req.app.cells.every(cell0=False)
    answers, _silent = cells.split(
        req.app.cells.scatter(devices.servers_with, volume['id'], cells=every)
    )
    servers = sorted({row.uuid for known in answers.values() for row in known if _uses(row)})
    if servers:
        raise AttachedElsewhere(volume_id=volume['id'], servers=', '.join(servers))


def _uses(row: rows.Row) -> bool:
    """Return whether a server still needs its volume."""
    was_built = row.host is not None or row.vm_state != states.VmState.ERROR
    return was_built and bool(row.task_state != states.TaskState.DELETING)
