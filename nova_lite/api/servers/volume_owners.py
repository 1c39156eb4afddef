"""Servers that have a volume, whatever the volume service says about it.

An administrator may set a volume in use to available (reset-state). Nova keeps it attached, so
no other server gets it.
"""

from nova_lite import cells
from nova_lite import exception
from nova_lite.db.cell import devices


class AttachedElsewhere(exception.VolumeNotUsable):
    msg = 'Invalid volume: volume %(volume_id)s is already attached to instances: %(servers)s'


def require_none(req, volume):
    """Raise AttachedElsewhere if a server in any cell that answers has the volume.

    Servers may share a multiattach volume.
    """
    if volume['multiattach']:
        return
    every = req.app.cells.every(cell0=False)
    answers, _silent = cells.split(
        req.app.cells.scatter(devices.servers_with, volume['id'], cells=every)
    )
    servers = sorted({row.uuid for known in answers.values() for row in known})
    if servers:
        raise AttachedElsewhere(volume_id=volume['id'], servers=', '.join(servers))
