"""The record of usage audits: for each host and period, of how many servers was notified.

A host is audited and recorded in one transaction, so no audit is ever found in progress.
Source: reference/nova/api-surface 2.5.
"""

from collections.abc import Sequence
import datetime

import sqlalchemy as sa

from nova_lite.conf import audit_periods
from nova_lite.db import notes
from nova_lite.db import rows
from nova_lite.db.cell import instances
from nova_lite.db.cell import models
from nova_lite.dialects import execute

TABLE = models.TaskLog.__table__
NAME, DONE = 'instance_usage_audit', 'DONE'
_SERVERS = instances.TABLE
_EXISTED = sa.and_(
    _SERVERS.c.hidden.is_(False),
    _SERVERS.c.launched_at < sa.bindparam('ending'),
    sa.or_(_SERVERS.c.deleted.is_(False), _SERVERS.c.deleted_at > sa.bindparam('beginning')),
)
_LAST = sa.select(sa.func.max(TABLE.c.period_ending))


class AlreadyAudited(Exception):
    """Another conductor has audited the host."""


def of_period(connection: sa.Connection, period: audit_periods.Period) -> Sequence[rows.Row]:
    """Return the audits of a period."""
    beginning, ending = period
    return rows.every(
        connection,
        TABLE,
        order_by=TABLE.c.host,
        task_name=NAME,
        period_beginning=beginning,
        period_ending=ending,
    )


def audit(connection: sa.Connection, host: str, period: audit_periods.Period) -> int:
    """Notify of the servers of a host that existed in a period, and record that.

    Return their number. Raise AlreadyAudited.
    """
    beginning, ending = period
    given = {'beginning': beginning, 'ending': ending}
    found = rows.every(
        connection, _SERVERS, _EXISTED, order_by=_SERVERS.c.id, given=given, host=host
    )
    for row in found:
        notes.add(connection, 'exists', uuid=row.uuid, host=host, period=period)
    values = {
        'task_name': NAME,
        'state': DONE,
        'host': host,
        'period_beginning': beginning,
        'period_ending': ending,
        'message': f'Instance usage audit ran for host {host}, {len(found)} instances.'[:255],
        'task_items': len(found),
        'errors': 0,
    }
    rows.insert_new(connection, TABLE, values, AlreadyAudited())
    return len(found)


def purge(connection: sa.Connection, before: datetime.datetime | None = None) -> int:
    """Delete the records of audits, or of those made before a time. Return their number.

    The records of the last period stay: without them its servers would be audited again.
    """
    last = execute.value(connection, _LAST)
    if last is None:
        return 0
    query = TABLE.delete().where(TABLE.c.period_ending < last)
    if before is not None:
        query = query.where(TABLE.c.created_at < before)
    return connection.execute(query).rowcount
