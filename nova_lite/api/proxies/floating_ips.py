"""/os-floating-ips and /os-floating-ip-pools up to 2.35: addresses of external networks.

A pool is an external network. Source: reference/nova/api-surface 2.6.
"""

import typing

import requests

from nova_lite import exception
from nova_lite.api import formats
from nova_lite.api import operation
from nova_lite.api import request
from nova_lite.api import schema_parts
from nova_lite.api.policies import addresses as rules
from nova_lite.clients import items
from nova_lite.clients import session

PATH = '/os-floating-ips'
ONE = PATH + '/{id}'
UNTIL = '2.35'
CREATE = schema_parts.null_or(schema_parts.open_object({'pool': {'type': ['string', 'null']}}))


class FloatingIpNotFound(exception.NotFound):
    msg = 'Floating IP not found for ID %(floating_ip)s.'


class FloatingIpPoolNotFound(exception.NotFound):
    msg = 'Floating IP pool %(pool)s not found.'


class NoMoreFloatingIps(exception.NotFound):
    msg = 'No more floating IPs in pool %(pool)s.'


def service(req: request.Request) -> items.Items:
    """Return a client for floating addresses of the network service, with the caller's token."""
    return items.Items(
        req.app.network.service,
        '/floatingips',
        missing=(FloatingIpNotFound, 'floating_ip'),
        as_user=True,
    )


@operation.operation(
    'GET', '/os-floating-ip-pools', policy=rules.FLOATING_POOLS, until=UNTIL, faults=(403,)
)
def pools(req: request.Request) -> operation.Result:
    """List the names of all pools."""
    found = _external(req)
    return {'floating_ip_pools': [{'name': network['name']} for network in found]}


@operation.operation('GET', PATH, policy=rules.FLOATING_LIST, until=UNTIL, faults=(403,))
def index(req: request.Request) -> operation.Result:
    """List the floating addresses of the project."""
    found = req.app.network.list(
        req.ctxt, 'floatingips', as_user=True, tenant_id=req.ctxt.project_id
    )
    return {'floating_ips': _views(req, found)}


@operation.operation('GET', ONE, policy=rules.FLOATING_SHOW, until=UNTIL, faults=(403, 404))
def show(req: request.Request) -> operation.Result:
    """Show one floating address."""
    return _shown(req, service(req).call(req.ctxt, 'GET', req.args['id']))


@operation.operation(
    'POST',
    PATH,
    policy=rules.FLOATING_CREATE,
    body={'2.1': CREATE},
    until=UNTIL,
    faults=(400, 403, 404, 409),
)
def create(req: request.Request) -> operation.Result:
    """Allocate a floating address from a pool."""
    pool = (req.body or {}).get('pool') or req.conf.neutron.default_floating_pool
    network = _pool(req, pool)
    wanted = {'floating_network_id': network['id'], 'tenant_id': req.ctxt.project_id}
    missing = session.raising(FloatingIpPoolNotFound, pool=pool)
    refused = session.or_quota(session.raising(NoMoreFloatingIps, pool=pool))
    answer = req.app.network.service.call(
        req.ctxt,
        'POST',
        '/floatingips',
        as_user=True,
        json={'floatingip': wanted},
        errors={400: exception.Invalid, 404: missing, 409: refused},
    )
    return _shown(req, answer)


@operation.operation(
    'DELETE', ONE, policy=rules.FLOATING_DELETE, until=UNTIL, success=202, faults=(403, 404)
)
def delete(req: request.Request) -> None:
    """Release a floating address, even if a server uses it."""
    service(req).call(req.ctxt, 'DELETE', req.args['id'])


def _external(req: request.Request, **filters: typing.Any) -> session.Jsons:
    return req.app.network.list(
        req.ctxt,
        'networks',
        as_user=True,
        **{'router:external': True, 'fields': ['id', 'name'], **filters},
    )


def _pool(req: request.Request, name_or_id: str) -> session.Json:
    """Return the external network. Raise FloatingIpPoolNotFound, NoUniqueMatch."""
    key = 'id' if formats.is_uuid(name_or_id) else 'name'
    found = _external(req, **{key: name_or_id})
    if not found:
        raise FloatingIpPoolNotFound(pool=name_or_id)
    if len(found) > 1:
        raise exception.NoUniqueMatch(what='floating IP pools', name=name_or_id)
    return found[0]


def _shown(req: request.Request, answer: requests.Response) -> operation.Body:
    (view,) = _views(req, [answer.json()['floatingip']])
    return {'floating_ip': view}


def _views(req: request.Request, found: session.Jsons) -> list[operation.Body]:
    """Return floating addresses with the names of their pools and the servers that use them."""
    network = req.app.network
    pools = sorted({each['floating_network_id'] for each in found})
    names = {}
    if pools:
        listed = network.list(req.ctxt, 'networks', id=pools, fields=['id', 'name'])
        names = {each['id']: each['name'] for each in listed}
    ports = sorted({each['port_id'] for each in found if each['port_id']})
    servers = {}
    if ports:
        listed = network.list(req.ctxt, 'ports', id=ports, fields=['id', 'device_id'])
        servers = {each['id']: each['device_id'] for each in listed}
    return [
        {
            'id': each['id'],
            'ip': each['floating_ip_address'],
            'pool': names.get(each['floating_network_id'], each['floating_network_id']),
            'fixed_ip': each['fixed_ip_address'],
            'instance_id': servers.get(each['port_id']) or None,
        }
        for each in found
    ]
