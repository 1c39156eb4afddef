"""/v2.0/qos: policies with minimum bandwidth, and what their ports ask of placement."""

import dataclasses

import sqlalchemy as sa

from nova_lite import runtime
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
    rules = standard.grouped(
        conn, RULES, RULES.c.qos_policy_id, {port['qos_policy_id'] for port in with_policy}
    )
    networks = {
        row['id']: row
        for row in database.rows(
            conn,
            sa.select(tables.networks).where(
                tables.networks.c.id.in_({port['network_id'] for port in with_policy})
            ),
        )
    }
    requests = {}
    for port in with_policy:
        resources = {
            RESOURCES[rule['direction']]: rule['min_kbps']
            for rule in rules.get(port['qos_policy_id'], ())
        }
        if resources:
            physical = networks[port['network_id']]['physical_network']
            traits = [f'CUSTOM_PHYSNET_{physical.upper()}'] if physical else []
            requests[port['id']] = {'required': traits, 'resources': resources}
    return requests


def require_known(conn, caller, policy_id):
    """NotFound unless the caller may use the policy."""
    if policy_id is None:
        return
    row = standard.find(conn, POLICIES, policy_id)
    if row is None or not (row['shared'] or caller.sees(row['project_id'])):
        raise faults.NotFound(f'QoS policy {policy_id} could not be found.', 'QosPolicyNotFound')


def _rule_view(row):
    return {name: row[name] for name in ('id', 'qos_policy_id', 'min_kbps', 'direction')}


def _policy_view(row, rules):
    return {
        **standard.view(row),
        'shared': row['shared'],
        'is_default': False,
        'rules': [{**_rule_view(rule), 'type': 'minimum_bandwidth'} for rule in rules],
    }


def _views(conn, _req, found):
    rules = standard.grouped(
        conn, RULES, RULES.c.qos_policy_id, [row['id'] for row in found], RULES.c.id
    )
    return [_policy_view(row, rules.get(row['id'], ())) for row in found]


def _get(conn, policy_id):
    row = standard.find(conn, POLICIES, policy_id)
    if row is None:
        raise faults.NotFound(
            f'QoS policy {policy_id[:64]} could not be found.', 'QosPolicyNotFound'
        )
    return row


def _rule(conn, policy_id, rule_id):
    row = standard.find(conn, RULES, rule_id)
    if row is None or row['qos_policy_id'] != policy_id:
        raise faults.NotFound(
            f'QoS rule {rule_id[:64]} for policy {policy_id[:64]} could not be found.',
            'QosRuleNotFound',
        )
    return row


def _usable(conn, caller, policy_id):
    require_known(conn, caller, policy_id)
    return _get(conn, policy_id)


def _usable_rule(conn, caller, policy_id, rule_id):
    require_known(conn, caller, policy_id)
    return _rule(conn, policy_id, rule_id)


def _rules(conn, req, policy_id):
    require_known(conn, req.context.caller, policy_id)
    query = sa.select(RULES).where(RULES.c.qos_policy_id == policy_id)
    return database.rows(conn, query.order_by(RULES.c.id))


def create_policy(conn, caller, wanted):
    """Insert a policy and return its row."""
    row = standard.new(caller, wanted) | {'shared': wanted.get('shared', False)}
    conn.execute(POLICIES.insert().values(**row))
    return row


def update_policy(conn, _caller, policy_id, wanted):
    """Rename, describe or share a policy and return its row."""
    return standard.save(
        conn,
        POLICIES,
        _get(conn, policy_id),
        **standard.changes(wanted, ('name', 'description', 'shared')),
    )


def delete_policy(conn, _caller, policy_id):
    """Remove a policy that no port uses."""
    _get(conn, policy_id)
    for table in (tables.ports, tables.networks):
        if conn.execute(
            sa.select(table.c.id).where(table.c.qos_policy_id == policy_id).limit(1)
        ).first():
            raise faults.Conflict(f'QoS Policy {policy_id} is used.', 'QosPolicyInUse')
    conn.execute(RULES.delete().where(RULES.c.qos_policy_id == policy_id))
    conn.execute(POLICIES.delete().where(POLICIES.c.id == policy_id))


def create_rule(conn, _caller, policy_id, wanted):
    """Add a minimum bandwidth (kbit/s) to a policy, one per direction."""
    _get(conn, policy_id)
    row = {
        'id': runtime.new_uuid(),
        'qos_policy_id': policy_id,
        'min_kbps': wanted['min_kbps'],
        'direction': wanted.get('direction', 'egress'),
    }
    if database.one(
        conn,
        sa.select(RULES).where(
            RULES.c.qos_policy_id == policy_id, RULES.c.direction == row['direction']
        ),
    ):
        raise faults.Conflict('The policy has a rule for this direction.', 'QoSRulesConflict')
    conn.execute(RULES.insert().values(**row))
    return row


def update_rule(conn, _caller, policy_id, rule_id, *, wanted):
    """Change a rule and return its row."""
    row = _rule(conn, policy_id, rule_id)
    if wanted:
        conn.execute(RULES.update().where(RULES.c.id == rule_id).values(**wanted))
    return {**row, **wanted}


def delete_rule(conn, _caller, policy_id, rule_id):
    """Remove a rule."""
    _rule(conn, policy_id, rule_id)
    conn.execute(RULES.delete().where(RULES.c.id == rule_id))


POLICY = resources.Resource(
    name='policy',
    plural='policies',
    style=standard.STYLE,
    permit=resources.admins('QoS policy', actions=resources.CHANGES),
    listed=standard.lists(
        POLICIES,
        visible=lambda caller: sa.or_(standard.own(caller, POLICIES), POLICIES.c.shared),
        filters={'shared': 'shared'},
    ),
    get=_usable,
    views=_views,
    create=create_policy,
    create_body=POLICY_BODY,
    update=update_policy,
    update_body=POLICY_BODY,
    delete=delete_policy,
)


RULE = resources.Resource(
    name='minimum_bandwidth_rule',
    plural='minimum_bandwidth_rules',
    style=dataclasses.replace(
        standard.STYLE, collection=standard.whole, narrowed=resources.as_it_is
    ),
    permit=resources.admins('QoS rule', actions=resources.CHANGES),
    listed=_rules,
    get=_usable_rule,
    views=resources.each(_rule_view),
    create=create_rule,
    create_body=CREATE_RULE,
    update=update_rule,
    update_body=UPDATE_RULE,
    delete=delete_rule,
)
