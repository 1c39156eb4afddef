"""The actions lock and unlock.

A locked server refuses its project's actions; administrators are not bound.
"""

from collections.abc import Callable
import typing

import sqlalchemy as sa

from nova_lite.api import operation
from nova_lite.api import request
from nova_lite.api import schema_parts
from nova_lite.api import server_access
from nova_lite.api.policies import server_actions as rules
from nova_lite.api.servers import acting
from nova_lite.db import rows
from nova_lite.db.cell import actions
from nova_lite.db.cell import instances

REASON = schema_parts.whole({'locked_reason': {'type': 'string', 'minLength': 1, 'maxLength': 255}})
ADMIN, OWNER = 'admin', 'owner'


@operation.server_action(
    'lock',
    policy=rules.LOCK,
    body={
        '2.1': schema_parts.ANY,
        '2.73': schema_parts.null_or(REASON),
    },
    success=202,
    faults=(400, 403, 404, 409),
)
def lock(req: request.Request, server: server_access.Server) -> None:
    """Lock the server. Its owner cannot replace the lock of an administrator.

    A lock that is repeated without a reason keeps its reason, as in nova.
    """
    reason = None
    if req.minor >= 73 and req.content:
        reason = req.content.get('locked_reason')
    _change(req, server, _lock, reason)


@operation.server_action(
    'unlock',
    policy=rules.UNLOCK,
    success=202,
    faults=(400, 403, 404, 409),
)
def unlock(req: request.Request, server: server_access.Server) -> None:
    """Unlock the server. A lock of an administrator needs a separate rule."""
    _change(req, server, _unlock)


def _change(
    req: request.Request,
    server: server_access.Server,
    write: Callable[..., None],
    *args: typing.Any,
) -> None:
    """Change the lock in one transaction: another request may have locked the server."""
    acting.require_cell(server)
    acting.in_its_cell(
        req, server, lambda: server.cell.db.write(_locked, req, server, write, *args)
    )


def _locked(
    connection: sa.Connection,
    req: request.Request,
    server: server_access.Server,
    write: Callable[..., None],
    *args: typing.Any,
) -> None:
    row = instances.lock(connection, server.uuid)
    write(connection, req, server, row, *args)


def _lock(
    connection: sa.Connection,
    req: request.Request,
    server: server_access.Server,
    row: rows.Row,
    reason: str | None,
) -> None:
    who = _who(req, server)
    if who == OWNER and row.locked_by == ADMIN:
        return
    if reason is None and row.locked:
        reason = row.locked_reason
    changes = {'locked': True, 'locked_by': who, 'locked_reason': reason}
    _store(connection, req, row, changes, 'lock')


def _unlock(
    connection: sa.Connection, req: request.Request, server: server_access.Server, row: rows.Row
) -> None:
    if row.locked_by and row.locked_by != _who(req, server):
        req.authorize(rules.UNLOCK_OVERRIDE, server.target)
    changes = {'locked': False, 'locked_by': None, 'locked_reason': None}
    _store(connection, req, row, changes, 'unlock')


def _store(
    connection: sa.Connection,
    req: request.Request,
    row: rows.Row,
    changes: rows.Values,
    action: str,
) -> None:
    instances.update(connection, row.uuid, changes)
    actions.start(connection, req.ctxt, row.uuid, action)


def _who(req: request.Request, server: server_access.Server) -> str:
    return OWNER if server.row.project_id == req.ctxt.project_id else ADMIN
