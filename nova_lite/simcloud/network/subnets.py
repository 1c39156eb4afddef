"""/v2.0/subnets."""

import ipaddress

import sqlalchemy as sa

from nova_lite.dialects import shapes
from nova_lite.simcloud import bodies
from nova_lite.simcloud import caller as callers
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import resources
from nova_lite.simcloud import web
from nova_lite.simcloud.network import addresses
from nova_lite.simcloud.network import networks
from nova_lite.simcloud.network import standard
from nova_lite.simcloud.network import subnet_pools
from nova_lite.simcloud.network import tables

SUBNETS = tables.subnets
ADDRESS = {'type': 'string', 'maxLength': 64}
IPV6_MODE = bodies.nullable({'enum': ['slaac', 'dhcpv6-stateful', 'dhcpv6-stateless']})


def _pair(*names: str, extra: bool = True) -> database.Row:
    return bodies.record(dict.fromkeys(names, ADDRESS), names, extra=extra)


_UPDATABLE = {
    **standard.PROPERTIES,
    'gateway_ip': bodies.nullable(ADDRESS),
    'enable_dhcp': bodies.BOOLEAN,
    'dns_nameservers': bodies.array(ADDRESS, most=5),
    'host_routes': bodies.array(_pair('destination', 'nexthop'), most=20),
    'allocation_pools': bodies.array(_pair('start', 'end', extra=False), most=64),
    'service_types': {'type': 'array', 'maxItems': 0},
    'dns_publish_fixed_ip': {'const': False},
}
CREATE = bodies.wrapped(
    'subnet',
    {
        **_UPDATABLE,
        'network_id': bodies.ID,
        'ip_version': {'type': 'integer', 'enum': [4, 6]},
        'cidr': bodies.nullable(ADDRESS),
        'ipv6_address_mode': IPV6_MODE,
        'ipv6_ra_mode': IPV6_MODE,
        'subnetpool_id': bodies.OPTIONAL_ID,
        'use_default_subnetpool': bodies.nullable(bodies.BOOLEAN),
        'prefixlen': bodies.nullable(subnet_pools.LENGTH),
        'segment_id': {'type': 'null'},
    },
    ['network_id', 'ip_version'],
)
UPDATE = bodies.wrapped('subnet', _UPDATABLE)
FILTERED = bodies.words(
    'network_id ip_version cidr gateway_ip enable_dhcp ipv6_address_mode ipv6_ra_mode'
)
FILTERS: standard.Filters = {
    **{name: name for name in FILTERED},
    'subnetpool_id': lambda ids: SUBNETS.c.id.in_(
        sa.select(tables.pooled_subnets.c.subnet_id).where(
            tables.pooled_subnets.c.subnet_pool_id.in_(ids)
        )
    ),
}
SHOWN = (*FILTERED, 'dns_nameservers', 'host_routes', 'allocation_pools')


def views(conn: sa.Connection, _req: web.Request, found: list[database.Row]) -> list[bodies.Json]:
    """Return subnets with the ids of their pools."""
    pools = subnet_pools.of_subnets(conn, [row['id'] for row in found])
    return [_view(row, pools.get(row['id'])) for row in found]


def _view(row: database.Row, pool_id: str | None) -> bodies.Json:
    return {
        **standard.view(row, *SHOWN),
        'service_types': [],
        'subnetpool_id': pool_id,
        'segment_id': None,
        'dns_publish_fixed_ip': False,
    }


def visible(caller: callers.Caller) -> shapes.Condition:
    """Return the condition that the caller may see the subnet's network."""
    return SUBNETS.c.network_id.in_(sa.select(tables.networks.c.id).where(networks.visible(caller)))


get = standard.getter(SUBNETS, visible)


def network_of(cidr: str, ip_version: int) -> addresses.Network:
    """Return the network of a CIDR. Raise BadRequest if it is not of that IP version."""
    try:
        network = ipaddress.ip_network(cidr, strict=False)
    except ValueError as error:
        raise standard.invalid(f"'{cidr}' is not a valid IP subnet") from error
    if network.version != ip_version:
        raise standard.invalid(f'ip_version {ip_version} does not match cidr {cidr}')
    return network


def _all_but(network: addresses.Network, gateway: addresses.Address | None) -> list[bodies.Json]:
    """Return the allocation pools with all host addresses except the gateway's."""
    first, last = int(network.network_address), int(network.broadcast_address)
    if network.num_addresses > 2:
        first, last = first + 1, last - (1 if network.version == 4 else 0)
    ranges = [(first, last)]
    if gateway is not None and first <= int(gateway) <= last:
        ranges = [(first, int(gateway) - 1), (int(gateway) + 1, last)]
    family = type(network.network_address)
    return [
        {'start': str(family(start)), 'end': str(family(end))}
        for start, end in ranges
        if start <= end
    ]


def _checked_pools(
    network: addresses.Network, gateway: addresses.Address | None, wanted: list[bodies.Json]
) -> list[bodies.Json]:
    """Return the requested pools in order. Raise BadRequest or Conflict if they do not fit."""
    pairs = sorted(
        (addresses.parse(pool['start']), addresses.parse(pool['end']))
        for pool in wanted
        if _same_family(network, pool)
    )
    for start, end in pairs:
        if int(start) > int(end):
            raise faults.BadRequest(
                f'The allocation pool {start}-{end} is not valid.', 'InvalidAllocationPool'
            )
        if start not in network or end not in network:
            raise faults.BadRequest(
                f'The allocation pool {start}-{end} spans beyond the subnet cidr {network}.',
                'OutOfBoundsAllocationPool',
            )
        if gateway is not None and int(start) <= int(gateway) <= int(end):
            raise faults.Conflict(
                f'Gateway ip {gateway} conflicts with allocation pool {start}-{end}.',
                'GatewayConflictWithAllocationPools',
            )
    for (_, end), (start, _) in zip(pairs, pairs[1:], strict=False):
        if int(start) <= int(end):
            raise faults.Conflict(
                f'Found overlapping allocation pools for subnet {network}.',
                'OverlappingAllocationPools',
            )
    return [{'start': str(start), 'end': str(end)} for start, end in pairs]


def _same_family(network: addresses.Network, pool: bodies.Json) -> bool:
    for name in ('start', 'end'):
        if addresses.parse(pool[name]).version != network.version:
            raise standard.invalid(f'{pool[name]} is not an IPv{network.version} address')
    return True


def _gateway_of(network: addresses.Network, wanted: bodies.Json) -> addresses.Address | None:
    """Return the address of the gateway: the requested one, by default the first host; or None."""
    if 'gateway_ip' not in wanted:
        return network.network_address + (1 if network.num_addresses > 1 else 0)
    if wanted['gateway_ip'] in (None, ''):
        return None
    gateway = addresses.parse(wanted['gateway_ip'])
    if gateway.version != network.version:
        raise standard.invalid(f'gateway_ip {gateway} does not match ip_version')
    return gateway


def _require_fitting(
    conn: sa.Connection, network_id: str, network: addresses.Network, pool_id: str | None
) -> None:
    """Raise BadRequest if the network conflicts with other subnets of the same IP version."""
    others = [
        row
        for row in addresses.subnets_of(conn, network_id)
        if row['ip_version'] == network.version
    ]
    for other in others:
        if ipaddress.ip_network(other['cidr']).overlaps(network):
            raise standard.invalid(
                f'Requested subnet with cidr: {network} for network: '
                f'{network_id} overlaps with another subnet'
            )
    subnet_pools.require_affinity(conn, pool_id, others)


def create(conn: sa.Connection, caller: callers.Caller, wanted: bodies.Json) -> database.Row:
    """Insert a subnet from a request's values and return its row."""
    owner = networks.get_own(conn, caller, wanted['network_id'])
    version = wanted['ip_version']
    if wanted.get('use_default_subnetpool'):
        if wanted.get('subnetpool_id'):
            raise standard.invalid('subnetpool_id and use_default_subnetpool exclude each other')
        wanted = {**wanted, 'subnetpool_id': subnet_pools.default_id(conn, caller, version)}
    network = _network(conn, caller, wanted)
    _require_fitting(conn, owner['id'], network, wanted.get('subnetpool_id'))
    gateway = _gateway_of(network, wanted)
    pools = wanted.get('allocation_pools')
    pools = _all_but(network, gateway) if pools is None else _checked_pools(network, gateway, pools)
    row = standard.insert(
        conn,
        caller,
        SUBNETS,
        {**wanted, 'project_id': owner['project_id'], 'ip_version': version},
        cidr=str(network),
        gateway_ip=str(gateway) if gateway is not None else None,
        allocation_pools=pools,
        next_address=pools[0]['start'] if pools else str(network.network_address),
    )
    if wanted.get('subnetpool_id'):
        subnet_pools.join(conn, row['id'], wanted['subnetpool_id'])
    return row


def _network(conn: sa.Connection, caller: callers.Caller, wanted: bodies.Json) -> addresses.Network:
    cidr = wanted.get('cidr')
    network = network_of(cidr, wanted['ip_version']) if cidr else None
    if wanted.get('subnetpool_id'):
        return subnet_pools.allocate(conn, caller, wanted, network)
    if network is None:
        raise faults.BadRequest(
            'Bad subnets request: a subnetpool must be specified in the absence of a cidr.',
            'BadRequest',
        )
    return network


def update(
    conn: sa.Connection, caller: callers.Caller, subnet_id: str, wanted: bodies.Json
) -> database.Row:
    """Change a subnet and return its row."""
    row = get(conn, caller, subnet_id)
    networks.get_own(conn, caller, row['network_id'])
    values = standard.columns(SUBNETS, wanted)
    network = ipaddress.ip_network(row['cidr'])
    gateway = _gateway_of(network, {'gateway_ip': row['gateway_ip'], **wanted})
    values['gateway_ip'] = str(gateway) if gateway is not None else None
    if 'gateway_ip' in wanted or 'allocation_pools' in wanted:
        pools = _checked_pools(network, gateway, (row | wanted)['allocation_pools'])
        values |= {
            'allocation_pools': pools,
            'next_address': pools[0]['start'] if pools else row['next_address'],
        }
    return standard.save(conn, SUBNETS, row, **values)


def delete(conn: sa.Connection, caller: callers.Caller, subnet_id: str) -> None:
    """Delete a subnet. Raise Conflict if a port has an address of the subnet."""
    row = get(conn, caller, subnet_id)
    networks.get_own(conn, caller, row['network_id'])
    if database.exists(conn, tables.allocations, subnet_id=subnet_id):
        raise faults.Conflict(
            f'Unable to complete operation on subnet {subnet_id}: One or more ports have an IP '
            f'allocation from this subnet.',
            'SubnetInUse',
        )
    subnet_pools.leave(conn, subnet_id)
    database.delete(conn, SUBNETS, id=subnet_id)


RESOURCE = resources.Resource(
    name='subnet',
    style=standard.STYLE,
    revisions=SUBNETS,
    listed=standard.lists(
        SUBNETS, visible=visible, filters=FILTERS, sortable=('cidr', 'ip_version')
    ),
    get=get,
    views=views,
    create=(create, CREATE),
    update=(update, UPDATE),
    delete=delete,
)
