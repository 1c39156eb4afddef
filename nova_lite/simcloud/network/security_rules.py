"""/v2.0/security-group-rules."""

import ipaddress
import typing

import sqlalchemy as sa

from nova_lite.simcloud import bodies
from nova_lite.simcloud import caller as callers
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import resources
from nova_lite.simcloud.network import quotas
from nova_lite.simcloud.network import standard
from nova_lite.simcloud.network import tables

RULES = tables.rules
PROTOCOLS = bodies.words(
    'ah dccp egp esp gre hopopt icmp icmpv6 igmp ip ipip ipv6-encap ipv6-frag ipv6-icmp ipv6-nonxt'
    ' ipv6-opts ipv6-route ospf pgm rsvp sctp tcp udp udplite vrrp any'
)
WITH_PORTS = ('tcp', 'udp', 'dccp', 'sctp', 'udplite', '6', '17', '33', '132', '136')
ICMP = ('icmp', 'icmpv6', 'ipv6-icmp', '1', '58')
_PORT = bodies.nullable(
    {
        'anyOf': [
            {'type': 'integer', 'minimum': 0, 'maximum': 65535},
            {'type': 'string', 'pattern': '^[0-9]{1,5}$'},
        ]
    }
)
CREATE = bodies.wrapped(
    'security_group_rule',
    {
        **standard.PROPERTIES,
        'security_group_id': bodies.ID,
        'description': bodies.OPTIONAL_STRING,
        'direction': {'enum': ['ingress', 'egress']},
        'ethertype': bodies.nullable({'type': 'string', 'pattern': r'^[Ii][Pp][Vv][46]\Z'}),
        'protocol': bodies.nullable({'type': ['string', 'integer'], 'maxLength': 32}),
        'port_range_min': _PORT,
        'port_range_max': _PORT,
        'remote_ip_prefix': bodies.nullable({'type': 'string', 'maxLength': 64}),
        'remote_group_id': bodies.OPTIONAL_ID,
        'remote_address_group_id': {'type': 'null'},
    },
    ['security_group_id', 'direction'],
)
SAME = bodies.words(
    'security_group_id direction ethertype protocol port_range_min port_range_max'
    ' remote_ip_prefix remote_group_id'
)
FILTERS = {name: name for name in SAME}


def view(row: database.Row) -> bodies.Json:
    """Return one rule."""
    prefix = row['remote_ip_prefix']
    return {
        **standard.view(row, *SAME, without=['name']),
        'remote_address_group_id': None,
        'normalized_cidr': prefix and str(ipaddress.ip_network(prefix, strict=False)),
        'belongs_to_default_sg': False,
    }


def insert(conn: sa.Connection, group: database.Row, **values: typing.Any) -> database.Row:
    """Insert a rule of `group` and return its row."""
    own = {'project_id': group['project_id'], 'security_group_id': group['id']}
    return database.insert(conn, RULES, **own, **values)


def _protocol(wanted: bodies.Json) -> str | None:
    protocol = wanted.get('protocol')
    if protocol is None or str(protocol).lower() in ('any', '0', 'ip'):
        return None
    protocol = str(protocol).lower()
    if protocol.isdigit() and len(protocol) < 4 and int(protocol) <= 255:
        return protocol
    if protocol not in PROTOCOLS:
        raise faults.BadRequest(
            f'Security group rule protocol {protocol} not supported. Only '
            f'protocol values {list(PROTOCOLS)} and integer representations '
            f'[0 to 255] are supported.',
            'SecurityGroupRuleInvalidProtocol',
        )
    return protocol


def _ports(wanted: bodies.Json, protocol: str | None) -> tuple[int | None, int | None]:
    ends = [wanted.get(name) for name in ('port_range_min', 'port_range_max')]
    low, high = (int(end) if end is not None else None for end in ends)
    if low is None and high is None:
        return None, None
    if protocol in ICMP:
        if low is None or max(low, high or 0) > 255:
            raise faults.BadRequest(
                'An ICMP rule has a type and a code of at most 255.',
                'SecurityGroupInvalidIcmpValue',
            )
        return low, high
    if protocol not in WITH_PORTS:
        raise faults.BadRequest(
            f'A port range needs a protocol that has ports, not {protocol}.',
            'SecurityGroupProtocolRequiredWithPorts',
        )
    if low is None or high is None or low > high or high > 65535:
        raise faults.BadRequest(
            'For TCP/UDP protocols, port_range_min must be <= port_range_max',
            'SecurityGroupInvalidPortRange',
        )
    return low, high


def _remote(wanted: bodies.Json, ethertype: str) -> tuple[str | None, str | None]:
    """Return (prefix, group id) of the remote end; at most one of both is not None."""
    prefix, group_id = wanted.get('remote_ip_prefix'), wanted.get('remote_group_id')
    if prefix and group_id:
        raise faults.BadRequest(
            'Only remote_ip_prefix or remote_group_id may be provided.',
            'SecurityGroupMultipleRemoteEntites',
        )
    if not prefix:
        return None, group_id
    try:
        network = ipaddress.ip_network(prefix, strict=False)
    except ValueError as error:
        raise standard.invalid(f"'{prefix}' is not a valid CIDR") from error
    if f'IPv{network.version}' != ethertype:
        raise faults.BadRequest(
            f'Conflicting value ethertype {ethertype} for CIDR {prefix}',
            'SecurityGroupRuleParameterConflict',
        )
    # As it was given, with a prefix length. The view also shows the normalized network.
    return str(ipaddress.ip_interface(prefix)), None


def create(conn: sa.Connection, caller: callers.Caller, wanted: bodies.Json) -> database.Row | None:
    """Add a rule from a request's values and return its row."""
    group = standard.get(conn, caller, tables.groups, wanted['security_group_id'])
    quotas.require(conn, RULES, group['project_id'])
    ethertype = f'IPv{(wanted.get("ethertype") or "IPv4")[-1]}'
    protocol = _protocol(wanted)
    low, high = _ports(wanted, protocol)
    prefix, group_id = _remote(wanted, ethertype)
    if group_id and not database.exists(conn, tables.groups, id=group_id):
        raise standard.not_found(tables.groups, group_id)
    values = {
        'direction': wanted['direction'],
        'ethertype': ethertype,
        'protocol': protocol,
        'port_range_min': low,
        'port_range_max': high,
        'remote_ip_prefix': prefix,
        'remote_group_id': group_id,
    }
    same = database.find(conn, RULES, security_group_id=group['id'], **values)
    if same:
        raise faults.Conflict(
            f'Security group rule already exists. Rule id is {same["id"]}.',
            'SecurityGroupRuleExists',
        )
    return insert(conn, group, **values, description=wanted.get('description') or '')


def delete(conn: sa.Connection, caller: callers.Caller, rule_id: str) -> None:
    """Delete a rule."""
    standard.get(conn, caller, RULES, rule_id)
    database.delete(conn, RULES, id=rule_id)


RESOURCE = resources.Resource(
    name='security_group_rule',
    style=standard.STYLE,
    listed=standard.lists(RULES, filters=FILTERS),
    get=standard.getter(RULES),
    views=resources.each(view),
    create=(create, CREATE),
    delete=delete,
)
