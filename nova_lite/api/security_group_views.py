"""Security groups of the network service in the form that compute shows them.

Compute knows rules for incoming traffic only. Source: reference/nova/api-surface 2.3.
"""

from collections.abc import Mapping
import typing

from nova_lite.api import request
from nova_lite.clients import session

Ports: typing.TypeAlias = tuple[int, int]

ALL_PORTS = (1, 65535)
NO_PORTS = (-1, -1)
WITH_PORTS = ('tcp', 'udp')
ANYWHERE = {'IPv4': '0.0.0.0/0', 'IPv6': '::/0'}


def groups(req: request.Request, found: session.Jsons) -> session.Jsons:
    """Return the groups with their rules, by project and name."""
    sources = _sources(req, found)
    ordered = sorted(found, key=lambda group: (group['tenant_id'], group['name'], group['id']))
    return [_group(each, sources) for each in ordered]


def _sources(req: request.Request, found: session.Jsons) -> dict[str, session.Json]:
    """Return {id: group} of the groups whose members rules let in."""
    known = {group['id']: group for group in found}
    named = {
        rule['remote_group_id']
        for group in found
        for rule in _incoming(group)
        if rule['remote_group_id']
    }
    unknown = sorted(named - set(known))
    if unknown:
        others = req.app.network.list(
            req.ctxt,
            'security-groups',
            as_user=True,
            id=unknown,
            fields=['id', 'name', 'tenant_id'],
        )
        known.update((group['id'], group) for group in others)
    return known


def _incoming(group: session.Json) -> session.Jsons:
    return [rule for rule in group['security_group_rules'] if rule['direction'] == 'ingress']


def _group(group: session.Json, sources: Mapping[str, session.Json]) -> session.Json:
    return {
        'id': group['id'],
        'name': group['name'],
        'description': group['description'],
        'tenant_id': group['tenant_id'],
        # A group that the caller does not see, or that is gone, is not named.
        'rules': [
            rule(each, sources)
            for each in _incoming(group)
            if not each['remote_group_id'] or each['remote_group_id'] in sources
        ],
    }


def rule(found: session.Json, sources: Mapping[str, session.Json]) -> session.Json:
    """Return one rule; sources: {id: group}, which has that of the rule."""
    first, last = _ports(found)
    shown = {
        'id': found['id'],
        'parent_group_id': found['security_group_id'],
        'ip_protocol': found['protocol'],
        'from_port': first,
        'to_port': last,
        'group': {},
        'ip_range': {},
    }
    if found['remote_group_id']:
        source = sources[found['remote_group_id']]
        shown['group'] = {'name': source['name'], 'tenant_id': source['tenant_id']}
    else:
        shown['ip_range'] = {'cidr': found['remote_ip_prefix'] or ANYWHERE[found['ethertype']]}
    return shown


def _ports(found: session.Json) -> Ports:
    ports = found['port_range_min'], found['port_range_max']
    if found['protocol'] is None or ports != (None, None):
        return ports
    return ALL_PORTS if found['protocol'].lower() in WITH_PORTS else NO_PORTS
