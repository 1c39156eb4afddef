"""Detach a share: revoke the access of the server's host and forget the share.

The server is off, so its host has not mounted the share. A failure leaves the share in error,
and it can be detached again.
"""

from nova_lite.db.cell import instances
from nova_lite.db.cell import shares
from nova_lite.moves import move
from nova_lite.moves import part
from nova_lite.moves import places
from nova_lite.moves import steps
from nova_lite.moves.parts import share_access

REVOKE = 'revoke-access-to-share'
EVENT = 'compute_detach_share'


class Arguments(move.Arguments):
    """share_id: of the share to detach"""

    share_id: str


class DetachShare(move.Move[share_access.Began]):
    """Detach a share from a server."""

    arguments: Arguments
    kind = 'detach-share'
    first = share_access.BEGIN
    named = ('share_id',)
    faults = False
    access = part.Of(share_access.ShareAccess, REVOKE)

    def steps(self):
        return (
            steps.begin(self),
            places.SHARES.step(REVOKE, self.access.revoke),
            places.SOURCE_RECORDS.step('forget-attachment', self.forget, pivot=True),
        )

    def record_begin(self, connection, row):
        self.require_there(row)
        return self.access.begin(connection, row, EVENT)

    def record_undo(self, connection, row):
        self.access.fail(connection, row)

    @part.transaction
    def forget(self, connection):
        """Remove the record of the share. This is the pivot."""
        instances.lock(connection, self.instance_uuid)
        shares.destroy(connection, self.instance_uuid, self.began.attachment['uuid'])
        self.events.end_all(connection)
