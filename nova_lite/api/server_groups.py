"""Server groups.

Source: reference/nova/api-surface 2.6.
"""

from collections.abc import Sequence
import typing

import sqlalchemy as sa

from nova_lite import exception
from nova_lite import runtime
from nova_lite.api import operation
from nova_lite.api import paging
from nova_lite.api import quota
from nova_lite.api import quota_rules
from nova_lite.api import request
from nova_lite.api import schema
from nova_lite.api import schema_parts
from nova_lite.api.policies import server_groups as rules
from nova_lite.db import rows
from nova_lite.db.api import quota_locks
from nova_lite.db.api import server_groups

# A group with the uuids of its members.
Group: typing.TypeAlias = tuple[rows.Row, list[str]]

ALL = '/os-server-groups'
ONE = '/os-server-groups/{server_group_id}'

# ---- schemas ----------------------------------------------------------------

HARD = ('anti-affinity', 'affinity')
POLICIES = (*HARD, 'soft-anti-affinity', 'soft-affinity')


def _with_policies(allowed: Sequence[str]) -> schema.Source:
    policies = {
        'type': 'array',
        'prefixItems': [{'type': 'string', 'enum': [*allowed]}],
        'items': False,
        'minItems': 1,
    }
    group = schema_parts.whole(
        {'name': schema_parts.NAME, 'policies': policies}, required=('name', 'policies')
    )
    return schema_parts.body('server_group', group)


RULES = schema_parts.whole({'max_server_per_host': schema_parts.UNBOUNDED_POSITIVE})
WITH_RULES = schema_parts.whole(
    {'name': schema_parts.NAME, 'policy': {'type': 'string', 'enum': [*POLICIES]}, 'rules': RULES},
    required=('name', 'policy'),
)
CREATE = {
    '2.1': _with_policies(HARD),
    '2.15': _with_policies(POLICIES),
    '2.64': schema_parts.body('server_group', WITH_RULES),
}
LIST = {
    'all_projects': schema_parts.multi(),
    'limit': schema_parts.multi(schema_parts.NUMBER),
    'offset': schema_parts.multi(schema_parts.NUMBER),
}
LIST_QUERY = {'2.1': schema_parts.query(LIST), '2.75': schema_parts.query(LIST, strict=True)}


class QuotaReached(exception.OverQuota):
    msg = 'Quota exceeded, too many server groups.'


# ---- operations -------------------------------------------------------------


@operation.operation('GET', ALL, query=LIST_QUERY, faults=(400, 403))
def list_groups(req: request.Request) -> operation.Result:
    """List the groups of the project; administrators may ask for those of all projects."""
    req.authorize(rules.LIST)
    project_id = req.ctxt.project_id
    if 'all_projects' in req.params and req.ctxt.is_admin:
        req.authorize(rules.LIST_ALL)
        project_id = None
    found = req.app.api_db.read(_page, project_id, limit=_limit(req), offset=paging.offset_of(req))
    return {'server_groups': [_view(req, *each) for each in found]}


@operation.operation('GET', ONE, faults=(403, 404))
def show(req: request.Request) -> operation.Result:
    """Show one server group."""
    row, members = req.app.api_db.read(_one, *_visible(req))
    req.authorize(rules.SHOW, {'project_id': row.project_id})
    return {'server_group': _view(req, row, members)}


@operation.operation('POST', ALL, policy=rules.CREATE, body=CREATE, faults=(400, 403, 409))
def create(req: request.Request) -> operation.Result:
    """Create a server group."""
    given = req.content
    policy = given['policy'] if req.minor >= 64 else given['policies'][0]
    rules_given = given.get('rules', {})
    if rules_given and policy != 'anti-affinity':
        raise exception.Invalid('Only anti-affinity policy supports rules.')
    values = {
        'uuid': runtime.new_uuid(),
        'name': given['name'],
        'policy': policy,
        'rules': {name: int(value) for name, value in rules_given.items()},
        'project_id': req.ctxt.project_id,
        'user_id': req.ctxt.user_id,
    }
    row = quota_locks.write(req.app.api_db, _store, quota.rules(req), values)
    return {'server_group': _view(req, row, [])}


@operation.operation('DELETE', ONE, success=204, faults=(403, 404))
def delete(req: request.Request) -> None:
    """Delete a group; its servers stay."""
    row, _members = req.app.api_db.read(_one, *_visible(req))
    req.authorize(rules.DELETE, {'project_id': row.project_id})
    req.app.api_db.write(server_groups.destroy, row.uuid)


# ---- parts ------------------------------------------------------------------


def _limit(req: request.Request) -> int:
    """Return the limit of a page: in this list alone 0 means the maximum."""
    return paging.limit_of(req) or req.conf.api.max_limit


def _visible(req: request.Request) -> tuple[str, str | None]:
    return req.args['server_group_id'], None if req.ctxt.is_admin else req.ctxt.project_id or ''


def _one(connection: sa.Connection, uuid: str, project_id: str | None) -> Group:
    row = server_groups.get(connection, uuid, project_id)
    return row, server_groups.members(connection, [row.id]).get(row.id, [])


def _page(
    connection: sa.Connection, project_id: str | None, *, limit: int, offset: int
) -> list[Group]:
    groups = server_groups.page(connection, project_id, limit=limit, offset=offset)
    members = server_groups.members(connection, [row.id for row in groups])
    return [(row, members.get(row.id, [])) for row in groups]


def _store(connection: sa.Connection, by: quota_rules.Rules, values: rows.Values) -> rows.Row:
    quota_locks.hold(connection, values['project_id'])
    row = server_groups.create(connection, values)
    project_id, user_id = values['project_id'], values['user_id']
    for limits, scope in by.scopes(connection, project_id, user_id):
        count = server_groups.count(connection, project_id, scope)
        if 0 <= limits['server_groups'] < count:
            raise QuotaReached()
    return row


def _view(req: request.Request, row: rows.Row, members: Sequence[str]) -> operation.Body:
    shown = {'id': row.uuid, 'name': row.name, 'members': members}
    if req.minor >= 64:
        shown.update(policy=row.policy, rules=row.rules)
    else:
        shown.update(policies=[row.policy], metadata={})
    if req.minor >= 13:
        shown.update(project_id=row.project_id, user_id=row.user_id)
    return shown
