"""Networks and security groups of new servers.

Source: reference/nova/create-server 1.4.
"""

from nova_lite import exception
from nova_lite.api import formats
from nova_lite.clients import resource_requests
from nova_lite.policies import servers as rules

NONE, AUTO = 'none', 'auto'
DEFAULT_GROUP = 'default'
# Servers may have ports that ask placement for resources.
RESOURCE_REQUESTS_SINCE = 72


def parse(req, wanted, plan):
    """Fill networks from the body: None, 'auto', 'none' or a list of plain requests."""
    if wanted in (NONE, AUTO):
        plan.networks = wanted
    else:
        plan.networks = [_request(each) for each in wanted or ()] or None
    if plan.networks != NONE:
        req.authorize(rules.ATTACH_NETWORK)
    if not isinstance(plan.networks, list):
        return
    ports = [each['port_id'] for each in plan.networks if each['port_id']]
    if len(ports) != len(set(ports)):
        raise exception.Invalid('The same port is requested more than once.')
    if plan.most > 1 and ports:
        raise exception.Invalid(
            'Unable to launch multiple servers with a single configured port ID.'
        )
    if plan.most > 1 and any(each['fixed_ip'] for each in plan.networks):
        raise exception.Invalid('max_count cannot be greater than 1 if a fixed_ip is specified.')


def _request(entry):
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
        # Up to 2.36 the schema takes any text.
        raise exception.Invalid(
            f'Bad networks format: network uuid is not in proper format ({network_id})'
        )
    return {
        'network_id': network_id,
        'fixed_ip': fixed_ip,
        'port_id': port_id,
        'tag': entry.get('tag'),
    }


def validate(req, plan):
    """Ask the network service, and make `most` what its quota allows; raises OverQuota."""
    if plan.networks == NONE:
        return
    networks, count = req.app.network.validate(
        req.ctxt,
        plan.networks,
        plan.most,
        may_attach_external=req.allows(rules.EXTERNAL_NETWORK),
    )
    _require_supported(req, networks)
    if count < plan.least:
        raise exception.OverQuota('Maximum number of ports exceeded')
    plan.networks, plan.most = networks, count


def _require_supported(req, networks):
    """Raise Invalid for a port with a resource request before the microversion that has them."""
    for port in resource_requests.of_requested(networks):
        if req.minor < RESOURCE_REQUESTS_SINCE:
            raise exception.Invalid(
                f'Port {port["id"]} asks for resources by its QoS policy. Servers can be created '
                f'with such ports from microversion 2.{RESOURCE_REQUESTS_SINCE} on.'
            )


def choose_groups(req, wanted, plan):
    """Fill the security groups, each once.

    They must exist also when the server has no networks, as in nova. Raise SecurityGroupNotUsable
    or NoUniqueMatch.
    """
    names = list(dict.fromkeys(each['name'] for each in wanted or () if 'name' in each))
    plan.groups = names or [DEFAULT_GROUP]
    if plan.groups != [DEFAULT_GROUP]:
        req.app.network.security_groups.validate(req.ctxt, plan.groups)
