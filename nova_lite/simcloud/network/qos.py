"""/v2.0/qos/policies: QoS policies of ports and networks. `qos_rules` has their rules."""

import sqlalchemy as sa

from nova_lite.simcloud import bodies
from nova_lite.simcloud import caller as callers
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import resources
from nova_lite.simcloud import web
from nova_lite.simcloud.network import qos_rules
from nova_lite.simcloud.network import rbac_access
from nova_lite.simcloud.network import standard
from nova_lite.simcloud.network import tables

POLICIES, DEFAULTS, GATEWAYS = tables.qos_policies, tables.qos_defaults, tables.gateway_policies

POLICY_BODY = bodies.wrapped(
    'policy', {**standard.PROPERTIES, 'shared': bodies.BOOLEAN, 'is_default': bodies.BOOLEAN}
)

get = qos_rules.get_policy


def _policy_view(row: database.Row, rules: list[bodies.Json], *, is_default: bool) -> bodies.Json:
    return {**standard.view(row, 'shared'), 'is_default': is_default, 'rules': rules}


def _views(conn: sa.Connection, req: web.Request, found: list[database.Row]) -> list[bodies.Json]:
    found = rbac_access.seen(conn, req.context.caller, found)
    ids = [row['id'] for row in found]
    rules = qos_rules.of_policies(conn, ids)
    defaults = database.grouped(conn, DEFAULTS.c.qos_policy_id, ids)
    return [
        _policy_view(
            row,
            [{**kind.view(rule), 'type': kind.name} for kind, rule in rules[row['id']]],
            is_default=row['id'] in defaults,
        )
        for row in found
    ]


def _set_default(conn: sa.Connection, row: database.Row, is_default: bool) -> None:
    """Set whether a policy is the default of its project. Raise Conflict if there is one."""
    database.delete(conn, DEFAULTS, qos_policy_id=row['id'])
    if not is_default:
        return
    own = {'project_id': row['project_id']}
    if database.exists(conn, DEFAULTS, **own):
        raise faults.Conflict(
            f'A default QoS policy exists for project {row["project_id"]}.',
            'QoSPolicyDefaultAlreadyExists',
        )
    database.insert(conn, DEFAULTS, **own, qos_policy_id=row['id'])


def set_gateway(
    conn: sa.Connection, caller: callers.Caller, router_id: str, policy_id: str | None
) -> None:
    """Set the policy of the gateway of a router; None for no policy. Raise NotFound."""
    database.delete(conn, GATEWAYS, router_id=router_id)
    if policy_id is not None:
        get(conn, caller, policy_id)
        database.insert(conn, GATEWAYS, router_id=router_id, qos_policy_id=policy_id)


def create_policy(conn: sa.Connection, caller: callers.Caller, wanted: bodies.Json) -> database.Row:
    """Insert a policy and return its row."""
    row = standard.insert(conn, caller, POLICIES, wanted)
    _set_default(conn, row, wanted.get('is_default', False))
    return row


def update_policy(
    conn: sa.Connection, caller: callers.Caller, policy_id: str, wanted: bodies.Json
) -> database.Row:
    """Rename, describe or share a policy and return its row."""
    row = get(conn, caller, policy_id)
    if 'is_default' in wanted:
        _set_default(conn, row, wanted['is_default'])
    return standard.save(conn, POLICIES, row, **standard.columns(POLICIES, wanted))


def delete_policy(conn: sa.Connection, caller: callers.Caller, policy_id: str) -> None:
    """Delete a policy. Raise Conflict if a port, network or gateway uses it."""
    get(conn, caller, policy_id)
    for table in (tables.ports, tables.networks, GATEWAYS):
        if database.exists(conn, table, qos_policy_id=policy_id):
            raise faults.Conflict(f'QoS Policy {policy_id} is used.', 'QosPolicyInUse')
    for kind in qos_rules.KINDS:
        database.delete(conn, kind.table, qos_policy_id=policy_id)
    database.delete(conn, DEFAULTS, qos_policy_id=policy_id)
    rbac_access.forget(conn, policy_id)
    database.delete(conn, POLICIES, id=policy_id)


POLICY = resources.Resource(
    name='policy',
    plural='policies',
    style=standard.STYLE,
    permit=resources.admins('QoS policy', actions=resources.CHANGES),
    listed=standard.lists(
        POLICIES,
        visible=qos_rules.visible,
        filters=rbac_access.filters(POLICIES, ()),
    ),
    get=get,
    views=_views,
    create=(create_policy, POLICY_BODY),
    update=(update_policy, POLICY_BODY),
    delete=delete_policy,
)
