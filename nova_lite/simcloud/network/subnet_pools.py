"""/v2.0/subnetpools: prefixes from which subnets get their addresses."""

import ipaddress

import sqlalchemy as sa

from nova_lite.dialects import shapes
from nova_lite.simcloud import bodies
from nova_lite.simcloud import caller as callers
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import resources
from nova_lite.simcloud.network import address_scopes
from nova_lite.simcloud.network import addresses
from nova_lite.simcloud.network import rbac_access
from nova_lite.simcloud.network import standard
from nova_lite.simcloud.network import tables

POOLS, MEMBERS = tables.subnet_pools, tables.pooled_subnets
LENGTH = {'type': 'integer', 'minimum': 0, 'maximum': 128}
LENGTHS = ('min_prefixlen', 'default_prefixlen', 'max_prefixlen')
# {IP version: (shortest, longest prefix) unless a request says otherwise}
BOUNDS = {4: (8, 32), 6: (64, 128)}
_UPDATABLE = {
    **standard.PROPERTIES,
    **dict.fromkeys(LENGTHS, LENGTH),
    'prefixes': {**bodies.array({'type': 'string', 'maxLength': 64}, most=64), 'minItems': 1},
    'default_quota': bodies.nullable(bodies.COUNT),
    'address_scope_id': bodies.OPTIONAL_ID,
    'is_default': bodies.BOOLEAN,
}
CREATE = bodies.wrapped(
    'subnetpool', {**_UPDATABLE, 'shared': bodies.BOOLEAN}, ['name', 'prefixes']
)
UPDATE = bodies.wrapped('subnetpool', _UPDATABLE)
FILTERED = bodies.words('ip_version shared is_default address_scope_id default_quota')
SHOWN = (*FILTERED, *LENGTHS, 'prefixes')


def view(row: database.Row) -> bodies.Json:
    """Return one pool."""
    return standard.view(row, *SHOWN)


def visible(caller: callers.Caller) -> shapes.Condition:
    """Return the condition that the caller may use a pool."""
    return sa.or_(standard.own(caller, POOLS), POOLS.c.shared, rbac_access.granted(caller, POOLS))


get = standard.getter(POOLS, visible)


def _prefixes(texts: list[str]) -> list[addresses.Network]:
    """Return the prefixes as networks that do not overlap, in order. Raise BadRequest."""
    try:
        found = [ipaddress.ip_network(text, strict=False) for text in texts]
    except ValueError as error:
        raise standard.invalid(str(error)) from error
    if len({network.version for network in found}) > 1:
        raise faults.BadRequest(
            'Cannot mix IPv4 and IPv6 prefixes in a subnet pool.', 'PrefixVersionMismatch'
        )
    v4 = [network for network in found if isinstance(network, ipaddress.IPv4Network)]
    v6 = [network for network in found if isinstance(network, ipaddress.IPv6Network)]
    return [*ipaddress.collapse_addresses(v4), *ipaddress.collapse_addresses(v6)]


def _columns(conn: sa.Connection, caller: callers.Caller, row: database.Row) -> database.Row:
    """Return the computed columns of a new or changed pool. Raise BadRequest or Conflict."""
    prefixes = _prefixes(row['prefixes'])
    version = prefixes[0].version
    low = row.get('min_prefixlen', BOUNDS[version][0])
    chosen = row.get('default_prefixlen', low)
    high = row.get('max_prefixlen', BOUNDS[version][1])
    if not low <= chosen <= high <= BOUNDS[version][1]:
        raise faults.BadRequest(
            f'Illegal prefix bounds: min_prefixlen={low}, default_prefixlen={chosen}, '
            f'max_prefixlen={high}.',
            'IllegalSubnetPoolPrefixBounds',
        )
    if row.get('address_scope_id'):
        scope = address_scopes.get(conn, caller, row['address_scope_id'])
        if scope['ip_version'] != version:
            raise faults.BadRequest(
                f'Illegal subnet pool association: an address scope of IPv{scope["ip_version"]} '
                f'cannot have a pool of IPv{version}.',
                'IllegalSubnetPoolIpVersionAssociation',
            )
        _require_free_in(conn, scope, prefixes, row.get('id'))
    lengths = dict(zip(LENGTHS, (low, chosen, high), strict=True))
    return {**lengths, 'ip_version': version, 'prefixes': [str(each) for each in prefixes]}


def _require_no_default(conn: sa.Connection, version: int) -> None:
    if database.exists(conn, POOLS, is_default=True, ip_version=version):
        raise standard.invalid(
            'A default subnetpool for this IP family has already been set. Only one default may '
            'exist per IP family'
        )


def default_id(conn: sa.Connection, caller: callers.Caller, version: int) -> str:
    """Return the id of the default pool for an IP version. Raise BadRequest if there is none."""
    row = database.find(conn, POOLS, visible(caller), is_default=True, ip_version=version)
    if row is None:
        raise faults.BadRequest(
            f'Bad subnets request: No default subnetpool found for IPv{version}.', 'BadRequest'
        )
    return str(row['id'])


def _require_free_in(
    conn: sa.Connection,
    scope: database.Row,
    prefixes: list[addresses.Network],
    pool_id: str | None,
) -> None:
    for other in database.find_all(conn, POOLS, address_scope_id=scope['id']):
        known = [] if other['id'] == pool_id else _prefixes(other['prefixes'])
        for prefix in prefixes:
            if any(map(prefix.overlaps, known)):
                raise faults.Conflict(
                    f'Prefix {prefix} overlaps a prefix of subnet pool {other["id"]}, which is '
                    f'also in address scope {scope["id"]}.',
                    'AddressScopePrefixConflict',
                )


def _require_allowed(caller: callers.Caller, wanted: bodies.Json) -> None:
    for name in ('shared', 'is_default'):
        if wanted.get(name):
            caller.require_admin(f'setting {name} of a subnet pool')


def create(conn: sa.Connection, caller: callers.Caller, wanted: bodies.Json) -> database.Row:
    """Insert a pool and return its row."""
    _require_allowed(caller, wanted)
    values = _columns(conn, caller, wanted)
    if wanted.get('is_default'):
        _require_no_default(conn, values['ip_version'])
    return standard.insert(conn, caller, POOLS, wanted, **values)


def update(
    conn: sa.Connection, caller: callers.Caller, pool_id: str, wanted: bodies.Json
) -> database.Row:
    """Change a pool and return its row. Raise BadRequest if its prefixes would shrink."""
    _require_allowed(caller, wanted)
    row = standard.get(conn, caller, POOLS, pool_id)
    values = standard.columns(POOLS, wanted)
    values |= _columns(conn, caller, {**row, **values})
    if values.get('is_default') and not row['is_default']:
        _require_no_default(conn, values['ip_version'])
    kept = _prefixes(values['prefixes'])
    for prefix in map(ipaddress.ip_network, row['prefixes']):
        if not any(_is_within(prefix, each) for each in kept):
            raise faults.BadRequest(
                f'Illegal subnetpool update : existing prefixes must be a subset of new prefixes: '
                f'{prefix}.',
                'IllegalSubnetPoolUpdate',
            )
    return standard.save(conn, POOLS, row, **values)


def delete(conn: sa.Connection, caller: callers.Caller, pool_id: str) -> None:
    """Delete a pool. Raise BadRequest if a subnet has its addresses from the pool."""
    standard.get(conn, caller, POOLS, pool_id)
    if _used(conn, pool_id):
        raise faults.BadRequest(
            'Unable to delete subnet pool: Subnet pool has existing allocations.',
            'SubnetPoolDeleteError',
        )
    rbac_access.forget(conn, pool_id)
    database.delete(conn, POOLS, id=pool_id)


def _used(conn: sa.Connection, pool_id: str) -> list[addresses.Network]:
    """Return the networks of the subnets of a pool."""
    subnets = tables.subnets
    joined = sa.select(subnets.c.cidr).join(MEMBERS, MEMBERS.c.subnet_id == subnets.c.id)
    found = conn.execute(joined.where(MEMBERS.c.subnet_pool_id == pool_id)).scalars()
    return [ipaddress.ip_network(cidr) for cidr in found]


def _is_within(network: addresses.Network, other: addresses.Network) -> bool:
    return network.prefixlen >= other.prefixlen and network.network_address in other


def allocate(
    conn: sa.Connection,
    caller: callers.Caller,
    wanted: bodies.Json,
    network: addresses.Network | None,
) -> addresses.Network:
    """Return the network of a new subnet of a pool. Raise BadRequest or Conflict.

    network: the requested network; None: the first free network of the requested prefix length
    """
    pool = get(conn, caller, wanted['subnetpool_id'])
    if pool['ip_version'] != wanted['ip_version']:
        raise standard.invalid(
            f'ip_version {wanted["ip_version"]} does not match subnet pool {pool["id"]}, which '
            f'is of IPv{pool["ip_version"]}'
        )
    prefixes, used = _prefixes(pool['prefixes']), _used(conn, pool['id'])
    if network is not None:
        _require_length(pool, network.prefixlen)
        is_inside = any(_is_within(network, prefix) for prefix in prefixes)
        if not is_inside or any(network.overlaps(other) for other in used):
            raise _insufficient(f'Cannot allocate requested subnet {network} from the pool')
        return network
    length = wanted.get('prefixlen')
    length = pool['default_prefixlen'] if length is None else length
    _require_length(pool, length)
    for prefix in prefixes:
        free = _free(prefix, length, used)
        if free is not None:
            return free
    raise _insufficient(f'Insufficient prefix space to allocate subnet size /{length}')


def _require_length(pool: database.Row, length: int) -> None:
    for is_wrong, bound, kind in (
        (length < pool['min_prefixlen'], pool['min_prefixlen'], 'Min'),
        (length > pool['max_prefixlen'], pool['max_prefixlen'], 'Max'),
    ):
        if is_wrong:
            raise faults.BadRequest(
                f'Unable to allocate subnet with prefix length {length}, '
                f'{kind.lower()}imum allowed prefix is {bound}.',
                f'{kind}PrefixSubnetAllocationError',
            )


def _insufficient(reason: str) -> faults.Conflict:
    return faults.Conflict(f'Failed to allocate subnet: {reason}.', 'SubnetAllocationError')


def _free(
    prefix: addresses.Network, length: int, used: list[addresses.Network]
) -> addresses.Network | None:
    """Return the first network of this length that overlaps no network in `used`, or None."""
    start, end = int(prefix.network_address), int(prefix.broadcast_address)
    size = 1 << (prefix.max_prefixlen - length)
    while start + size - 1 <= end:
        network = type(prefix)((start, length))
        clash = next((each for each in used if each.overlaps(network)), None)
        if clash is None:
            return network
        start = max(start + size, int(clash.broadcast_address) + 1)
    return None


def require_affinity(conn: sa.Connection, pool_id: str | None, others: list[database.Row]) -> None:
    """Raise BadRequest if a subnet does not fit the other subnets of its network and IP version.

    All subnets must have the same pool, or pools of one address scope. pool_id: None for no pool
    """
    known = of_subnets(conn, [row['id'] for row in others])
    ids = {pool_id, *(known.get(row['id']) for row in others)}
    pools = database.find_all(conn, POOLS, POOLS.c.id.in_(ids - {None}))
    scopes = {row['address_scope_id'] for row in pools}
    if len(ids) > 1 and (None in ids | scopes or len(scopes) > 1):
        raise faults.BadRequest(
            'All subnets of a network must be of the same subnet pool or address scope.',
            'NetworkSubnetPoolAffinityError',
        )


def join(conn: sa.Connection, subnet_id: str, pool_id: str) -> None:
    """Record the pool of a new subnet."""
    database.insert(conn, MEMBERS, subnet_id=subnet_id, subnet_pool_id=pool_id)


def of_subnets(conn: sa.Connection, ids: list[str]) -> dict[str, str]:
    """Return {subnet id: pool id} of the subnets that have a pool."""
    found = database.grouped(conn, MEMBERS.c.subnet_id, ids)
    return {subnet_id: row['subnet_pool_id'] for subnet_id, (row,) in found.items()}


def leave(conn: sa.Connection, subnet_id: str) -> None:
    """Delete the record of the pool of a subnet."""
    database.delete(conn, MEMBERS, subnet_id=subnet_id)


RESOURCE = resources.Resource(
    name='subnetpool',
    style=standard.STYLE,
    revisions=POOLS,
    listed=standard.lists(POOLS, visible=visible, filters=rbac_access.filters(POOLS, FILTERED)),
    get=get,
    views=rbac_access.views(view),
    create=(create, CREATE),
    update=(update, UPDATE),
    delete=delete,
)
