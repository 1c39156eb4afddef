"""/v2.0/security-groups. Each project gets a default group at the first use."""

import sqlalchemy as sa

from nova_lite.simcloud import bodies
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import resources
from nova_lite.simcloud.network import rbac_access
from nova_lite.simcloud.network import security_rules
from nova_lite.simcloud.network import standard
from nova_lite.simcloud.network import tables

GROUPS = tables.groups
DEFAULT = 'default'
BODY = bodies.wrapped('security_group', {**standard.PROPERTIES, 'stateful': bodies.BOOLEAN})


def view(row, rules):
    """Return one group with its rules."""
    return {
        **standard.view(row, 'stateful'),
        'shared': row.get('shared', False),
        'security_group_rules': [security_rules.view(rule) for rule in rules],
    }


def views(conn, req, found):
    """Return rows with their rules."""
    found = rbac_access.seen(conn, req.context.caller, found)
    ids = [row['id'] for row in found]
    by_group = database.grouped(conn, tables.rules.c.security_group_id, ids, 'created_at', 'id')
    return [view(row, by_group.get(row['id'], ())) for row in found]


def visible(caller):
    """Return the condition that the caller may see a group."""
    return sa.or_(standard.own(caller, GROUPS), rbac_access.granted(caller, GROUPS))


get = standard.getter(GROUPS, visible)


def _with_rules(conn, row, directions):
    """Store a group with the rules that every new group has. Return its row."""
    for ethertype in ('IPv4', 'IPv6'):
        for direction in directions:
            remote = row['id'] if direction == 'ingress' else None
            security_rules.insert(
                conn, row, direction=direction, ethertype=ethertype, remote_group_id=remote
            )
    return row


def default_id(conn, project_id):
    """Return the id of the project's default group, or None before it is made."""
    known = database.find(conn, tables.default_groups, project_id=project_id)
    return known and known['security_group_id']


def ensure_default(conn, project_id):
    """Return the id of the project's default group, made when there is none yet."""
    known = default_id(conn, project_id)
    if known:
        return known
    row = database.insert(
        conn, GROUPS, project_id=project_id, name=DEFAULT, description='Default security group'
    )
    database.insert(conn, tables.default_groups, project_id=project_id, security_group_id=row['id'])
    return _with_rules(conn, row, ('egress', 'ingress'))['id']


def require_known(conn, caller, ids, project_id):
    """Return the ids without repeats.

    Raise NotFound for one that the project cannot use, and Conflict if only some are stateful.
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


def create(conn, caller, wanted):
    """Insert a group from a request's values and return its row."""
    ensure_default(conn, caller.owner_for(wanted.get('project_id') or wanted.get('tenant_id')))
    row = standard.insert(conn, caller, GROUPS, wanted)
    if row['name'].lower() == DEFAULT:
        raise faults.Conflict(
            'Default security group already exists.', 'SecurityGroupDefaultAlreadyExists'
        )
    return _with_rules(conn, row, ('egress',))


def update(conn, caller, group_id, wanted):
    """Rename or describe a group and return its row."""
    row = standard.get(conn, caller, GROUPS, group_id)
    if wanted.get('stateful', row['stateful']) != row['stateful']:
        _require_unused(conn, group_id)
    if row['name'] == DEFAULT and 'name' in wanted:
        raise faults.Conflict(
            'Updating default security group not allowed.', 'SecurityGroupCannotUpdateDefault'
        )
    return standard.save(conn, GROUPS, row, **standard.columns(GROUPS, wanted))


def _require_unused(conn, group_id):
    if database.exists(conn, tables.port_groups, security_group_id=group_id):
        raise faults.Conflict(f'Security Group {group_id} in use.', 'SecurityGroupInUse')


def delete(conn, caller, group_id):
    """Remove a group that no port uses."""
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


def _ensure_listed(db, req):
    """Create the default group if a list is the first use. Write only if it is missing."""
    caller = req.context.caller
    wanted = {caller.project_id}
    if caller.is_admin:
        wanted.update(req.get_param_as_list('project_id') or ())
        wanted.update(req.get_param_as_list('tenant_id') or ())
    for project_id in wanted - {None}:
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
