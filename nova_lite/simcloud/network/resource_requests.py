"""Resource requests of ports: groups of resources, from the rules of their QoS policies."""

import re

import sqlalchemy as sa

from nova_lite import runtime
from nova_lite.simcloud import bodies
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud.network import binding_records
from nova_lite.simcloud.network import qos_rules
from nova_lite.simcloud.network import tables

# Key of a binding's profile under which nova stores the providers of the port's allocation.
ALLOCATION = 'allocation'
# The trait of providers that carry tunneled networks.
TUNNEL = 'CUSTOM_NETWORK_TUNNEL_PROVIDER'


def of_ports(
    conn: sa.Connection, ports: list[database.Row], port_bindings: dict[str, list[database.Row]]
) -> dict[str, bodies.Json]:
    """Return {port id: resource request} of the ports whose policies have guarantees.

    port_bindings: {port id: rows of its bindings}
    """
    with_policy = [port for port in ports if port['qos_policy_id']]
    if not with_policy:
        return {}
    ids = {port['qos_policy_id'] for port in with_policy}
    rules = qos_rules.of_policies(conn, ids, qos_rules.GUARANTEES)
    networks = database.grouped(
        conn, tables.networks.c.id, {port['network_id'] for port in with_policy}
    )
    requests = {}
    for port in with_policy:
        (network,) = networks[port['network_id']]
        active = binding_records.active_of(port['id'], port_bindings.get(port['id'], []))
        groups = _groups(port, rules[port['qos_policy_id']], network, active['vnic_type'])
        if groups:
            requests[port['id']] = {
                'request_groups': groups,
                'same_subtree': [group['id'] for group in groups],
            }
    return requests


def _groups(
    port: database.Row,
    rules: list[qos_rules.Rule],
    network: database.Row,
    vnic_type: str,
) -> list[bodies.Json]:
    """Return one group for each kind of guarantee. Different providers may serve the groups."""
    found = []
    for kind in qos_rules.GUARANTEES:
        resources = {
            kind.classes[row['direction']]: row[kind.amount]
            for rule_kind, row in rules
            if rule_kind is kind and row[kind.amount]
        }
        if resources:
            required = [_trait('VNIC_TYPE', vnic_type)]
            if kind is qos_rules.BANDWIDTH:
                required.insert(0, _carrier(network))
            found.append(
                {
                    'id': runtime.uuid_of(port['id'], kind.name),
                    'required': required,
                    'resources': resources,
                }
            )
    return found


def _carrier(network: database.Row) -> str:
    physical = network['physical_network']
    return _trait('PHYSNET', physical) if physical else TUNNEL


def _trait(prefix: str, name: str) -> str:
    return f'CUSTOM_{prefix}_{re.sub("[^A-Z0-9_]", "_", name.upper())}'


def require_unallocated(conn: sa.Connection, port_id: str) -> None:
    """Raise Conflict if nova has an allocation for a port, which would not follow a change."""
    active = binding_records.active_of(port_id, binding_records.of_port(conn, port_id))
    if active['host'] and active['profile'].get(ALLOCATION):
        raise faults.Conflict(
            f'Port {port_id} is bound to host {active["host"]}, which has allocated resources for '
            f'its QoS policy. The policy cannot be changed.',
            'QosPolicyInUse',
        )
