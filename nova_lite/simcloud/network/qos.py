"""/v2.0/qos/policies: policies of ports and networks; `qos_rules` has their rules."""

from nova_lite.simcloud import bodies
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import resources
from nova_lite.simcloud.network import qos_rules
from nova_lite.simcloud.network import sharing
from nova_lite.simcloud.network import standard
from nova_lite.simcloud.network import tables

POLICIES = tables.qos_policies

POLICY_BODY = bodies.wrapped(
    'policy', {**standard.PROPERTIES, 'shared': bodies.BOOLEAN, 'is_default': {'const': False}}
)

get = qos_rules.get_policy


def _policy_view(row, rules):
    return {**standard.view(row, 'shared'), 'is_default': False, 'rules': rules}


def _views(conn, req, found):
    found = sharing.seen(conn, req.context.caller, found)
    rules = qos_rules.of_policies(conn, [row['id'] for row in found])
    return [
        _policy_view(
            row, [{**kind.view(rule), 'type': kind.name} for kind, rule in rules[row['id']]]
        )
        for row in found
    ]


def create_policy(conn, caller, wanted):
    """Insert a policy and return its row."""
    return standard.insert(conn, caller, POLICIES, wanted)


def update_policy(conn, caller, policy_id, wanted):
    """Rename, describe or share a policy and return its row."""
    row = get(conn, caller, policy_id)
    return standard.save(conn, POLICIES, row, **standard.columns(POLICIES, wanted))


def delete_policy(conn, caller, policy_id):
    """Remove a policy that no port uses."""
    get(conn, caller, policy_id)
    for table in (tables.ports, tables.networks):
        if database.exists(conn, table, qos_policy_id=policy_id):
            raise faults.Conflict(f'QoS Policy {policy_id} is used.', 'QosPolicyInUse')
    for kind in qos_rules.KINDS:
        database.delete(conn, kind.table, qos_policy_id=policy_id)
    sharing.forget(conn, policy_id)
    database.delete(conn, POLICIES, id=policy_id)


POLICY = resources.Resource(
    name='policy',
    plural='policies',
    style=standard.STYLE,
    permit=resources.admins('QoS policy', actions=resources.CHANGES),
    listed=standard.lists(
        POLICIES,
        visible=qos_rules.visible,
        filters=sharing.filters(POLICIES, ()),
    ),
    get=get,
    views=_views,
    create=(create_policy, POLICY_BODY),
    update=(update_policy, POLICY_BODY),
    delete=delete_policy,
)
