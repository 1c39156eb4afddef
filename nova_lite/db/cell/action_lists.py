"""Pages of the actions of a server, and questions about them."""

from collections.abc import Sequence
import datetime

import sqlalchemy as sa

from nova_lite import exception
from nova_lite.db import paging
from nova_lite.db import rows
from nova_lite.db.cell import actions
from nova_lite.db.cell import models
from nova_lite.dialects import execute

TABLE = actions.ACTIONS
# Actions that make an image of a server.
COPIES = ('createImage', 'createBackup')
_COPIES = (TABLE.c.action.in_(COPIES), TABLE.c.finish_time.is_(None))
_COPYING = sa.select(TABLE.c.id).where(TABLE.c.instance_uuid == sa.bindparam('uuid'), *_COPIES)
# Whether a row of `instances` is that of a server for which `is_copying` is true.
IS_COPYING = (
    sa.exists()
    .where(TABLE.c.instance_uuid == models.Instance.__table__.c.uuid, *_COPIES)
    .label('is_copying')
)
DELETE = 'delete'
# Events of deletions, by the host of the server and without the host.
TERMINATE, LOCAL_DELETE = DELETIONS = ('compute_terminate_instance', 'api_local_delete')
_NEWEST_DELETION = (
    sa.select(TABLE)
    .where(TABLE.c.instance_uuid == sa.bindparam('uuid'), TABLE.c.action == DELETE)
    .order_by(TABLE.c.id.desc())
    .limit(1)
)
_NEWEST = actions.NEWEST_OF_REQUEST.with_only_columns(TABLE.c.id)
_FOLLOWING = (
    sa.select(TABLE.c.id)
    .where(
        TABLE.c.instance_uuid == sa.bindparam('uuid'),
        TABLE.c.action == sa.bindparam('action'),
        TABLE.c.id > _NEWEST.scalar_subquery(),
    )
    .limit(1)
)
# A request for an image of a server after the newest action of `request`.
_COPIED_AGAIN = (
    sa.select(TABLE.c.id)
    .where(
        TABLE.c.instance_uuid == sa.bindparam('uuid'),
        TABLE.c.action.in_(COPIES),
        TABLE.c.id > _NEWEST.scalar_subquery(),
    )
    .limit(1)
)


def page(
    connection: sa.Connection,
    uuid: str,
    *,
    limit: int | None = None,
    marker: str | None = None,
    since: datetime.datetime | None = None,
    before: datetime.datetime | None = None,
) -> Sequence[rows.Row]:
    """Actions of a server, newest first.

    marker: request id of the last action of the page before; raises MarkerNotFound
    since, before: range of the time of the last change, both ends included
    """
    keys = [(TABLE.c.created_at, 'desc'), (TABLE.c.id, 'desc')]
    query = paging.ordered(sa.select(TABLE).where(TABLE.c.instance_uuid == uuid), keys)
    if since is not None:
        query = query.where(TABLE.c.updated_at >= since)
    if before is not None:
        query = query.where(TABLE.c.updated_at <= before)
    if marker is not None:
        error = exception.MarkerNotFound(marker=marker)
        last = rows.every(
            connection, TABLE, order_by=TABLE.c.id.desc(), instance_uuid=uuid, request_id=marker
        )
        if not last:
            raise error
        query = query.where(paging.after(keys, last[0]))
    return connection.execute(query.limit(limit)).all()


def is_followed_by(connection: sa.Connection, uuid: str, request_id: str, action: str) -> bool:
    """Return whether `action` was requested after the server's action of a request."""
    values = {'uuid': uuid, 'request': request_id, 'action': action}
    return execute.value(connection, _FOLLOWING, values) is not None


def is_copying(connection: sa.Connection, uuid: str) -> bool:
    """Return whether an image of the server is being created, or its creation was interrupted."""
    return execute.first(connection, _COPYING, {'uuid': uuid}) is not None


def is_newest_copy(connection: sa.Connection, uuid: str, request_id: str) -> bool:
    """Return whether no image of the server was requested after that of a request.

    Another may be requested if the state of the server was reset while its image was made.
    """
    values = {'uuid': uuid, 'request': request_id}
    return execute.value(connection, _COPIED_AGAIN, values) is None


def require_newest_copy(connection: sa.Connection, uuid: str, request_id: str) -> None:
    """Raise StateChanged if an image of the server was requested after that of a request."""
    if not is_newest_copy(connection, uuid, request_id):
        detail = 'another image of it was requested'
        raise exception.StateChanged(what='Instance', key=uuid, detail=detail)


def newest_deletion(connection: sa.Connection, uuid: str) -> rows.Row | None:
    """Return the newest action that deletes the server, or None."""
    return execute.first(connection, _NEWEST_DELETION, {'uuid': uuid})
