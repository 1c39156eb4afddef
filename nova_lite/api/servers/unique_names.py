"""Names of servers that must be unique, in a project or in the whole cloud.

[DEFAULT]osapi_compute_unique_server_name_scope turns this on. Upper and lower case count as equal.
Cells that do not answer are left out.

A name is checked under a lock of its scope: otherwise two requests for the same name could both
find it free. Build requests are read before cells, because a server moves from a build request to a
cell.
"""

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Sequence

import sqlalchemy as sa

from nova_lite import exception
from nova_lite.api import request
from nova_lite.api import server_access
from nova_lite.db import rows
from nova_lite.db.api import build_requests
from nova_lite.db.api import quota_locks
from nova_lite.db.cell import instance_lists


def require(req: request.Request, names: Sequence[str], project_id: str) -> None:
    """Raise AlreadyExists for names that are in use, before a server is created for them.

    Another request may use the names afterwards, which `decide` detects.
    """
    if _scope(req):
        pending = req.app.api_db.read(build_requests.every, _project(req, project_id))
        _refuse(req, names, pending, project_id)


def decide(
    connection: sa.Connection,
    req: request.Request,
    names: Sequence[str],
    project_id: str,
    *,
    but: str | None = None,
) -> None:
    """Raise AlreadyExists for names that are in use. Lock the names until the transaction ends.

    connection: in a transaction of `quota_locks.write`, which also stores the names
    but: uuid of a server whose own name does not count
    """
    if _scope(req):
        quota_locks.hold(connection, _holder(req, project_id))
        pending = build_requests.every(connection, _project(req, project_id))
        _refuse(req, names, pending, project_id, but=but)


def rename(
    req: request.Request, server: server_access.Server, name: str, write: Callable[[], object]
) -> None:
    """Call `write()`, which renames a server in a cell. Raise AlreadyExists."""
    if _scope(req):
        quota_locks.write(req.app.api_db, _rename, req, server, name, write)
    else:
        write()


def _rename(
    connection: sa.Connection,
    req: request.Request,
    server: server_access.Server,
    name: str,
    write: Callable[[], object],
) -> None:
    decide(connection, req, [name], server.row.project_id, but=server.uuid)
    write()


def are_unique(req: request.Request) -> bool:
    """Return whether names of servers must be unique."""
    return bool(_scope(req))


def _scope(req: request.Request) -> str:
    scope: str = req.conf.osapi_compute_unique_server_name_scope
    return scope


def _project(req: request.Request, project_id: str) -> str | None:
    """Return the project within which names must be unique, None for all projects."""
    return project_id if _scope(req) == 'project' else None


def _holder(req: request.Request, project_id: str) -> str:
    project = _project(req, project_id)
    return 'names' if project is None else f'names of {project}'


def _refuse(
    req: request.Request,
    names: Sequence[str],
    pending: Iterable[rows.Row],
    project_id: str,
    but: str | None = None,
) -> None:
    """Raise AlreadyExists. pending: build requests"""
    lowered = {name.lower() for name in names}
    if not any(row.instance['display_name'].lower() in lowered for row in pending):
        conditions = [instance_lists.named(lowered), instance_lists.equals('deleted', False)]
        if _project(req, project_id) is not None:
            conditions.append(instance_lists.equals('project_id', project_id))
        if but is not None:
            conditions.append(instance_lists.differs('uuid', but))
        counts = req.app.cells.scatter(instance_lists.count, conditions)
        if not any(count for count in counts.values() if isinstance(count, int)):
            return
    raise exception.AlreadyExists(what='Server', key=', '.join(names))
