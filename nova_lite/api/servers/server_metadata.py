"""/servers/{server_id}/metadata: all entries and single ones."""

from collections.abc import Callable
import functools
import typing

import sqlalchemy as sa

from nova_lite import exception
from nova_lite.api import operation
from nova_lite.api import quota
from nova_lite.api import request
from nova_lite.api import schema_parts
from nova_lite.api import server_access
from nova_lite.api.policies import server_parts as rules
from nova_lite.api.servers import acting
from nova_lite.db.cell import instances
from nova_lite.states import transitions

Change: typing.TypeAlias = Callable[[dict[str, str]], dict[str, str]]

PATH = '/servers/{server_id}/metadata'
ONE = PATH + '/{key}'
FAULTS = (400, 403, 404, 409)
BODY = schema_parts.body('metadata', schema_parts.METADATA)
BODY_ONE = schema_parts.body(
    'meta', {**schema_parts.METADATA, 'minProperties': 1, 'maxProperties': 1}
)


@operation.operation('GET', PATH, policy=rules.META_LIST, faults=(403, 404))
def index(req: request.Request, server: server_access.Server) -> operation.Result:
    """List all entries."""
    return {'metadata': server.row.metadata}


@operation.operation('GET', ONE, policy=rules.META_SHOW, faults=(403, 404))
def show(req: request.Request, server: server_access.Server) -> operation.Result:
    """Show one entry."""
    key = req.args['key']
    _require_its_key(req, server)
    return {'meta': {key: server.row.metadata[key]}}


@operation.operation(
    'POST',
    PATH,
    policy=rules.META_CREATE,
    guard=transitions.UPDATE_METADATA,
    body={'2.1': BODY},
    faults=FAULTS,
)
def create(req: request.Request, server: server_access.Server) -> operation.Result:
    """Add entries, and replace existing entries with the same keys."""
    return {'metadata': _change(req, server, lambda found: {**found, **req.content})}


@operation.operation(
    'PUT',
    PATH,
    policy=rules.META_REPLACE,
    guard=transitions.UPDATE_METADATA,
    body={'2.1': BODY},
    faults=FAULTS,
)
def replace(req: request.Request, server: server_access.Server) -> operation.Result:
    """Replace all entries."""
    return {'metadata': _change(req, server, lambda _found: dict(req.content))}


def _require_same_key(req: request.Request, _server: server_access.Server) -> None:
    if req.args['key'] not in req.content:
        raise exception.Invalid('Request body and URI mismatch')


@operation.operation(
    'PUT',
    ONE,
    policy=rules.META_UPDATE,
    guard=transitions.UPDATE_METADATA,
    precheck=_require_same_key,
    body={'2.1': BODY_ONE},
    faults=FAULTS,
)
def update(req: request.Request, server: server_access.Server) -> operation.Result:
    """Set one entry."""
    _change(req, server, lambda found: {**found, **req.content})
    return {'meta': req.content}


def _require_its_key(req: request.Request, server: server_access.Server) -> None:
    if req.args['key'] not in server.row.metadata:
        raise exception.NotFound('Metadata item was not found')


@operation.operation(
    'DELETE',
    ONE,
    policy=rules.META_DELETE,
    guard=transitions.DELETE_METADATA,
    precheck=_require_its_key,
    success=204,
    faults=FAULTS,
)
def delete(req: request.Request, server: server_access.Server) -> None:
    """Remove one entry."""
    key = req.args['key']
    _change(req, server, lambda found: {k: v for k, v in found.items() if k != key})


def _change(req: request.Request, server: server_access.Server, change: Change) -> dict[str, str]:
    """Apply `change` to the present entries, read in the same transaction. Return the new ones."""
    acting.require_cell(server)
    within = functools.partial(quota.rules(req).require, quota.own_limits(req), 'metadata_items')
    return acting.in_its_cell(
        req,
        server,
        lambda: server.cell.db.write(_store, server.uuid, change, within),
    )


def _store(
    connection: sa.Connection, uuid: str, change: Change, within: Callable[[int], None]
) -> dict[str, str]:
    found = change(instances.lock(connection, uuid).metadata)
    within(len(found))
    instances.update(connection, uuid, {'metadata': found})
    return found
