"""Attach a share to a server that is off, and detach it: its host's access, and its record.

The host mounts the share when the guest starts (compute.mounts). A failure leaves the share in the
status error, and it can be detached. A server with a share does not move, so the host or user to
which access is granted stays as the request has recorded it.
"""

import datetime
import typing

import sqlalchemy as sa

from nova_lite import exception
from nova_lite import saga
from nova_lite import states
from nova_lite.clients import share as share_client
from nova_lite.db import database_clock
from nova_lite.db import rows
from nova_lite.db.cell import instances
from nova_lite.db.cell import shares
from nova_lite.moves import duties
from nova_lite.moves import move
from nova_lite.moves import places
from nova_lite.moves import scope as scopes

Status = states.ShareStatus

ATTACH, DETACH = 'attach-share', 'detach-share'
# Seconds until a rule that is not active yet is read again.
WAIT_S = 1.0


class Arguments(scopes.Arguments):
    """share_id: id of the share, which is already recorded"""

    share_id: str


class Began(saga.Value):
    """attachment: the clients.share.Attachment, as plain values"""

    host: str | None
    attachment: saga.Data


class Awaited(saga.Value):
    """since: time by the database's clock at which the rule was first found not to be active"""

    since: str


BEGIN = saga.Result('record-request', Began)
AWAITED = saga.Result('access-rule-awaited', Awaited)


class ShareAttachment(move.Move[Began]):
    """Attach a share to a server, or detach it."""

    arguments: Arguments
    kind, also = ATTACH, (DETACH,)
    first = BEGIN
    named = ('share_id',)
    faults = False

    def steps(self) -> saga.Steps:
        steps_of_kind = self._attaching if self.kind == ATTACH else self._detaching
        return (self.beginning(), *steps_of_kind())

    def _attaching(self) -> saga.Steps:
        clean = saga.Clean(self._revoke_foreign, alone=True)
        return (
            places.SHARES.step('grant-access-to-share', self.grant, self.revoke, clean=clean),
            places.SOURCE_RECORDS.step('record-attachment', self.record, pivot=True),
        )

    def _detaching(self) -> saga.Steps:
        return (
            places.SHARES.step('revoke-access-to-share', self.revoke),
            places.SOURCE_RECORDS.step('forget-attachment', self.forget, pivot=True),
        )

    def record_begin(self, connection: sa.Connection, row: rows.Row | None) -> Began:
        row = self.scope.require_there(row)
        event = 'compute_allow_share' if self.kind == ATTACH else 'compute_deny_share'
        self.events.start(connection, event, row.host)
        found = shares.get(connection, self.instance_uuid, self.arguments.share_id)
        names = ('uuid', 'share_id', 'access_type', 'access_to')
        return Began(host=row.host, attachment={name: getattr(found, name) for name in names})

    def record_undo(self, connection: sa.Connection, row: rows.Row | None) -> None:
        """Record that the share is neither attached nor detached.

        A failed detachment may have revoked a part of the access, so none counts as granted.
        """
        found = row and shares.find(connection, row.uuid, self.arguments.share_id)
        if found is not None:
            error = {'status': str(Status.ERROR), 'granted': False}
            between = (Status.ATTACHING, Status.DETACHING)
            shares.change(connection, found.uuid, error, status=between)

    @property
    def attachment(self) -> share_client.Attachment:
        """Return the attachment as the client's argument."""
        return typing.cast(share_client.Attachment, self.began.attachment)

    def grant(self) -> saga.Pending | None:
        """Grant access. Raise ShareNotUsable if the rule does not become active in time."""
        if self.world.share.grant(self.ctxt, self.attachment):
            return None
        timeout_s = self.world.conf.manila.share_apply_policy_timeout
        if self._waited_s() >= timeout_s:
            raise exception.ShareNotUsable(
                share_id=self.arguments.share_id,
                reason=f'its access rule did not become active within {timeout_s} s',
            )
        return saga.Pending(wake_in=WAIT_S, detail='the access rule is not active yet')

    def _waited_s(self) -> float:
        """Return for how long the rule has been found not to be active."""
        now = self.world.api_db.read(database_clock.read)
        awaited = self.results.get(AWAITED)
        if awaited is None:
            self.results[AWAITED] = Awaited(since=now.isoformat())
            return 0
        return (now - datetime.datetime.fromisoformat(awaited.since)).total_seconds()

    def revoke(self) -> None:
        """Revoke the access. This may be repeated."""
        if self.has_begun:
            self.world.share.revoke(self.ctxt, self.attachment)

    def _revoke_foreign(self) -> None:
        """Revoke the access, unless a later request has attached the share by this record."""
        cell, row = duties.now(self.scope)
        if cell is not None and row is not None:
            found = cell.read(shares.find, row.uuid, self.arguments.share_id)
            mine = self.attachment['uuid']
            if found is not None and found.uuid == mine and found.granted:
                return
        self.revoke()

    @scopes.transaction
    def record(self, connection: sa.Connection) -> None:
        """Record that the share can be mounted. This is the pivot."""
        self.scope.require_there(instances.lock(connection, self.instance_uuid))
        share_id = self.arguments.share_id
        found = shares.get(connection, self.instance_uuid, share_id)
        values = {'status': str(Status.INACTIVE), 'granted': True}
        # If the pivot is repeated, the record has its result already.
        before = (Status.ATTACHING, Status.INACTIVE)
        if not shares.change(connection, found.uuid, values, status=before):
            detail = 'its status has changed'
            raise exception.StateChanged(what='Share', key=share_id, detail=detail)
        self.events.end_all(connection)

    @scopes.transaction
    def forget(self, connection: sa.Connection) -> None:
        """Remove the record of the share. This is the pivot."""
        instances.lock(connection, self.instance_uuid)
        shares.destroy(connection, self.instance_uuid, self.began.attachment['uuid'])
        self.events.end_all(connection)
