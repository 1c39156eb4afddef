"""/v2.0/qos: policies with minimum bandwidth, and what their ports ask of placement."""

import dataclasses

import sqlalchemy as sa

from nova_lite.simcloud import bodies
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import resources
from nova_lite.simcloud.network import standard
from nova_lite.simcloud.network import tables

POLICIES = tables.qos_policies
RULES = tables.qos_rules
RESOURCES = {'egress': 'NET_BW_EGR_KILOBIT_PER_SEC', 'ingress': 'NET_BW_IGR_KILOBIT_PER_SEC'}

POLICY_BODY = bodies.wrapped(
    'policy', {**standard.PROPERTIES, 'shared': bodies.BOOLEAN, 'is_default': {'const': False}}
)
_RULE = {'min_kbps': bodies.COUNT, 'direction': {'enum': list(RESOURCES)}}
CREATE_RULE = bodies.wrapped('minimum_bandwidth_rule', _RULE, ['min_kbps'])
UPDATE_RULE = bodies.wrapped('minimum_bandwidth_rule', _RULE)


def resource_requests(conn, ports):
    """{port id: what the port asks of placement} for ports with such a policy."""
    with_policy = [port for port in ports if port['qos_policy_id']]
    if not with_policy:
        return {}
    rules = database.grouped(
        conn, RULES.c.qos_policy_id, {port['qos_policy_id'] for port in with_policy}
    )
    networks = database.grouped(
        conn, tables.networks.c.id, {port['network_id'] for port in with_policy}
    )
    requests = {}
    for port in with_policy:
        resources = {
            RESOURCES[rule['direction']]: rule['min_kbps']
            for rule in rules.get(port['qos_policy_id'], ())
        }
        if resources:
            (network,) = networks[port['network_id']]
            physical = network['physical_network']
            traits = [f'CUSTOM_PHYSNET_{physical.upper()}'] if physical else []
            requests[port['id']] = {'required': traits, 'resources': resources}
    return requests


def visible(caller):
    """The condition that the caller may use a policy."""
    return sa.or_(standard.own(caller, POLICIES), POLICIES.c.shared)


get = standard.getter(POLICIES, visible)


def _rule_view(row):
    return {name: row[name] for name in ('id', 'qos_policy_id', 'min_kbps', 'direction')}


def _policy_view(row, rules):
    return {
        **standard.view(row, 'shared'),
        'is_default': False,
        'rules': [{**_rule_view(rule), 'type': 'minimum_bandwidth'} for rule in rules],
    }


def _views(conn, _req, found):
    rules = database.grouped(conn, RULES.c.qos_policy_id, [row['id'] for row in found], 'id')
    return [_policy_view(row, rules.get(row['id'], ())) for row in found]


def _rule(conn, caller, policy_id, rule_id):
    get(conn, caller, policy_id)
    row = database.find(conn, RULES, id=rule_id, qos_policy_id=policy_id)
    if row is None:
        raise faults.NotFound(
            f'QoS rule {rule_id[:64]} for policy {policy_id[:64]} could not be found.',
            'QosRuleNotFound',
        )
    return row


def _rules(conn, req, policy_id):
    get(conn, req.context.caller, policy_id)
    return database.find_all(conn, RULES, qos_policy_id=policy_id, order=['id'])


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
    database.delete(conn, RULES, qos_policy_id=policy_id)
    database.delete(conn, POLICIES, id=policy_id)


def create_rule(conn, caller, policy_id, wanted):
    """Add a minimum bandwidth (kbit/s) to a policy, one per direction."""
    get(conn, caller, policy_id)
    row = database.insert(conn, RULES, qos_policy_id=policy_id, **wanted)
    same = {'qos_policy_id': policy_id, 'direction': row['direction']}
    if database.exists(conn, RULES, RULES.c.id != row['id'], **same):
        raise faults.Conflict('The policy has a rule for this direction.', 'QoSRulesConflict')
    return row


def update_rule(conn, caller, policy_id, rule_id, *, wanted):
    """Change a rule and return its row."""
    row = _rule(conn, caller, policy_id, rule_id)
    return database.save(conn, RULES, row, **wanted) if wanted else row


def delete_rule(conn, caller, policy_id, rule_id):
    """Remove a rule."""
    _rule(conn, caller, policy_id, rule_id)
    database.delete(conn, RULES, id=rule_id)


POLICY = resources.Resource(
    name='policy',
    plural='policies',
    style=standard.STYLE,
    permit=resources.admins('QoS policy', actions=resources.CHANGES),
    listed=standard.lists(
        POLICIES,
        visible=visible,
        filters={'shared': 'shared'},
    ),
    get=get,
    views=_views,
    create=(create_policy, POLICY_BODY),
    update=(update_policy, POLICY_BODY),
    delete=delete_policy,
)


RULE = resources.Resource(
    name='minimum_bandwidth_rule',
    style=dataclasses.replace(
        standard.STYLE, collection=standard.whole, narrowed=resources.as_it_is
    ),
    permit=resources.admins('QoS rule', actions=resources.CHANGES),
    listed=_rules,
    get=_rule,
    views=resources.each(_rule_view),
    create=(create_rule, CREATE_RULE),
    update=(update_rule, UPDATE_RULE),
    delete=delete_rule,
)
