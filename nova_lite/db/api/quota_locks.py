"""Quota locks: one request at a time counts what a holder uses and adds to it.

Without, two requests that read the same use could pass a limit together. Holders
are projects, and users for what belongs to them alone.
"""

from oslo_db import exception as db_exception
import sqlalchemy as sa

from nova_lite.db import rows
from nova_lite.db.api import models

TABLE = models.QuotaLock.__table__


class _NoLock(Exception):
    """The holder has no lock yet."""


def of_user(user_id):
    """The holder that stands for a user, whatever the project."""
    return f'user {user_id}'


def write(api_db, holder, function, *args, **kwargs):
    """Run `function(connection, ...)`, which may `hold` the holder's lock, as a transaction."""
    try:
        return api_db.write(function, *args, **kwargs)
    except _NoLock:
        api_db.write(create, holder)
        return api_db.write(function, *args, **kwargs)


def hold(connection, holder):
    """Wait for the lock and keep it until the transaction ends.

    Only in what `write` runs: that makes the lock when there is none yet.
    """
    query = sa.select(TABLE).where(TABLE.c.project_id == holder).with_for_update()
    if connection.execute(query).first() is None:
        raise _NoLock()


def create(connection, holder):
    """Give a holder its lock, unless another request was quicker."""
    try:
        with connection.begin_nested():
            rows.insert(connection, TABLE, {'project_id': holder})
    except db_exception.DBDuplicateEntry:
        return
