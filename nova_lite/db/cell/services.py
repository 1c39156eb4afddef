"""Services of a cell and their last heartbeats.

Heartbeats are written and compared by the clock of the cell's database.
"""

from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Sequence
import datetime
import math
import typing

from oslo_config import cfg
import sqlalchemy as sa

from nova_lite import exception
from nova_lite import runtime
from nova_lite import versions
from nova_lite.db import database_clock
from nova_lite.db import notes
from nova_lite.db import rows
from nova_lite.db import transactions
from nova_lite.db import types
from nova_lite.db.cell import models
from nova_lite.dialects import execute

TABLE = models.Service.__table__
COMPUTE, CONDUCTOR = 'nova-compute', 'nova-conductor'
KNOWN_S = 30
# Why hosts that may be well cannot be used: they do not report, while their cell hears its
# conductors; their cell hears nothing; the database of their cell does not answer.
SILENT, UNHEARD, UNREACHABLE = 'silent', 'unheard', 'unreachable'
# Why a new compute service is disabled.
NEW = 'New services are disabled: [DEFAULT]enable_new_services is false.'
# How many times service_down_time a cell's database is waited for.
OUTAGE = 3
# The part of service_down_time after which a cell without a conductor's heartbeat is deaf.
DEAF = 0.5
# Further values of each row: the time at which it was read, and that of the newest heartbeat of a
# conductor of the cell.
_OTHERS = TABLE.alias()
READ_AT = (
    database_clock.now().label('read_at'),
    sa.select(sa.func.max(_OTHERS.c.last_seen_up))
    .where(_OTHERS.c.binary == CONDUCTOR)
    .scalar_subquery()
    .label('conductor_seen'),
)
# A compute that is enabled and has reported within `down_time_s`.
_IS_WELL = sa.and_(
    TABLE.c.disabled.is_(False),
    TABLE.c.forced_down.is_(False),
    TABLE.c.last_seen_up >= database_clock.after('not_before'),
)


def _unless_well(
    expression: sa.ColumnElement[datetime.datetime], name: str
) -> sa.ColumnElement[datetime.datetime]:
    """Return an expression that is NULL for computes that are well."""
    return sa.type_coerce(sa.case((_IS_WELL, sa.null()), else_=expression), types.Time()).label(
        name
    )


_BRIEF = sa.select(
    *(TABLE.c[name] for name in ('host', 'version', 'disabled', 'disabled_reason', 'forced_down')),
    *(_unless_well(TABLE.c[name], name) for name in ('created_at', 'last_seen_up')),
    *(_unless_well(each.element, each.name) for each in READ_AT),
).where(TABLE.c.binary == COMPUTE)
# The status of a compute that has reported at or after `not_before`, as the API shows it with its
# servers. NULL if there is no compute.
STATUS = sa.case(
    (TABLE.c.forced_down.is_(True), 'DOWN'),
    (TABLE.c.disabled.is_(True), 'MAINTENANCE'),
    (
        sa.func.coalesce(TABLE.c.last_seen_up, TABLE.c.created_at)
        >= database_clock.after('not_before'),
        'UP',
    ),
    (TABLE.c.id.is_not(None), 'UNKNOWN'),
)
_BEAT = {'last_seen_up': database_clock.now(), 'report_count': TABLE.c.report_count + 1}
_HEARD_NOW = {'last_seen_up': database_clock.now()}
_HEARD_AGO = {'last_seen_up': database_clock.after('ago')}
# A heartbeat may have been recorded since the computes were read.
_IS_LESS_RECENT = TABLE.c.last_seen_up < database_clock.after('ago')
_KNOWN = sa.select(TABLE.c.host).where(
    TABLE.c.binary == sa.bindparam('binary'), TABLE.c.host.in_(sa.bindparam('hosts'))
)
_AHEAD = sa.select(TABLE.c.id).where(TABLE.c.last_seen_up > database_clock.after(1))
_CONDUCTORS = sa.select(database_clock.now(), sa.func.max(TABLE.c.last_seen_up)).where(
    TABLE.c.binary == CONDUCTOR
)
_HEARD_SINCE = sa.select(TABLE.c.host, TABLE.c.last_seen_up).where(
    TABLE.c.binary == COMPUTE, TABLE.c.last_seen_up >= sa.bindparam('since')
)
_OLDEST = sa.select(sa.func.min(TABLE.c.version)).where(
    TABLE.c.binary == COMPUTE, TABLE.c.version > 0
)


class ServiceIsUp(exception.Invalid):
    msg = 'Host %(host)s is up: only servers of a failed host can be evacuated.'


NOT_KNOWN = (
    'It is not known whether host %(host)s is up: its cell has not heard any host for a while.'
)


class ServiceMayBeUp(ServiceIsUp):
    msg = f'{NOT_KNOWN} Force the host down if it has failed.'


class HostUnheard(exception.Unavailable):
    """No conductor of a cell receives heartbeats, for example because the bus does not answer.

    A host that does not count as up may be well, so accepted work for it waits.
    """

    outage = True
    msg = NOT_KNOWN


class HostsSilent(exception.Unavailable):
    """Hosts without heartbeats may be well, so work that needs one of them is retried later."""

    msg = '%(reason)s'


class Oldest:
    """Caches the oldest version among a cell's computes, or None, for some seconds."""

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
    enabled: bool = True,
) -> set[str]:
    """Record the heartbeats of all hosts in one statement. Return the hosts without a service.

    version: version of the service; None: that of this release
    starting: hosts whose services are added if they do not exist; None: all hosts
    enabled: whether services that are added are enabled
    """
    hosts, version = list(hosts), version or versions.SERVICE_VERSION
    own: dict[str, typing.Any] = {'binary': binary, 'host': hosts}
    found = rows.change(connection, TABLE, {'version': version}, computed=_BEAT, **own)
    if binary != COMPUTE:
        _forget_future(connection)
    if found == len(hosts):
        return set()
    known = set(execute.values(connection, _KNOWN, {'binary': binary, 'hosts': hosts}))
    missing = set(hosts) - known
    adding = missing if starting is None else missing.intersection(starting)
    found_new = [host for host in hosts if host in adding]
    _add(connection, found_new, binary, topic, version, enabled=enabled)
    return missing - adding


def _add(
    connection: sa.Connection,
    hosts: list[str],
    binary: str,
    topic: str,
    version: int,
    *,
    enabled: bool,
) -> None:
    state = {} if enabled else {'disabled': True, 'disabled_reason': NEW}
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
                **state,
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
    ahead = execute.values(connection, _AHEAD)
    if ahead:
        rows.change(connection, TABLE, {}, computed=_HEARD_NOW, id=ahead)


def every(connection: sa.Connection, /, **where: typing.Any) -> Sequence[rows.Row]:
    """Return the services whose columns equal `where`."""
    return rows.every(connection, TABLE, order_by=TABLE.c.id, more=READ_AT, **where)


def brief(connection: sa.Connection, down_time_s: float) -> Sequence[rows.Row]:
    """Return the computes without columns that the scheduler does not need.

    All times of a compute that is up and enabled are None: for thousands of hosts it would take
    most of the reading to convert them. The others have all that `is_up` and `silence` need.
    """
    return execute.every(connection, _BRIEF, {'not_before': -down_time_s})


def served(connection: sa.Connection, hosts: Iterable[str]) -> set[str]:
    """Return the hosts that have a compute service."""
    return set(
        execute.values(connection, _KNOWN, {'binary': COMPUTE, 'hosts': execute.filled(hosts)})
    )


def find(connection: sa.Connection, host: str, binary: str = COMPUTE) -> rows.Row | None:
    """Return the service of a host, or None."""
    return rows.find(connection, TABLE, more=READ_AT, host=host, binary=binary)


def lock(connection: sa.Connection, host: str, binary: str = COMPUTE) -> None:
    """Lock a service until the transaction ends."""
    rows.lock(connection, TABLE, host=host, binary=binary)


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
    """Return whether a service has sent a heartbeat within `down_time_s` and is not forced down."""
    longest_s = longest_silence_s(down_time_s)
    return not service.forced_down and _silent_s(service) <= longest_s


def longest_silence_s(down_time_s: float) -> float:
    """Return for how many seconds a service that is up may have sent no heartbeat.

    While the machine slept, or when its clock was set, no heartbeat could arrive: that time
    does not count until each service has had the time to report again.
    """
    return down_time_s + runtime.leap_s(down_time_s / 2)


def _silent_s(service: rows.Row) -> float:
    seen = service.last_seen_up or service.created_at
    silent_s: float = (service.read_at - seen).total_seconds()
    return silent_s


def is_down(service: rows.Row, down_time_s: float) -> bool:
    """Return whether a compute is forced down, or silent while its cell can receive heartbeats.

    A compute that is neither up nor down is unheard: the cell receives no heartbeat of a conductor
    either, and these use the same bus.
    """
    if service.forced_down:
        return True
    heard = service.conductor_seen
    age_s = 0.0 if heard is None else (service.read_at - heard).total_seconds()
    deaf_s = max(0.0, age_s - down_time_s * DEAF)
    return not is_up(service, down_time_s) and _silent_s(service) - deaf_s > down_time_s


def silence(service: rows.Row, down_time_s: float) -> str | None:
    """Return the reason why a compute that is not up may be well: SILENT, UNHEARD, or None.

    None also for computes that are disabled or forced down, for which no work waits.
    """
    if service.disabled or service.forced_down or is_up(service, down_time_s):
        return None
    return SILENT if is_down(service, down_time_s) else UNHEARD


def wait_s(silence: str, conf: cfg.ConfigOpts) -> float:
    """Return how many seconds to wait for hosts for a reason: SILENT, UNHEARD or UNREACHABLE."""
    if silence == UNHEARD:
        return math.inf
    seconds = conf.report_interval if silence == SILENT else OUTAGE * conf.service_down_time
    return float(seconds)


def silence_of(error: Exception) -> str | None:
    """Return why a NoValidHost may be wrong soon, as of `wait_s`, or None."""
    kwargs = error.kwargs if isinstance(error, exception.NoValidHost) else {}
    found: str | None = kwargs.get('silent')
    return found


def require_up(service: rows.Row, down_time_s: float) -> None:
    """Raise ServiceIsDown for a compute that is down, HostUnheard for one that is unheard."""
    if is_up(service, down_time_s):
        return
    if is_down(service, down_time_s):
        raise exception.ServiceIsDown(binary=service.binary, host=service.host)
    raise HostUnheard(host=service.host)


def is_host_up(connection: sa.Connection, host: str, down_time_s: float) -> bool:
    """Return whether the compute service of a host of this cell is up."""
    service = find(connection, host)
    return service is not None and is_up(service, down_time_s)


def is_lost(connection: sa.Connection, host: str, down_time_s: float) -> bool:
    """Return whether a host of this cell is down, as `is_down`, or has no compute service."""
    return bool(lost(connection, [host], down_time_s))


def lost(connection: sa.Connection, hosts: Collection[str], down_time_s: float) -> set[str]:
    """Return the hosts, among `hosts` of this cell, for which `is_lost` is true."""
    if not hosts:
        return set()
    found = rows.every(connection, TABLE, more=READ_AT, host=list(hosts), binary=COMPUTE)
    return set(hosts) - {row.host for row in found if not is_down(row, down_time_s)}


def require_down(connection: sa.Connection, host: str, down_time_s: float) -> None:
    """Raise ServiceIsUp unless a host's compute is down, even if its state is unknown."""
    service = find(connection, host)
    if service is not None and not is_down(service, down_time_s):
        raise (ServiceIsUp if is_up(service, down_time_s) else ServiceMayBeUp)(host=host)


def keep_down(connection: sa.Connection, host: str, down_time_s: float) -> None:
    """Raise ServiceIsUp as `require_down`. Keep the compute down until the transaction ends."""
    lock(connection, host)
    require_down(connection, host, down_time_s)


def excuse(connection: sa.Connection, down_time_s: float, besides: Collection[str]) -> int:
    """Exclude the time in which no conductor of the cell could receive heartbeats.

    That is the time since the newest heartbeat of a conductor, if it is long: the bus or the
    database did not answer, all conductors were dead, the machine slept, or its clock was set.
    The heartbeats of computes that were up then are moved forward by that time.

    besides: hosts that are not changed. Return the number of changed hosts.
    """
    now, newest = execute.one(connection, _CONDUCTORS)
    if newest is None or (now - newest).total_seconds() <= down_time_s * DEAF:
        return 0
    since = newest - datetime.timedelta(seconds=down_time_s)
    silent: dict[int, list[str]] = {}
    for host, seen in execute.every(connection, _HEARD_SINCE, {'since': since}):
        if host not in besides:
            # Whole seconds, so that there are few updates for many hosts.
            seconds = max(0, round((newest - seen).total_seconds()))
            silent.setdefault(seconds, []).append(host)
    for seconds, hosts in silent.items():
        own: dict[str, typing.Any] = {'binary': COMPUTE, 'host': hosts}
        ago = {'ago': -seconds}
        rows.change(connection, TABLE, {}, _IS_LESS_RECENT, computed=_HEARD_AGO, given=ago, **own)
    return sum(len(hosts) for hosts in silent.values())


def minimum_version(connection: sa.Connection) -> int | None:
    """Return the lowest version of the compute services; None if there are none."""
    oldest: int | None = execute.value(connection, _OLDEST)
    return oldest
