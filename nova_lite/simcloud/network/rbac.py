"""/v2.0/rbac-policies: grants of access to a project's objects for other projects.

An object whose attribute `shared` or `router:external` is set needs no policy, and gets none.
"""

from collections.abc import Callable
import dataclasses
import typing

import sqlalchemy as sa

from nova_lite.dialects import shapes
from nova_lite.simcloud import bodies
from nova_lite.simcloud import caller as callers
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import resources
from nova_lite.simcloud.network import address_scopes
from nova_lite.simcloud.network import networks
from nova_lite.simcloud.network import qos_rules
from nova_lite.simcloud.network import rbac_access
from nova_lite.simcloud.network import security_groups
from nova_lite.simcloud.network import standard
from nova_lite.simcloud.network import subnet_pools
from nova_lite.simcloud.network import tables

# The id of an object -> a query of the projects that use the object.
Users: typing.TypeAlias = Callable[[str], shapes.Select]

POLICIES = tables.rbac_policies
TARGET = {'type': 'string', 'minLength': 1, 'maxLength': 64}
CREATE = bodies.wrapped(
    'rbac_policy',
    {
        'object_type': bodies.NAME,
        'object_id': bodies.ID,
        'action': bodies.NAME,
        'target_tenant': TARGET,
        'project_id': bodies.ID,
        'tenant_id': bodies.ID,
    },
    ['object_type', 'object_id', 'action', 'target_tenant'],
)
UPDATE = bodies.wrapped('rbac_policy', {'target_tenant': TARGET})
FILTERS = {
    **{name: name for name in ('object_type', 'object_id', 'action')},
    'target_tenant': 'target_project',
}


def _where(column: sa.Column[typing.Any]) -> Users:
    """Return a query of the projects that use an object. column: has the id of the object"""
    owner = column.table.c.project_id
    return lambda object_id: sa.select(owner).where(column == object_id)


def _joined(table: sa.Table, member: sa.Column[typing.Any], column: sa.Column[typing.Any]) -> Users:
    """Return a query of the projects whose rows of `table` use an object through another table."""
    joined = sa.select(table.c.project_id).join(column.table, member == table.c.id)
    return lambda object_id: joined.where(column == object_id)


@dataclasses.dataclass(frozen=True)
class Kind:
    """A type of objects. uses: {action: queries of the projects that use an object}"""

    get: resources.GetById
    uses: dict[str, tuple[Users, ...]]


_groups, _pooled = tables.port_groups, tables.pooled_subnets
KINDS = {
    'network': Kind(
        networks.get,
        {
            rbac_access.SHARED: (_where(tables.ports.c.network_id),),
            rbac_access.EXTERNAL: (
                _where(tables.floating_ips.c.floating_network_id),
                _where(tables.routers.c.gateway_network_id),
            ),
        },
    ),
    'qos_policy': Kind(
        qos_rules.get_policy,
        {
            rbac_access.SHARED: (
                _where(tables.ports.c.qos_policy_id),
                _where(tables.networks.c.qos_policy_id),
            )
        },
    ),
    'security_group': Kind(
        security_groups.get,
        {
            rbac_access.SHARED: (
                _joined(tables.ports, _groups.c.port_id, _groups.c.security_group_id),
            )
        },
    ),
    'address_scope': Kind(
        address_scopes.get,
        {rbac_access.SHARED: (_where(tables.subnet_pools.c.address_scope_id),)},
    ),
    'subnetpool': Kind(
        subnet_pools.get,
        {
            rbac_access.SHARED: (
                _joined(tables.subnets, _pooled.c.subnet_id, _pooled.c.subnet_pool_id),
            )
        },
    ),
}


def view(row: database.Row) -> bodies.Json:
    """Return one policy."""
    shown = ('id', 'project_id', 'object_type', 'object_id', 'action')
    return {
        **{name: row[name] for name in shown},
        'tenant_id': row['project_id'],
        'target_tenant': row['target_project'],
    }


get = standard.getter(POLICIES)


def _kind(wanted: bodies.Json) -> Kind:
    """Return the Kind of the object of a request. Raise BadRequest for an unknown action."""
    kind = KINDS.get(wanted['object_type'])
    if kind is None:
        raise standard.invalid(f"Object type '{wanted['object_type']}' is not one of {list(KINDS)}")
    if wanted['action'] not in kind.uses:
        raise standard.invalid(
            f"Invalid action '{wanted['action']}' for object type '{wanted['object_type']}'. "
            f'Valid actions: {list(kind.uses)}'
        )
    return kind


def _require_allowed(caller: callers.Caller, target: str) -> None:
    if target == rbac_access.EVERYONE:
        caller.require_admin('granting access to all projects')


def _require_new(conn: sa.Connection, values: dict[str, str]) -> None:
    if database.exists(conn, POLICIES, **values):
        raise faults.Conflict(
            'An RBAC policy already exists with those values.', 'DuplicateRbacPolicy'
        )


def create(conn: sa.Connection, caller: callers.Caller, wanted: bodies.Json) -> database.Row:
    """Grant access to an object of the caller's project, and return the policy's row."""
    target = wanted['target_tenant']
    _require_allowed(caller, target)
    found = _kind(wanted).get(conn, caller, wanted['object_id'])
    if not caller.is_admin and found['project_id'] != caller.project_id:
        raise standard.invalid('Only admins can manipulate policies on objects they do not own')
    values = {name: wanted[name] for name in ('object_id', 'action')} | {'target_project': target}
    _require_new(conn, values)
    return standard.insert(conn, caller, POLICIES, wanted, target_project=target)


def update(
    conn: sa.Connection, caller: callers.Caller, policy_id: str, wanted: bodies.Json
) -> database.Row:
    """Change the project to which a policy grants access. Return the policy's row."""
    row = get(conn, caller, policy_id)
    target = wanted['target_tenant'] if wanted else row['target_project']
    if target == row['target_project']:
        return row
    _require_allowed(caller, target)
    values = {name: row[name] for name in ('object_id', 'action')}
    _require_new(conn, {**values, 'target_project': target})
    changed = standard.save(conn, POLICIES, row, target_project=target)
    _require_kept(conn, caller, row)
    return changed


def delete(conn: sa.Connection, caller: callers.Caller, policy_id: str) -> None:
    """Delete a policy. Raise Conflict if another project still needs its grant."""
    row = get(conn, caller, policy_id)
    database.delete(conn, POLICIES, id=policy_id)
    _require_kept(conn, caller, row)


def _require_kept(conn: sa.Connection, caller: callers.Caller, row: database.Row) -> None:
    """Raise Conflict if a project uses the object of the deleted policy `row` without a grant."""
    kind, action, object_id = KINDS[row['object_type']], row['action'], row['object_id']
    # As a caller without a project: grants to the owner say nothing about others.
    found = kind.get(conn, caller.service(None), object_id)
    others = database.find_all(conn, POLICIES, object_id=object_id, action=action)
    targets = {one['target_project'] for one in others}
    if rbac_access.EVERYONE in targets or found.get(rbac_access.ATTRIBUTES[action]):
        return
    users = {
        project_id
        for query in kind.uses[action]
        for project_id in conn.execute(query(object_id)).scalars()
    }
    # Ports of floating IPs have the project id ''.
    if users - targets - {found['project_id'], ''}:
        raise faults.Conflict(
            f'RBAC policy on object {object_id} cannot be removed because other objects depend '
            f'on it.\nDetails: it is used by other projects.',
            'RbacPolicyInUse',
        )


RESOURCE = resources.Resource(
    name='rbac_policy',
    plural='rbac_policies',
    style=standard.STYLE,
    listed=standard.lists(POLICIES, filters=FILTERS),
    get=get,
    views=resources.each(view),
    create=(create, CREATE),
    update=(update, UPDATE),
    delete=delete,
)
