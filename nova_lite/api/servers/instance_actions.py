"""/servers/{server_id}/os-instance-actions: requests about a server, and their results.

Source: reference/nova/moves 2.8.
"""

from collections.abc import Sequence
import datetime
import typing

from oslo_utils import timeutils
import sqlalchemy as sa

from nova_lite import exception
from nova_lite.api import links
from nova_lite.api import operation
from nova_lite.api import paging
from nova_lite.api import request
from nova_lite.api import schema_parts
from nova_lite.api import server_access
from nova_lite.api.policies import server_parts as rules
from nova_lite.api.servers import view
from nova_lite.clients import session
from nova_lite.db import rows
from nova_lite.db.cell import action_lists
from nova_lite.db.cell import actions

PATH = '/servers/{server_id}/os-instance-actions'
_TIME = schema_parts.single({'type': 'string', 'format': 'date-time'})
_V58 = {
    'limit': schema_parts.single(schema_parts.NUMBER),
    'marker': schema_parts.single(schema_parts.ANY_TEXT),
    'changes-since': _TIME,
}
QUERY = {
    '2.1': schema_parts.query({}),
    '2.58': schema_parts.query(_V58, strict=True),
    '2.66': schema_parts.query({**_V58, 'changes-before': _TIME}, strict=True),
}
FIELDS = ('action', 'instance_uuid', 'request_id', 'user_id', 'project_id', 'message')


@operation.operation('GET', PATH, load=False, query=QUERY, faults=(400, 403, 404))
def index(req: request.Request) -> operation.Result:
    """List all actions, newest first."""
    server = _load(req, rules.ACTIONS_LIST)
    answer: operation.Body = {'instanceActions': []}
    if not server.is_in_cell:
        return answer
    options = {}
    if req.minor >= 58:
        options = _page(req)
    rows = server_access.read_cell(
        req, server.cell, server.mapping, action_lists.page, server.uuid, **options
    )
    answer['instanceActions'] = [_action(req, row) for row in rows]
    if req.minor >= 58 and paging.is_full(req, rows, options['limit']):
        answer['links'] = links.next_page(req, rows[-1].request_id)
    return answer


@operation.operation('GET', PATH + '/{request_id}', load=False, faults=(403, 404))
def show(req: request.Request) -> operation.Result:
    """Show one action with its events."""
    server = _load(req, rules.ACTIONS_SHOW)
    request_id = req.args['request_id']
    if not server.is_in_cell:
        raise exception.ActionNotFound(request_id=request_id, instance_id=server.uuid)
    row, events = server_access.read_cell(
        req, server.cell, server.mapping, _read, server.uuid, request_id
    )
    shown = _action(req, row)
    inner = req.allows(rules.ACTIONS_EVENTS, server.target)
    if inner or req.minor >= 51:
        details = req.minor >= 84 and req.allows(rules.ACTIONS_DETAILS, server.target)
        shown['events'] = [_event(req, server, event, inner, details) for event in events]
    return {'instanceAction': shown}


def _load(req: request.Request, rule: str) -> server_access.Server:
    server = server_access.load(req, req.args['server_id'], deleted=req.minor >= 21)
    req.authorize(rule, server.target)
    return server


def _read(
    connection: sa.Connection, uuid: str, request_id: str
) -> tuple[rows.Row, Sequence[rows.Row]]:
    row = actions.get(connection, uuid, request_id)
    return row, actions.events_of(connection, [row.id]).get(row.id, [])


def _page(req: request.Request) -> dict[str, typing.Any]:
    since, before = _moment(req, 'changes-since'), _moment(req, 'changes-before')
    if since is not None and before is not None and before < since:
        raise exception.Invalid(
            'The value of changes-since must be less than or equal to changes-before.'
        )
    return {
        'limit': paging.limit_of(req),
        'marker': req.param('marker'),
        'since': since,
        'before': before,
    }


def _moment(req: request.Request, name: str) -> datetime.datetime | None:
    text = req.param(name)
    if text is None:
        return None
    try:
        return timeutils.normalize_time(timeutils.parse_isotime(text))
    except (ValueError, OverflowError) as error:
        raise exception.Invalid(f'Invalid time for {name}: {text}') from error


def _action(req: request.Request, row: rows.Row) -> session.Json:
    shown = {name: getattr(row, name) for name in FIELDS}
    shown['start_time'] = view.naive(row.start_time)
    if req.minor >= 58:
        shown['updated_at'] = view.naive(row.updated_at or row.created_at)
    return shown


def _event(
    req: request.Request, server: server_access.Server, row: rows.Row, inner: bool, details: bool
) -> session.Json:
    shown = {
        'event': row.event,
        'start_time': view.naive(row.start_time),
        'finish_time': view.naive(row.finish_time),
        'result': row.result,
    }
    if inner:
        shown['traceback'] = row.traceback
    if req.minor >= 62:
        shown['hostId'] = view.host_id(server.row.project_id, row.host)
        if inner:
            shown['host'] = row.host
    if details:
        shown['details'] = row.details
    return shown
