"""Services of a cell: who is there and when each was last heard of.

Heartbeats are written and compared by the clock of the cell's database.
"""

from collections.abc import Iterable
from collections.abc import Sequence
import datetime
import typing

import sqlalchemy as sa

from nova_lite import exception
from nova_lite import runtime
from nova_lite import versions
from nova_lite.db import database_clock
from nova_lite.db import notes
from nova_lite.db import rows
from nova_lite.db import transactions
from nova_lite.db.cell import models
from nova_lite.dialects import lean

TABLE = models.Service.__table__
COMPUTE, CONDUCTOR = 'nova-compute', 'nova-conductor'
KNOWN_S = 30
# What every row has besides its columns: the instant at which it was read.
READ_AT = (database_clock.now().label('read_at'),)
_BEAT = {'last_seen_up': database_clock.now(), 'report_count': TABLE.c.report_count + 1}
_HEARD_NOW = {'last_seen_up': database_clock.now()}
_KNOWN = sa.select(TABLE.c.host).where(
    TABLE.c.binary == sa.bindparam('binary'), TABLE.c.host.in_(sa.bindparam('hosts'))
)
_AHEAD = sa.select(TABLE.c.id).where(TABLE.c.last_seen_up > database_clock.after(1))
_CONDUCTORS = sa.select(database_clock.now(), sa.func.max(TABLE.c.last_seen_up)).where(
    TABLE.c.binary == CONDUCTOR
)
_HEARD_SINCE = sa.select(TABLE.c.host).where(
    TABLE.c.binary == COMPUTE, TABLE.c.last_seen_up >= sa.bindparam('since')
)
_OLDEST = sa.select(sa.func.min(TABLE.c.version)).where(
    TABLE.c.binary == sa.bindparam('binary'), TABLE.c.version > 0
)


class ServiceIsUp(exception.Invalid):
    msg = 'Host %(host)s is up: only servers of a failed host can be evacuated.'


class Oldest:
    """The oldest version among a cell's computes, or None; read again after a while."""

    def __init__(self, database: transactions.Database) -> None:
        self._database = database
        self._known: tuple[float, int | None] | None = None

    def __call__(self) -> int | None:
        now = runtime.monotonic()
        if self._known is None or now - self._known[0] >= KNOWN_S:
            self._known = (now, self._database.read(minimum_version))
        return self._known[1]


def beat(
    connection: sa.Connection,
    hosts: Iterable[str],
    binary: str,
    topic: str,
    *,
    version: int | None = None,
    starting: Iterable[str] | None = None,
) -> set[str]:
    """Record a heartbeat of every host in one go. Return the hosts that have no service.

    version: of the service; None: of this release
    starting: hosts whose services are added if they do not exist; None: all
    """
    hosts, version = list(hosts), version or versions.SERVICE_VERSION
    own: dict[str, typing.Any] = {'binary': binary, 'host': hosts}
    found = rows.change(connection, TABLE, {'version': version}, computed=_BEAT, **own)
    if binary != COMPUTE:
        _forget_future(connection)
    if found == len(hosts):
        return set()
    known = set(lean.values(connection, _KNOWN, {'binary': binary, 'hosts': hosts}))
    missing = set(hosts) - known
    adding = missing if starting is None else missing.intersection(starting)
    _add(connection, [host for host in hosts if host in adding], binary, topic, version)
    return missing - adding


def _add(
    connection: sa.Connection, hosts: list[str], binary: str, topic: str, version: int
) -> None:
    rows.insert(
        connection,
        TABLE,
        [
            {
                'uuid': runtime.new_uuid(),
                'host': host,
                'binary': binary,
                'topic': topic,
                'version': version,
                'report_count': 1,
            }
            for host in hosts
        ],
        last_seen_up=database_clock.now(),
    )
    if notes.is_kept(connection):
        for row in rows.every(connection, TABLE, host=hosts, binary=binary):
            _note(connection, 'service.create', row)


def _forget_future(connection: sa.Connection) -> None:
    """Reset heartbeats in the future, after the clock was set back."""
    ahead = lean.values(connection, _AHEAD)
    if ahead:
        rows.change(connection, TABLE, {}, computed=_HEARD_NOW, id=ahead)


def every(connection: sa.Connection, /, **where: typing.Any) -> Sequence[rows.Row]:
    """Services whose columns equal `where`."""
    return rows.every(connection, TABLE, order_by=TABLE.c.id, more=READ_AT, **where)


def served(connection: sa.Connection, hosts: Iterable[str]) -> set[str]:
    """Return those of these hosts that have a compute service."""
    return set(lean.values(connection, _KNOWN, {'binary': COMPUTE, 'hosts': lean.filled(hosts)}))


def find(connection: sa.Connection, host: str, binary: str = COMPUTE) -> rows.Row | None:
    """Return the service of a host, or None."""
    return rows.find(connection, TABLE, more=READ_AT, host=host, binary=binary)


def lock(connection: sa.Connection, host: str, binary: str = COMPUTE) -> None:
    """Keep other transactions that lock the same service waiting until this one ends."""
    rows.lock(connection, TABLE, host=host, binary=binary)


def get(connection: sa.Connection, uuid: str) -> rows.Row:
    """Return one service by uuid. Raise ServiceNotFound."""
    error = exception.ServiceNotFound(service_id=uuid)
    return rows.get(connection, TABLE, error, more=READ_AT, uuid=uuid)


def update(connection: sa.Connection, uuid: str, values: rows.Values) -> None:
    """Change columns of a service."""
    rows.change(connection, TABLE, values, uuid=uuid)
    if notes.is_kept(connection):
        _note(connection, 'service.update', rows.find(connection, TABLE, uuid=uuid))


def destroy(connection: sa.Connection, uuid: str) -> None:
    """Remove a service."""
    if notes.is_kept(connection):
        _note(connection, 'service.delete', rows.find(connection, TABLE, uuid=uuid))
    rows.delete(connection, TABLE, uuid=uuid)


def _note(connection: sa.Connection, what: str, row: rows.Row | None) -> None:
    if row is not None:
        values = {**row._mapping, 'availability_zone': None}
        notes.add(connection, what, values=values)


def is_up(service: rows.Row, down_time_s: float) -> bool:
    """Return whether a service was heard of within `down_time_s` seconds and is not forced down.

    While this machine slept, or when its clock was set, no service could be heard of: that
    time does not count until each has had the time to report again.
    """
    leap_s = runtime.leap_s(down_time_s / 2)
    if service.forced_down:
        return False
    seen = service.last_seen_up or service.created_at
    silent_s: float = (service.read_at - seen).total_seconds()
    return silent_s - leap_s <= down_time_s


def is_host_up(connection: sa.Connection, host: str, down_time_s: float) -> bool:
    """Return whether the compute service of a host of this cell is up."""
    service = find(connection, host)
    return service is not None and is_up(service, down_time_s)


def require_down(connection: sa.Connection, host: str, down_time_s: float) -> None:
    """Raise ServiceIsUp unless a host's compute is down."""
    if is_host_up(connection, host, down_time_s):
        raise ServiceIsUp(host=host)


def keep_down(connection: sa.Connection, host: str, down_time_s: float) -> None:
    """Do as `require_down`, and keep the compute down until this transaction ends."""
    lock(connection, host)
    require_down(connection, host, down_time_s)


def unheard(connection: sa.Connection, down_time_s: float) -> Sequence[str]:
    """Return computes (hosts) that were up when a conductor of the cell was last.

    None are when a conductor has reported since. Otherwise their heartbeats had no way
    in: the database did not answer, the machine slept, or its clock was set.
    """
    now, newest = lean.one(connection, _CONDUCTORS)
    if newest is None or (now - newest).total_seconds() <= down_time_s:
        return []
    since = newest - datetime.timedelta(seconds=down_time_s)
    return lean.values(connection, _HEARD_SINCE, {'since': since})


def excuse(connection: sa.Connection, hosts: Iterable[str]) -> None:
    """Treat computes as if they had just sent a heartbeat."""
    rows.change(connection, TABLE, {}, computed=_HEARD_NOW, binary=COMPUTE, host=list(hosts))


def minimum_version(connection: sa.Connection, binary: str = COMPUTE) -> int | None:
    """Return the oldest version among the services of `binary`; None when there is none."""
    oldest: int | None = lean.value(connection, _OLDEST, {'binary': binary})
    return oldest
