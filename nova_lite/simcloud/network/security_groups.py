"""/v2.0/security-groups. Each project gets a default group at its first use of a group."""

import sqlalchemy as sa

from nova_lite.dialects import shapes
from nova_lite.simcloud import bodies
from nova_lite.simcloud import caller as callers
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import resources
from nova_lite.simcloud import web
from nova_lite.simcloud.network import rbac_access
from nova_lite.simcloud.network import security_rules
from nova_lite.simcloud.network import standard
from nova_lite.simcloud.network import tables

GROUPS = tables.groups
DEFAULT = 'default'
BODY = bodies.wrapped('security_group', {**standard.PROPERTIES, 'stateful': bodies.BOOLEAN})


def view(row: database.Row, rules: list[database.Row]) -> bodies.Json:
    """Return one group with its rules."""
    return {
        **standard.view(row, 'stateful'),
        'shared': row.get('shared', False),
        'security_group_rules': [security_rules.view(rule) for rule in rules],
    }


def views(conn: sa.Connection, req: web.Request, found: list[database.Row]) -> list[bodies.Json]:
    """Return rows with their rules."""
    found = rbac_access.seen(conn, req.context.caller, found)
    ids = [row['id'] for row in found]
    by_group = database.grouped(conn, tables.rules.c.security_group_id, ids, 'created_at', 'id')
    return [view(row, by_group.get(row['id'], [])) for row in found]


def visible(caller: callers.Caller) -> shapes.Condition:
    """Return the condition that the caller may see a group."""
    return sa.or_(standard.own(caller, GROUPS), rbac_access.granted(caller, GROUPS))


get = standard.getter(GROUPS, visible)


def _with_rules(
    conn: sa.Connection, row: database.Row, directions: tuple[str, ...]
) -> database.Row:
    """Add the rules of a new group to a group. Return the row of the group."""
    for ethertype in ('IPv4', 'IPv6'):
        for direction in directions:
            remote = row['id'] if direction == 'ingress' else None
            security_rules.insert(
                conn, row, direction=direction, ethertype=ethertype, remote_group_id=remote
            )
    return row


def default_id(conn: sa.Connection, project_id: str) -> str | None:
    """Return the id of the project's default group, or None if it does not exist yet."""
    known = database.find(conn, tables.default_groups, project_id=project_id)
    return known['security_group_id'] if known else None


def ensure_default(conn: sa.Connection, project_id: str) -> str:
    """Return the id of the project's default group. Create the group if it does not exist."""
    known = default_id(conn, project_id)
    if known:
        return known
    row = database.insert(
        conn, GROUPS, project_id=project_id, name=DEFAULT, description='Default security group'
    )
    database.insert(conn, tables.default_groups, project_id=project_id, security_group_id=row['id'])
    found: str = _with_rules(conn, row, ('egress', 'ingress'))['id']
    return found


def require_known(
    conn: sa.Connection, caller: callers.Caller, ids: list[str], project_id: str
) -> list[str]:
    """Return the ids of groups without repeats.

    Raise NotFound for a group that the project cannot use, and Conflict if only some groups are
    stateful.
    """
    usable = sa.or_(visible(caller), GROUPS.c.project_id == project_id)
    kinds = set()
    for group_id in ids:
        row = database.find(conn, GROUPS, usable, id=group_id)
        if row is None:
            raise standard.not_found(GROUPS, group_id)
        kinds.add(row['stateful'])
    if len(kinds) > 1:
        raise faults.Conflict(
            'Error Cannot apply both stateful and stateless security groups on the same port at '
            'the same time while attempting the operation.',
            'SecurityGroupConflict',
        )
    return list(dict.fromkeys(ids))


def create(conn: sa.Connection, caller: callers.Caller, wanted: bodies.Json) -> database.Row:
    """Insert a group from a request's values and return its row."""
    ensure_default(conn, caller.owner_for(wanted.get('project_id') or wanted.get('tenant_id')))
    row = standard.insert(conn, caller, GROUPS, wanted)
    if row['name'].lower() == DEFAULT:
        raise faults.Conflict(
            'Default security group already exists.', 'SecurityGroupDefaultAlreadyExists'
        )
    return _with_rules(conn, row, ('egress',))


def update(
    conn: sa.Connection, caller: callers.Caller, group_id: str, wanted: bodies.Json
) -> database.Row:
    """Rename or describe a group and return its row."""
    row = standard.get(conn, caller, GROUPS, group_id)
    if wanted.get('stateful', row['stateful']) != row['stateful']:
        _require_unused(conn, group_id)
    if row['name'] == DEFAULT and 'name' in wanted:
        raise faults.Conflict(
            'Updating default security group not allowed.', 'SecurityGroupCannotUpdateDefault'
        )
    return standard.save(conn, GROUPS, row, **standard.columns(GROUPS, wanted))


def _require_unused(conn: sa.Connection, group_id: str) -> None:
    if database.exists(conn, tables.port_groups, security_group_id=group_id):
        raise faults.Conflict(f'Security Group {group_id} in use.', 'SecurityGroupInUse')


def delete(conn: sa.Connection, caller: callers.Caller, group_id: str) -> None:
    """Delete a group. Raise Conflict if a port uses it, or for a user's default group."""
    row = standard.get(conn, caller, GROUPS, group_id)
    is_default = group_id == default_id(conn, row['project_id'])
    if is_default and not caller.is_admin:
        raise faults.Conflict(
            'Insufficient rights for removing default security group.',
            'SecurityGroupCannotRemoveDefault',
        )
    _require_unused(conn, group_id)
    database.delete(conn, tables.rules, security_group_id=group_id)
    database.delete(conn, tables.rules, remote_group_id=group_id)
    database.delete(conn, tables.default_groups, security_group_id=group_id)
    rbac_access.forget(conn, group_id)
    database.delete(conn, GROUPS, id=group_id)


def _ensure_listed(db: database.Database, req: web.Request) -> None:
    """Create the missing default groups of the projects whose groups are listed."""
    caller = req.context.caller
    wanted = {caller.project_id} if caller.project_id else set()
    if caller.is_admin:
        wanted.update(req.get_param_as_list('project_id') or ())
        wanted.update(req.get_param_as_list('tenant_id') or ())
    for project_id in wanted:
        with db.read() as conn:
            known = default_id(conn, project_id)
        if not known:
            db.change(ensure_default, project_id)


RESOURCE = resources.Resource(
    name='security_group',
    style=standard.STYLE,
    before_list=_ensure_listed,
    revisions=GROUPS,
    listed=standard.lists(
        GROUPS, visible=visible, filters=rbac_access.filters(GROUPS, ('stateful',))
    ),
    get=get,
    views=views,
    create=(create, BODY),
    update=(update, BODY),
    delete=delete,
)
