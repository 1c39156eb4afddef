"""Build requests: servers that were accepted and are in no cell yet.

A row is also the journal of the build: the owner of its epoch may finish the build, and the sweep
takes over a row whose lease has expired. Readers do not see a withdrawn row, which stays until the
remains of a builder are cleaned up. They do not see an intent either, the row of a server that is
not accepted yet: its reservations are released unless the intent is redeemed before its lease ends.
"""

from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
import typing

import sqlalchemy as sa

from nova_lite import exception
from nova_lite.db import database_clock
from nova_lite.db import rows
from nova_lite.db.api import models
from nova_lite.dialects import execute
from nova_lite.dialects import writing
from nova_lite.saga import retries

TABLE = models.BuildRequest.__table__
# Computed columns of a new lease, of a withdrawn request, of an intent (withdrawn unless it is
# redeemed before the lease ends), and of a request that is taken over.
_LEASE = {'lease_until': database_clock.after('lease_s')}
_WITHDRAWN = {'withdrawn_at': database_clock.now(), **_LEASE}
_TAKEN = {'epoch': TABLE.c.epoch + 1, **_LEASE}
_FAILED = {'failures': TABLE.c.failures + 1}
# The argument of builds that have waited for hosts: {why: since when, in seconds since 1970}.
_WAITS = 'waits_for_hosts'
_IS_DUE = database_clock.is_over(TABLE.c.lease_until, retries.LONGEST_LEASE_S)
_IS_LONGER = TABLE.c.lease_until > database_clock.after('lease_s')
_IS_OLD = TABLE.c.withdrawn_at <= database_clock.after('age')
_FIRST = (TABLE.c.lease_until, TABLE.c.id)
_DUE_BATCHES = (
    sa.select(TABLE.c.reservation_id)
    .where(
        _IS_DUE,
        TABLE.c.withdrawn.is_(False),
        TABLE.c.reservation_id.not_in(sa.bindparam('besides')),
    )
    .order_by(*_FIRST)
    .limit(sa.bindparam('most', type_=sa.Integer))
)
_DUE_OF_BATCH = writing.locking(
    sa.select(TABLE.c.id).where(
        TABLE.c.reservation_id == sa.bindparam('reservation'),
        _IS_DUE,
        TABLE.c.withdrawn.is_(False),
    )
)
_DUE_WITHDRAWN = writing.locking(
    sa.select(TABLE.c.id, TABLE.c.epoch)
    .where(_IS_DUE, TABLE.c.withdrawn.is_(True))
    .order_by(*_FIRST)
    .limit(20)
)
# The columns that lists show. The others are as large again, and a list reads all rows.
_LISTED = (
    sa.select(
        TABLE.c.instance_uuid, TABLE.c.created_at, TABLE.c.epoch, TABLE.c.instance, TABLE.c.tags
    )
    .where(TABLE.c.withdrawn.is_(False))
    .order_by(TABLE.c.id.desc())
)
_LISTED_OF_PROJECT = _LISTED.where(TABLE.c.project_id == sa.bindparam('project'))


def create(
    connection: sa.Connection, values: Sequence[rows.Values], lease_s: float | None = None
) -> None:
    """Add build requests (a list of dicts of columns).

    lease_s: seconds after which the sweep takes over the builds; None: as in `values`
    """
    if lease_s is None:
        rows.insert(connection, TABLE, values)
    else:
        rows.insert(connection, TABLE, values, given={'lease_s': lease_s}, **_LEASE)


def intend(connection: sa.Connection, values: Iterable[rows.Values], *, lease_s: float) -> None:
    """Add intents (see `create`). Their reservations are released when the lease has expired."""
    intents = [{**each, 'withdrawn': True} for each in values]
    rows.insert(connection, TABLE, intents, given={'lease_s': lease_s}, **_WITHDRAWN)


def redeem(connection: sa.Connection, uuids: Collection[str]) -> None:
    """Delete the intents of accepted servers. Raise Conflict if a lease has expired."""
    if rows.delete(connection, TABLE, **_intents(uuids)) != len(uuids):
        raise _lost()


def renew_intents(connection: sa.Connection, uuids: Collection[str], *, lease_s: float) -> None:
    """Renew the lease of intents. Raise Conflict if a lease has expired."""
    lease: dict[str, typing.Any] = {'computed': _WITHDRAWN, 'given': {'lease_s': lease_s}}
    if rows.change(connection, TABLE, {}, **lease, **_intents(uuids)) != len(uuids):
        raise _lost()


def abandon(connection: sa.Connection, uuids: Iterable[str]) -> None:
    """Prevent that intents are redeemed. Wait for a transaction that redeems them now."""
    rows.change(connection, TABLE, {'epoch': 1}, **_intents(uuids))


def _intents(uuids: Iterable[str]) -> dict[str, typing.Any]:
    """Return the conditions of intents whose cleanup has not begun."""
    return {'instance_uuid': list(uuids), 'withdrawn': True, 'epoch': 0}


def _lost() -> exception.Conflict:
    """Return the error of an expired lease, after which reservations are released."""
    return exception.Conflict(
        reason='the volumes of the servers were reserved for too long. Try again.'
    )


def get(connection: sa.Connection, uuid: str) -> rows.Row:
    """Return one build request. Raise BuildRequestNotFound."""
    return rows.get(
        connection,
        TABLE,
        exception.BuildRequestNotFound(uuid=uuid),
        instance_uuid=uuid,
        withdrawn=False,
    )


def find(connection: sa.Connection, uuid: str) -> rows.Row | None:
    """Return one build request or None."""
    return rows.find(connection, TABLE, instance_uuid=uuid, withdrawn=False)


def of(
    connection: sa.Connection, uuids: Iterable[str], more: tuple[rows.Expression, ...] = ()
) -> Sequence[rows.Row]:
    """Return the build requests of several servers, in the order of their acceptance.

    more: such as `request_specs.OF_BUILD_REQUEST`, see `rows.get`
    """
    return rows.every(
        connection,
        TABLE,
        order_by=TABLE.c.id,
        more=more,
        instance_uuid=list(uuids),
        withdrawn=False,
    )


def every(connection: sa.Connection, project_id: str | None = None) -> Sequence[rows.Row]:
    """Return all build requests, or those of a project, newest first.

    The rows have the columns instance_uuid, created_at, epoch, instance and tags.
    """
    if project_id is None:
        return execute.every(connection, _LISTED)
    return execute.every(connection, _LISTED_OF_PROJECT, {'project': project_id})


def drop(connection: sa.Connection, epoch_of: Mapping[str, int]) -> None:
    """Remove build requests that these epochs own. epoch_of: {server's uuid: epoch}

    Raises StateChanged if the user deleted one of them or another owner took over.
    """
    for epoch in dict.fromkeys(epoch_of.values()):
        uuids = [uuid for uuid, own in epoch_of.items() if own == epoch]
        if rows.delete(connection, TABLE, instance_uuid=uuids, epoch=epoch) != len(uuids):
            raise exception.StateChanged(
                what='Build request', key=', '.join(uuids), detail=f'no row with epoch {epoch}'
            )


def withdraw(connection: sa.Connection, uuid: str, lease_s: float) -> rows.Row | None:
    """Withdraw a build request. Return its row with a new epoch, or None if it does not exist.

    The caller owns the lease, and must clean up.
    """
    row = rows.lock(connection, TABLE, instance_uuid=uuid, withdrawn=False)
    if row is None:
        return None
    values, given = {'withdrawn': True, 'epoch': row.epoch + 1}, {'lease_s': lease_s}
    rows.change(connection, TABLE, values, computed=_WITHDRAWN, given=given, id=row.id)
    return rows.find(connection, TABLE, id=row.id)


def forget(connection: sa.Connection, uuid: str | list[str], epoch: int) -> None:
    """Remove a withdrawn build request that this epoch owns. uuid: one server's or several"""
    rows.delete(connection, TABLE, instance_uuid=uuid, epoch=epoch, withdrawn=True)


def forget_old(connection: sa.Connection, uuid: str, epoch: int, age_s: float) -> None:
    """Remove a withdrawn build request of this epoch if it was withdrawn at least `age_s` ago."""
    own = {'instance_uuid': uuid, 'epoch': epoch, 'withdrawn': True}
    rows.delete(connection, TABLE, _IS_OLD, given={'age': -age_s}, **own)


def take_over(
    connection: sa.Connection, lease_s: float, limit: int = 20, besides: Iterable[str] = ()
) -> dict[str, Sequence[rows.Row]]:
    """Take over the requests whose leases expired first, all requests of a batch together.

    They are locked before they are changed, so that a concurrent sweep does not get them.

    besides: reservation ids that are not taken over
    Returns {reservation id: [row, ...]} with the raised epochs.
    """
    due = execute.values(
        connection, _DUE_BATCHES, {'besides': execute.filled(besides), 'most': limit}
    )
    batches = {}
    for reservation_id in dict.fromkeys(due):
        mine = execute.values(connection, _DUE_OF_BATCH, {'reservation': reservation_id})
        rows.change(connection, TABLE, {}, computed=_TAKEN, given={'lease_s': lease_s}, id=mine)
        found = rows.every(connection, TABLE, order_by=TABLE.c.id, id=mine)
        if found:
            batches[reservation_id] = found
    return batches


def take_over_withdrawn(connection: sa.Connection, lease_s: float) -> Sequence[rows.Row]:
    """Take over the 20 withdrawn requests whose leases expired first. Return their rows.

    The lease of a request doubles each time, up to LONGEST_LEASE_S.
    """
    due = execute.every(connection, _DUE_WITHDRAWN)
    for key, epoch in due:
        pause_s = retries.pause_s(epoch, lease_s, retries.LONGEST_LEASE_S)
        lease: dict[str, typing.Any] = {'computed': _LEASE, 'given': {'lease_s': pause_s}}
        rows.change(connection, TABLE, {'epoch': epoch + 1}, **lease, id=key)
    if not due:
        return []
    return rows.every(connection, TABLE, order_by=TABLE.c.id, id=[key for key, _epoch in due])


def count_failure(connection: sa.Connection, epoch_of: Mapping[str, int]) -> dict[str, int]:
    """Count a failure of builds. Return {server's uuid: number of failures so far}.

    epoch_of: {server's uuid: epoch}
    """
    counted = {}
    for uuid, epoch in epoch_of.items():
        own: dict[str, typing.Any] = {'instance_uuid': uuid, 'epoch': epoch, 'withdrawn': False}
        if rows.change(connection, TABLE, {}, computed=_FAILED, **own):
            counted[uuid] = get(connection, uuid).failures
    return counted


def wait(connection: sa.Connection, epoch_of: Mapping[str, int], why: str, now: float) -> float:
    """Note that the builds that these epochs own wait for a reason. Return since when.

    epoch_of: {server's uuid: epoch}; now: in seconds since 1970, as is the result
    """
    waits = [now]
    for uuid, epoch in epoch_of.items():
        row = rows.find(connection, TABLE, instance_uuid=uuid, epoch=epoch, withdrawn=False)
        if row is None:
            continue
        since = row.arguments.get(_WAITS, {})
        waits.append(since.get(why, now))
        values = {'arguments': {**row.arguments, _WAITS: {why: now, **since}}}
        rows.change(connection, TABLE, values, id=row.id, epoch=row.epoch)
    return min(waits)


def hurry(connection: sa.Connection, in_s: float) -> None:
    """End the leases of all builds in `in_s` seconds at the latest."""
    lease: dict[str, typing.Any] = {'computed': _LEASE, 'given': {'lease_s': in_s}}
    rows.change(connection, TABLE, {}, _IS_LONGER, **lease, withdrawn=False)


def expire(connection: sa.Connection, epoch_of: Mapping[str, int], in_s: float = 0) -> None:
    """End the leases of builds in `in_s` seconds, so that a sweep continues the builds then.

    epoch_of: {server's uuid: epoch}
    """
    for uuid, epoch in epoch_of.items():
        lease: dict[str, typing.Any] = {'computed': _LEASE, 'given': {'lease_s': in_s}}
        rows.change(connection, TABLE, {}, **lease, instance_uuid=uuid, epoch=epoch)
