"""Migration records of a cell."""

import sqlalchemy as sa

from nova_lite import exception
from nova_lite import states
from nova_lite.db import rows
from nova_lite.db.cell import models

TABLE = models.Migration.__table__
OVER = [str(status) for status in states.MIGRATION_OVER]


def create(connection, values):
    """Add a migration; returns its id."""
    return rows.insert_returning_id(connection, TABLE, values)


def get(connection, uuid):
    """One migration by uuid; raises MigrationNotFound."""
    return rows.get(connection, TABLE, exception.MigrationNotFound(migration_id=uuid), uuid=uuid)


def find(connection, uuid):
    """One migration by uuid, or None."""
    return rows.find(connection, TABLE, uuid=uuid)


def update(connection, uuid, values, *, expect_status=None):
    """Change columns; with `expect_status` only from one of these. Raises StateChanged."""
    expected = {} if expect_status is None else {'status': tuple(expect_status)}
    rows.swap(connection, TABLE, {'uuid': uuid}, values, expected=expected, what='Migration')


def of_instance(connection, uuid, statuses=None):
    """Migrations of a server, oldest first."""
    where = {'instance_uuid': uuid}
    if statuses is not None:
        where['status'] = list(statuses)
    return rows.every(connection, TABLE, order_by=TABLE.c.id, **where)


def in_progress(connection, host=None):
    """Migrations that still hold something, on any host or with `host` at either end."""
    conditions = [TABLE.c.status.not_in(OVER)]
    if host is not None:
        conditions.append(sa.or_(TABLE.c.source_compute == host, TABLE.c.dest_compute == host))
    return rows.every(connection, TABLE, *conditions, order_by=TABLE.c.id)
