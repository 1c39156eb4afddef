"""Removed resources: 410 for all callers and microversions.

Proxies to other services, which ended with 2.35, are in `proxies`.
Source: reference/nova/api-surface 3.
"""

import typing

from nova_lite.api import faults
from nova_lite.api import operation
from nova_lite.api import request

GONE = {
    '/os-agents': ('GET', 'POST'),
    '/os-agents/{id}': ('PUT', 'DELETE'),
    '/os-cells': ('GET', 'POST'),
    '/os-cells/capacities': ('GET',),
    '/os-cells/detail': ('GET',),
    '/os-cells/info': ('GET',),
    '/os-cells/sync_instances': ('POST',),
    '/os-cells/{id}': ('GET', 'PUT', 'DELETE'),
    '/os-cells/{id}/capacities': ('GET',),
    '/os-certificates': ('POST',),
    '/os-certificates/{id}': ('GET',),
    '/os-cloudpipe': ('GET', 'POST'),
    '/os-cloudpipe/{id}': ('PUT',),
    '/os-fixed-ips/{id}': ('GET',),
    '/os-fixed-ips/{id}/action': ('POST',),
    '/os-floating-ip-dns': ('GET',),
    '/os-floating-ip-dns/{id}': ('PUT', 'DELETE'),
    '/os-floating-ip-dns/{id}/entries/{name}': ('GET', 'PUT', 'DELETE'),
    '/os-floating-ips-bulk': ('GET', 'POST'),
    '/os-floating-ips-bulk/{id}': ('GET', 'PUT'),
    '/os-fping': ('GET',),
    '/os-fping/{id}': ('GET',),
    '/os-networks': ('POST',),
    '/os-networks/add': ('POST',),
    '/os-networks/{id}': ('DELETE',),
    '/os-networks/{id}/action': ('POST',),
    '/os-security-group-default-rules': ('GET', 'POST'),
    '/os-security-group-default-rules/{id}': ('GET', 'DELETE'),
    '/os-tenant-networks': ('POST',),
    '/os-tenant-networks/{id}': ('DELETE',),
    '/servers/{server_id}/consoles': ('GET', 'POST'),
    '/servers/{server_id}/consoles/{id}': ('GET', 'DELETE'),
    '/servers/{server_id}/os-virtual-interfaces': ('GET',),
}


def refuse(_req: request.Request) -> typing.NoReturn:
    """Answer 410."""
    raise faults.Gone()


for path, methods in GONE.items():
    for method in methods:
        operation.operation(method, path, load=False, query=operation.ANY_QUERY, faults=(410,))(
            refuse
        )

operation.server_action(
    'resetNetwork',
    body=None,
    load=False,
    faults=(410,),
)(refuse)
