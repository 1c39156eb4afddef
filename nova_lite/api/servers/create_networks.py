"""Networks and security groups of new servers.

Source: reference/nova/create-server 1.4.
"""

import typing

from nova_lite import exception
from nova_lite.api import formats
from nova_lite.api import request
from nova_lite.api.policies import servers as rules
from nova_lite.api.servers import create_plan
from nova_lite.clients import requested
from nova_lite.clients import resource_requests
from nova_lite.clients import session
from nova_lite.objects import port_devices

DEFAULT_GROUP = 'default'
# The microversion from which servers may have ports with resource requests.
RESOURCE_REQUESTS_SINCE = 72


def parse(req: request.Request, asked: typing.Any, most: int) -> requested.Wanted | None:
    """Return the requested networks: None, 'auto', 'none' or a list of dicts.

    asked: value of `networks`; most: number of servers
    """
    if asked == requested.NONE:
        return requested.NONE
    if asked == requested.AUTO:
        req.authorize(rules.ATTACH_NETWORK)
        return requested.AUTO
    wanted = [_request(each) for each in asked or ()]
    req.authorize(rules.ATTACH_NETWORK)
    ports = [each['port_id'] for each in wanted if each['port_id']]
    if len(ports) != len(set(ports)):
        raise exception.Invalid('The same port is requested more than once.')
    if most > 1 and ports:
        raise exception.Invalid(
            'Unable to launch multiple servers with a single configured port ID.'
        )
    if most > 1 and any(each['fixed_ip'] for each in wanted):
        raise exception.Invalid('max_count cannot be greater than 1 if a fixed_ip is specified.')
    return wanted or None


def _request(entry: session.Json) -> session.Json:
    port_id, network_id, fixed_ip = entry.get('port'), entry.get('uuid'), entry.get('fixed_ip')
    if port_id:
        if fixed_ip:
            raise exception.Invalid(
                f'Specified Fixed IP {fixed_ip} cannot be used with port {port_id}: the two '
                'cannot be specified together.'
            )
        network_id = None
    elif network_id is None:
        raise exception.Invalid('Bad networks format: an entry needs uuid or port')
    elif not formats.is_uuid_like(network_id):
        # Up to 2.36 the schema accepts any text.
        raise exception.Invalid(
            f'Bad networks format: network uuid is not in proper format ({network_id})'
        )
    return {
        'network_id': network_id,
        'fixed_ip': fixed_ip,
        'port_id': port_id,
        'tag': entry.get('tag'),
    }


def validate(req: request.Request, asked: create_plan.Asked) -> tuple[requested.Wanted | None, int]:
    """Return the networks as the network service has them, and how many servers its quota allows.

    Raise OverQuota.
    """
    if asked.networks == requested.NONE:
        return asked.networks, asked.most
    networks, count = req.app.network.validate(
        req.ctxt,
        asked.networks,
        asked.most,
        may_attach_external=req.allows(rules.EXTERNAL_NETWORK),
    )
    _require_supported(req, networks)
    if count < asked.least:
        raise exception.OverQuota('Maximum number of ports exceeded')
    return networks, count


def _require_supported(req: request.Request, networks: requested.Wanted) -> None:
    """Raise Invalid for a port of an accelerator, or with a resource request too early.

    The first microversion for resource requests is RESOURCE_REQUESTS_SINCE.
    """
    kind = port_devices.accelerator(networks if isinstance(networks, list) else ())
    if kind is not None:
        raise exception.Invalid(
            f'A port of type {kind} needs an accelerator service, and there is none.'
        )
    for port in resource_requests.of_requested(networks):
        if req.minor < RESOURCE_REQUESTS_SINCE:
            raise exception.Invalid(
                f'Port {port["id"]} asks for resources by its QoS policy. Servers can be created '
                f'with such ports from microversion 2.{RESOURCE_REQUESTS_SINCE} on.'
            )


def choose_groups(req: request.Request, wanted: session.Jsons | None) -> list[str]:
    """Return the names or ids of the security groups, each once.

    They must exist also when the server has no networks, as in nova. Raise SecurityGroupNotUsable
    or NoUniqueMatch.
    """
    names = list(dict.fromkeys(each['name'] for each in wanted or () if 'name' in each))
    groups = names or [DEFAULT_GROUP]
    if groups != [DEFAULT_GROUP]:
        req.app.network.security_groups.validate(req.ctxt, groups)
    return groups
