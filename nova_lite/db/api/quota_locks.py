"""Quota locks: one request at a time counts a project's use and adds to it.

Without, two requests that read the same use could pass a limit together.
"""

import sqlalchemy as sa

from nova_lite.db import rows
from nova_lite.db.api import models

TABLE = models.QuotaLock.__table__


def hold(connection, project_id):
    """Wait for the project's lock and keep it until the transaction ends.

    Returns False when the project has none yet: `create` it, and try again.
    """
    query = sa.select(TABLE).where(TABLE.c.project_id == project_id).with_for_update()
    return connection.execute(query).first() is not None


def create(connection, project_id):
    """Give a project its lock; in a transaction of its own, since another may be quicker."""
    rows.insert(connection, TABLE, {'project_id': project_id})
