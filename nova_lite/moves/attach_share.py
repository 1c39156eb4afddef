"""Attach a share: let the server's host mount it, and lock it.

The server is off. Its host mounts the share when the guest starts (compute.mounts).
"""

from nova_lite import states
from nova_lite.db.cell import shares
from nova_lite.moves import move
from nova_lite.moves import part
from nova_lite.moves import places
from nova_lite.moves import steps
from nova_lite.moves.parts import share_access

GRANT = 'grant-access-to-share'
EVENT = 'compute_attach_share'


class Arguments(move.Arguments):
    """share_id: of the share, whose record the order has created"""

    share_id: str


class AttachShare(move.Move[share_access.Began]):
    """Attach a share to a server."""

    arguments: Arguments
    kind = 'attach-share'
    first = share_access.BEGIN
    named = ('share_id',)
    faults = False
    access = part.Of(share_access.ShareAccess, GRANT)

    def steps(self):
        return (
            steps.begin(self),
            self.access.granting(),
            places.SOURCE_RECORDS.step('record-attachment', self.record, pivot=True),
        )

    def record_begin(self, connection, row):
        self.require_there(row)
        return self.access.begin(connection, row, EVENT)

    def record_undo(self, connection, row):
        self.access.fail(connection, row)

    def record(self):
        """Record that the share can be mounted. This is the pivot."""
        self.access.finish(_attach)


def _attach(connection, uuid):
    # A repeated pivot finds its own result.
    before = (states.ShareStatus.ATTACHING, states.ShareStatus.INACTIVE)
    values = {'status': str(states.ShareStatus.INACTIVE), 'granted': True}
    return shares.change(connection, uuid, values, status=before)
