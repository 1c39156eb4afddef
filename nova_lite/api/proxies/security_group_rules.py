"""/os-security-group-rules up to 2.35: rules for incoming traffic, in the network service.

Source: reference/nova/api-surface 2.6.
"""

import ipaddress
import typing

from nova_lite import exception
from nova_lite.api import operation
from nova_lite.api import request
from nova_lite.api import schema_parts
from nova_lite.api import security_group_views as views
from nova_lite.api.policies import security_groups as rules
from nova_lite.api.proxies import security_groups
from nova_lite.clients import items
from nova_lite.clients import session

PATH = '/os-security-group-rules'
MOST_PORT, MOST_ICMP = 65535, 255
ICMP = 'icmp'
PROTOCOLS = ('tcp', 'udp', ICMP)
# nova's word for all types of ICMP.
ALL = -1
# Nova's schema has only the groups: the rest is read by `_traffic` and `_network`.
_RULE = schema_parts.open_object(
    {'parent_group_id': schema_parts.UUID, 'group_id': schema_parts.null_or(schema_parts.UUID)},
    required=['parent_group_id'],
)


class RuleNotUsable(exception.Invalid):
    msg = 'Invalid security group rule: %(reason)s'


class RuleNotFound(exception.NotFound):
    msg = 'Security group rule %(rule_id)s not found.'


@operation.operation(
    'POST',
    PATH,
    policy=rules.RULE_CREATE,
    body={
        '2.1': schema_parts.open_object(
            {'security_group_rule': _RULE}, required=['security_group_rule']
        )
    },
    until=security_groups.UNTIL,
    faults=security_groups.FAULTS,
)
def create(req: request.Request) -> operation.Result:
    """Add a rule for incoming traffic to a security group."""
    asked = req.content
    group = security_groups.get(req, asked['parent_group_id'])
    wanted = {'security_group_id': group['id'], 'direction': 'ingress', **_traffic(asked)}
    sources = {}
    if asked.get('group_id'):
        source = security_groups.get(req, asked['group_id'])
        sources[source['id']] = source
        wanted |= {'remote_group_id': source['id']}
    else:
        wanted |= _network(asked.get('cidr'))
    made = req.app.network.service.call(
        req.ctxt,
        'POST',
        '/security-group-rules',
        as_user=True,
        json={'security_group_rule': wanted},
        errors={400: RuleNotUsable, 404: RuleNotUsable, 409: session.or_quota(RuleNotUsable)},
    )
    return {'security_group_rule': views.rule(made.json()['security_group_rule'], sources)}


@operation.operation(
    'DELETE',
    PATH + '/{id}',
    policy=rules.RULE_DELETE,
    until=security_groups.UNTIL,
    success=202,
    faults=security_groups.FAULTS,
)
def delete(req: request.Request) -> None:
    """Remove a rule for incoming traffic from its security group."""
    service = req.app.network.service
    found = items.Items(
        service, '/security-group-rules', missing=(RuleNotFound, 'rule_id'), as_user=True
    )
    found.call(req.ctxt, 'DELETE', security_groups.uuid_of(req))


def _traffic(asked: session.Json) -> session.Json:
    """Return protocol and ports in the format of the network service. Raise RuleNotUsable."""
    protocol = str(asked.get('ip_protocol') or '').lower()
    given = [asked.get(name) for name in ('from_port', 'to_port')]
    if not protocol and given == [None, None] and asked.get('group_id'):
        return {}
    if not protocol or None in given:
        raise RuleNotUsable(reason='it needs ip_protocol, from_port and to_port')
    if protocol not in PROTOCOLS:
        raise RuleNotUsable(reason=f'ip_protocol is {protocol}, not one of {PROTOCOLS}')
    first, last = (_port(number) for number in given)
    if protocol == ICMP:
        if not ALL <= min(first, last) <= max(first, last) <= MOST_ICMP:
            raise RuleNotUsable(
                reason=f'from_port and to_port of {ICMP} are from {ALL} to {MOST_ICMP}'
            )
        ports = [None if number == ALL else number for number in (first, last)]
    elif first == last == ALL:
        ports = [None, None]
    elif 1 <= first <= last <= MOST_PORT:
        ports = [first, last]
    else:
        raise RuleNotUsable(
            reason=f'from_port must be at least 1, and to_port no less and at most {MOST_PORT}'
        )
    return {'protocol': protocol, 'port_range_min': ports[0], 'port_range_max': ports[1]}


def _port(value: typing.Any) -> int:
    """Return a JSON value as the number of a port. Raise RuleNotUsable."""
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise RuleNotUsable(reason='from_port and to_port must be integers') from error


def _network(cidr: str | None) -> session.Json:
    """Return the CIDR of the allowed sources, with the given host bits. Raise RuleNotUsable."""
    cidr = cidr or views.ANYWHERE['IPv4']
    try:
        found = ipaddress.ip_interface(cidr if isinstance(cidr, str) else f'{cidr}')
    except ValueError as error:
        raise RuleNotUsable(reason=f'cidr: {error}') from error
    if '/' not in cidr:
        raise RuleNotUsable(reason=f"cidr: '{cidr}' has no prefix length")
    if '%' in cidr:
        raise RuleNotUsable(reason=f"cidr: '{cidr}' names an interface")
    return {'remote_ip_prefix': str(found), 'ethertype': f'IPv{found.version}'}
