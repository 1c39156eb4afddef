"""Services of a cell: who is there and when each was last heard of."""

import sqlalchemy as sa

from nova_lite import exception
from nova_lite import runtime
from nova_lite import versions
from nova_lite.db import notes
from nova_lite.db import rows
from nova_lite.db.cell import models

TABLE = models.Service.__table__
COMPUTE = 'nova-compute'
KNOWN_S = 30


class Oldest:
    """The oldest version among a cell's computes, or None; read again after a while."""

    def __init__(self, database):
        self._database = database
        self._known = None

    def __call__(self):
        now = runtime.monotonic()
        if self._known is None or now - self._known[0] >= KNOWN_S:
            self._known = (now, self._database.read(minimum_version))
        return self._known[1]


def beat(connection, hosts, binary, topic, *, version=None):
    """Record a heartbeat of every host in one go; services that are new are added.

    version: of the service; None: of this release
    """
    version = version or versions.SERVICE_VERSION
    now = runtime.naive_now()
    done = connection.execute(
        TABLE.update()
        .where(TABLE.c.binary == binary, TABLE.c.host.in_(list(hosts)))
        .values(
            last_seen_up=now,
            report_count=TABLE.c.report_count + 1,
            version=version,
            updated_at=now,
        )
    )
    if done.rowcount == len(hosts):
        return
    known = set(
        connection.scalars(
            sa.select(TABLE.c.host).where(TABLE.c.binary == binary, TABLE.c.host.in_(list(hosts)))
        )
    )
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
                'last_seen_up': now,
                'report_count': 1,
            }
            for host in hosts
            if host not in known
        ],
    )
    if notes.is_kept(connection):
        new = [host for host in hosts if host not in known]
        for row in rows.every(connection, TABLE, host=new, binary=binary):
            _note(connection, 'service.create', row)


def every(connection, **where):
    """Services whose columns equal `where`."""
    return rows.every(connection, TABLE, order_by=TABLE.c.id, **where)


def find(connection, host, binary=COMPUTE):
    """The service of a host, or None."""
    return rows.find(connection, TABLE, host=host, binary=binary)


def lock(connection, host, binary=COMPUTE):
    """Keep other transactions that lock the same service waiting until this one ends."""
    connection.execute(
        sa.select(TABLE.c.id)
        .where(TABLE.c.host == host, TABLE.c.binary == binary)
        .with_for_update()
    )


def get(connection, uuid):
    """One service by uuid; raises ServiceNotFound."""
    return rows.get(connection, TABLE, exception.ServiceNotFound(service_id=uuid), uuid=uuid)


def update(connection, uuid, values):
    """Change columns of a service."""
    connection.execute(TABLE.update().where(TABLE.c.uuid == uuid).values(**values))
    if notes.is_kept(connection):
        _note(connection, 'service.update', rows.find(connection, TABLE, uuid=uuid))


def destroy(connection, uuid):
    """Remove a service."""
    if notes.is_kept(connection):
        _note(connection, 'service.delete', rows.find(connection, TABLE, uuid=uuid))
    rows.delete(connection, TABLE, uuid=uuid)


def _note(connection, what, row):
    if row is not None:
        values = {**row._mapping, 'availability_zone': None}
        notes.add(connection, what, values=values)


def is_up(service, down_time_s):
    """Whether a service was heard of within `down_time_s` seconds and is not forced down."""
    if service.forced_down:
        return False
    seen = service.last_seen_up or service.created_at
    return abs((runtime.naive_now() - seen).total_seconds()) <= down_time_s


def minimum_version(connection, binary=COMPUTE):
    """The oldest version among the services of `binary`; None when there is none."""
    return connection.execute(
        sa.select(sa.func.min(TABLE.c.version)).where(TABLE.c.binary == binary, TABLE.c.version > 0)
    ).scalar()
