"""/v2.0/security-groups; each project gets a default one when it is first needed."""

import sqlalchemy as sa

from nova_lite import runtime
from nova_lite.simcloud import bodies
from nova_lite.simcloud import faults
from nova_lite.simcloud import listing
from nova_lite.simcloud import resources
from nova_lite.simcloud.network import quotas
from nova_lite.simcloud.network import security_rules
from nova_lite.simcloud.network import standard
from nova_lite.simcloud.network import tables

GROUPS = tables.groups
DEFAULT = 'default'
BODY = bodies.wrapped('security_group', {**standard.PROPERTIES, 'stateful': bodies.BOOLEAN})


def view(row, rules):
    """One group with its rules."""
    return {
        **standard.view(row),
        'stateful': row['stateful'],
        'shared': False,
        'security_group_rules': [security_rules.view(rule) for rule in rules],
    }


def views(conn, _req, found):
    """Rows with their rules."""
    rules = tables.rules
    by_group = standard.grouped(
        conn,
        rules,
        rules.c.security_group_id,
        [row['id'] for row in found],
        rules.c.created_at,
        rules.c.id,
    )
    return [view(row, by_group.get(row['id'], ())) for row in found]


def _insert(conn, row, *, stateful=True, ingress=False):
    """A group with the rules that every new one has."""
    conn.execute(GROUPS.insert().values(**row, stateful=stateful))
    for ethertype in ('IPv4', 'IPv6'):
        security_rules.insert(conn, row, {'direction': 'egress', 'ethertype': ethertype})
        if ingress:
            security_rules.insert(
                conn,
                row,
                {'direction': 'ingress', 'ethertype': ethertype, 'remote_group_id': row['id']},
            )
    return {**row, 'stateful': stateful}


def default_id(conn, project_id):
    """The id of the project's default group, or None before it is made."""
    table = tables.default_groups
    return conn.execute(
        sa.select(table.c.security_group_id).where(table.c.project_id == project_id)
    ).scalar()


def ensure_default(conn, project_id):
    """The id of the project's default group, made when there is none yet."""
    known = default_id(conn, project_id)
    if known:
        return known
    now = runtime.naive_now()
    row = {
        'id': runtime.new_uuid(),
        'project_id': project_id,
        'name': DEFAULT,
        'description': 'Default security group',
        'tags': [],
        'revision_number': 0,
        'created_at': now,
        'updated_at': now,
    }
    conn.execute(
        tables.default_groups.insert().values(project_id=project_id, security_group_id=row['id'])
    )
    _insert(conn, row, ingress=True)
    return row['id']


def require_known(conn, caller, ids, project_id):
    """The ids without repeats; NotFound for one that the project cannot use."""
    for group_id in ids:
        row = standard.find(conn, GROUPS, group_id)
        if row is None or not (caller.sees(row['project_id']) or row['project_id'] == project_id):
            raise standard.not_found(GROUPS, group_id)
    return list(dict.fromkeys(ids))


def create(conn, caller, wanted):
    """Insert a group from a request's values and return its row."""
    caller.require_writer()
    row = standard.new(caller, wanted)
    ensure_default(conn, row['project_id'])
    quotas.require(conn, 'security_group', row['project_id'])
    if row['name'].lower() == DEFAULT:
        raise faults.Conflict(
            'Default security group already exists.', 'SecurityGroupDefaultAlreadyExists'
        )
    return _insert(conn, row, stateful=wanted.get('stateful', True))


def update(conn, caller, group_id, wanted):
    """Rename or describe a group and return its row."""
    caller.require_writer()
    row = standard.get(conn, caller, GROUPS, group_id)
    if row['name'] == DEFAULT and 'name' in wanted:
        raise faults.Conflict(
            'Updating default security group not allowed.', 'SecurityGroupCannotUpdateDefault'
        )
    return standard.save(
        conn, GROUPS, row, **standard.changes(wanted, ('name', 'description', 'stateful'))
    )


def delete(conn, caller, group_id):
    """Remove a group that no port uses."""
    caller.require_writer()
    row = standard.get(conn, caller, GROUPS, group_id)
    is_default = group_id == default_id(conn, row['project_id'])
    if is_default and not caller.is_admin:
        raise faults.Conflict(
            'Insufficient rights for removing default security group.',
            'SecurityGroupCannotRemoveDefault',
        )
    if conn.execute(
        sa.select(tables.port_groups.c.port_id)
        .where(tables.port_groups.c.security_group_id == group_id)
        .limit(1)
    ).first():
        raise faults.Conflict(f'Security Group {group_id} in use.', 'SecurityGroupInUse')
    rules = tables.rules
    conn.execute(
        rules.delete().where(
            sa.or_(rules.c.security_group_id == group_id, rules.c.remote_group_id == group_id)
        )
    )
    conn.execute(
        tables.default_groups.delete().where(tables.default_groups.c.security_group_id == group_id)
    )
    conn.execute(GROUPS.delete().where(GROUPS.c.id == group_id))


FILTERS = {
    'stateful': 'stateful',
    'shared': lambda values: sa.literal(False).in_(
        [listing.boolean(value, 'shared') for value in values]
    ),
}


def _ensure_listed(db, req):
    """Looking at a list is a first use; a write only when it is needed."""
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
    plural='security_groups',
    style=standard.STYLE,
    before_list=_ensure_listed,
    revisions=GROUPS,
    listed=standard.lists(GROUPS, filters=FILTERS),
    get=standard.owned(GROUPS),
    views=views,
    create=create,
    create_body=BODY,
    update=update,
    update_body=BODY,
    delete=delete,
)
