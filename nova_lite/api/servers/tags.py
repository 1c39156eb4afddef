"""/servers/{server_id}/tags (2.26)."""

from collections.abc import Callable
from collections.abc import Sequence
import typing

import sqlalchemy as sa

from nova_lite import exception
from nova_lite.api import operation
from nova_lite.api import request
from nova_lite.api import schema_parts
from nova_lite.api import server_access
from nova_lite.api.policies import server_parts as rules
from nova_lite.api.servers import acting
from nova_lite.db.cell import children
from nova_lite.db.cell import instances
from nova_lite.states import transitions

T = typing.TypeVar('T')
W = typing.TypeVar('W')

PATH = '/servers/{server_id}/tags'
ONE = PATH + '/{tag}'
SINCE = '2.26'
MOST = 50
FAULTS = (400, 403, 404, 409)
BODY = schema_parts.body('tags', {'type': 'array', 'items': schema_parts.TAG, 'maxItems': MOST})


@operation.operation(
    'GET',
    PATH,
    since=SINCE,
    policy=rules.TAGS_LIST,
    query=operation.ANY_QUERY,
    faults=(403, 404),
)
def index(req: request.Request, server: server_access.Server) -> operation.Result:
    """List all tags."""
    return {'tags': _of(server)}


@operation.operation(
    'GET',
    ONE,
    since=SINCE,
    policy=rules.TAGS_SHOW,
    query=operation.ANY_QUERY,
    success=204,
    faults=(403, 404),
)
def show(req: request.Request, server: server_access.Server) -> None:
    """Answer 204 if the server has a tag, otherwise 404."""
    if req.args['tag'] not in _of(server):
        _missing(server, req.args['tag'])


@operation.operation(
    'PUT',
    ONE,
    since=SINCE,
    policy=rules.TAGS_UPDATE,
    guard=transitions.UPDATE_TAG,
    lock=False,
    success=201,
    faults=FAULTS,
)
def update(req: request.Request, server: server_access.Server) -> operation.Result:
    """Add one tag. Answer 201 with its URL, or 204 if the server has the tag."""
    tag = req.args['tag']
    _check(tag)
    if not _write(req, server, _add, tag):
        return operation.Answer(status=204)
    return operation.Answer(headers={'Location': f'{req.root}{req.path}'})


@operation.operation(
    'PUT',
    PATH,
    since=SINCE,
    policy=rules.TAGS_REPLACE,
    guard=transitions.UPDATE_TAGS,
    lock=False,
    body={'2.1': BODY},
    faults=FAULTS,
)
def replace(req: request.Request, server: server_access.Server) -> operation.Result:
    """Replace all tags."""
    tags = sorted(set(req.content))
    _write(req, server, _replace, tags)
    return {'tags': tags}


@operation.operation(
    'DELETE',
    ONE,
    since=SINCE,
    policy=rules.TAGS_DELETE,
    guard=transitions.DELETE_TAG,
    lock=False,
    success=204,
    faults=FAULTS,
)
def delete(req: request.Request, server: server_access.Server) -> None:
    """Remove one tag."""
    if not _write(req, server, _remove, req.args['tag']):
        _missing(server, req.args['tag'])


@operation.operation(
    'DELETE',
    PATH,
    since=SINCE,
    policy=rules.TAGS_DELETE_ALL,
    guard=transitions.DELETE_TAGS,
    lock=False,
    success=204,
    faults=FAULTS,
)
def delete_all(req: request.Request, server: server_access.Server) -> None:
    """Remove all tags."""
    _write(req, server, _replace, [])


def _write(
    req: request.Request,
    server: server_access.Server,
    function: Callable[[sa.Connection, str, W], T],
    wanted: W,
) -> T:
    acting.require_cell(server)
    return acting.in_its_cell(
        req, server, lambda: server.cell.db.write(function, server.uuid, wanted)
    )


def _of(server: server_access.Server) -> list[str]:
    if not server.is_in_cell:
        return sorted(server.build_tags)
    return server.cell.db.read(children.tags, [server.uuid]).get(server.uuid, [])


def _check(tag: str) -> None:
    if not 1 <= len(tag) <= 60 or set(tag) & set(',/'):
        raise exception.Invalid(
            f"Tag '{tag[:100]}' is invalid. It must be a string without characters '/' and "
            "','. Tag length must not exceed 60."
        )


def _add(connection: sa.Connection, uuid: str, tag: str) -> bool:
    """Add a tag. Return whether it is new."""
    instances.lock(connection, uuid)
    present = children.tags(connection, [uuid]).get(uuid, [])
    if tag in present:
        return False
    if len(present) >= MOST:
        raise exception.Invalid(f'The number of tags exceeded the per-server limit {MOST}')
    children.create_tags(connection, uuid, [tag])
    return True


def _replace(connection: sa.Connection, uuid: str, tags: Sequence[str]) -> None:
    instances.lock(connection, uuid)
    children.destroy_tags(connection, uuid)
    children.create_tags(connection, uuid, tags)


def _remove(connection: sa.Connection, uuid: str, tag: str) -> bool:
    """Remove a tag. Return whether the server had it."""
    instances.lock(connection, uuid)
    return children.destroy_tags(connection, uuid, tag) > 0


def _missing(server: server_access.Server, tag: str) -> typing.NoReturn:
    raise exception.NotFound(f"Server {server.uuid} has no tag '{tag}'")
