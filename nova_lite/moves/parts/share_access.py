"""Access of a server's host to a share, and the record of the share.

A server with a share does not move, so whom the access admits stays as the request recorded it.
"""

import datetime

from nova_lite import exception
from nova_lite import saga
from nova_lite import states
from nova_lite.db import clock
from nova_lite.db.cell import instances
from nova_lite.db.cell import shares
from nova_lite.moves import duties
from nova_lite.moves import part
from nova_lite.moves import places

# Seconds until a rule that is not active yet is read again.
WAIT_S = 1.0


class Began(saga.Value):
    """attachment: of the share, as its client takes it"""

    host: str | None
    attachment: saga.Data


class Awaited(saga.Value):
    """since: when the rule was first found not to be active, by the clock of the database"""

    since: str


BEGIN = saga.Result('record-request', Began)
AWAITED = saga.Result('access-rule-awaited', Awaited)


class ShareAccess(part.Part):
    """The share of the saga's argument share_id. name: of the step that grants or revokes"""

    def __init__(self, move, name):
        super().__init__(move)
        self._name = name

    def begin(self, connection, row, event):
        """Begin the event. Return the result of the first step."""
        found = self.row(connection)
        self.move.events.start(connection, event, row.host)
        names = ('uuid', 'share_id', 'access_type', 'access_to')
        return Began(host=row.host, attachment={name: getattr(found, name) for name in names})

    def row(self, connection):
        """Return the record of the share. Raise ShareNotAttached."""
        move = self.move
        return shares.get(connection, move.instance_uuid, move.arguments.share_id)

    def granting(self):
        """Return the step that grants access. Its undo revokes it, and is its duty too."""
        clean = saga.Clean(self._revoke_foreign, alone=True)
        return places.SHARES.step(self._name, self.grant, self.revoke, clean=clean)

    def grant(self):
        """Grant access. Raise ShareNotUsable if the rule does not become active in time."""
        move = self.move
        if move.world.share.grant(move.ctxt, move.began.attachment):
            return None
        timeout_s = move.world.conf.manila.share_apply_policy_timeout
        if self._waited_s() >= timeout_s:
            raise exception.ShareNotUsable(
                share_id=move.arguments.share_id,
                reason=f'its access rule did not become active within {timeout_s} s',
            )
        return saga.Pending(wake_in=WAIT_S, detail='the access rule is not active yet')

    def _waited_s(self):
        """Return for how long the rule has been found not to be active."""
        now = self.move.world.api_db.read(clock.read)
        awaited = self.move.results.get(AWAITED)
        if awaited is None:
            self.move.results[AWAITED] = Awaited(since=now.isoformat())
            return 0
        return (now - datetime.datetime.fromisoformat(awaited.since)).total_seconds()

    def revoke(self):
        """Take the access back. This may be repeated."""
        if self.move.has_begun:
            self.move.world.share.revoke(self.move.ctxt, self.move.began.attachment)

    def _revoke_foreign(self):
        """Take the access back, unless a later request has attached the share by this record."""
        cell, row = duties.now(self.move)
        if row is not None:
            found = cell.read(shares.find, row.uuid, self.move.arguments.share_id)
            mine = found is not None and found.uuid == self.move.began.attachment['uuid']
            if mine and found.granted:
                return
        self.revoke()

    def fail(self, connection, row):
        """Record that the share is neither attached nor detached. row: None if it is gone

        A failed detachment may have revoked a part of the access, so none counts as granted.
        """
        if row is None:
            return
        found = shares.find(connection, row.uuid, self.move.arguments.share_id)
        if found is not None:
            between = (states.ShareStatus.ATTACHING, states.ShareStatus.DETACHING)
            error = {'status': str(states.ShareStatus.ERROR), 'granted': False}
            shares.change(connection, found.uuid, error, status=between)

    @part.transaction
    def finish(self, connection, change):
        """Run a transaction that calls `change(connection, uuid)` and ends the events."""
        move = self.move
        move.require_there(instances.lock(connection, move.instance_uuid))
        if not change(connection, self.row(connection).uuid):
            raise exception.StateChanged(
                what='Share', key=move.arguments.share_id, detail='its status has changed'
            )
        move.events.end_all(connection)
