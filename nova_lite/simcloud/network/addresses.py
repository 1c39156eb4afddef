"""Allocation of IP addresses from the pools of subnets."""

from collections.abc import Iterator
import ipaddress
import typing

import sqlalchemy as sa

from nova_lite.simcloud import bodies
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud.network import standard
from nova_lite.simcloud.network import tables

Address: typing.TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
Network: typing.TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network

ALLOCATIONS = tables.allocations
SUBNETS = tables.subnets
FIRST_LOOK, LONGEST_LOOK = 16, 400


def parse(text: str) -> Address:
    """Return an IPv4Address or IPv6Address. Raise BadRequest."""
    try:
        return ipaddress.ip_address(text)
    except ValueError as error:
        raise standard.invalid(f"'{text[:64]}' is not a valid IP address") from error


def pools_of(subnet: database.Row) -> list[tuple[int, int]]:
    """Return [(first, last)] of a subnet's allocation pools as integers."""
    return [
        (int(ipaddress.ip_address(pool['start'])), int(ipaddress.ip_address(pool['end'])))
        for pool in subnet['allocation_pools']
    ]


def _candidates(pools: list[tuple[int, int]], start: int) -> Iterator[int]:
    """Yield every address of the pools once, first the addresses from `start` on."""
    for first, last in pools:
        yield from range(max(first, start), last + 1)
    for first, last in pools:
        yield from range(first, min(last, start - 1) + 1)


def _free(conn: sa.Connection, subnet: database.Row) -> str | None:
    """Return the next free address of a subnet, or None when all are taken."""
    family = ipaddress.IPv4Address if subnet['ip_version'] == 4 else ipaddress.IPv6Address
    source = _candidates(pools_of(subnet), int(ipaddress.ip_address(subnet['next_address'])))
    look = FIRST_LOOK
    while True:
        some = [str(family(number)) for number, _ in zip(source, range(look), strict=False)]
        if not some:
            return None
        among = ALLOCATIONS.c.ip_address.in_(some)
        held = database.find_all(conn, ALLOCATIONS, among, subnet_id=subnet['id'])
        taken = {row['ip_address'] for row in held}
        for address in some:
            if address not in taken:
                return address
        look = min(look * 2, LONGEST_LOOK)


def _following(address: str, subnet: database.Row) -> str:
    """Return the address after `address`, at which the next search for a free one starts."""
    number = int(ipaddress.ip_address(address)) + 1
    first, last = pools_of(subnet)[0][0], pools_of(subnet)[-1][1]
    return str(ipaddress.ip_address(number if number <= last else first))


def take_any(conn: sa.Connection, subnet: database.Row) -> str | None:
    """Take the next free address after the last one taken. Return it, or None if there is none."""
    subnet = database.get(conn, SUBNETS, id=subnet['id'])
    if not subnet['allocation_pools']:
        return None
    address = _free(conn, subnet)
    if address is not None:
        conn.execute(
            SUBNETS.update()
            .where(SUBNETS.c.id == subnet['id'])
            .values(next_address=_following(address, subnet))
        )
    return address


def is_taken(conn: sa.Connection, subnet_id: str, address: str) -> bool:
    """Return whether a port has the address in this subnet."""
    return database.exists(conn, ALLOCATIONS, subnet_id=subnet_id, ip_address=address)


def subnets_of(conn: sa.Connection, network_id: str) -> list[database.Row]:
    """Return the subnets of a network, oldest first."""
    return database.find_all(conn, SUBNETS, network_id=network_id, order=('created_at', 'id'))


def of_port(conn: sa.Connection, port_id: str) -> list[bodies.Json]:
    """Return the fixed_ips of a port in their order: [{subnet_id, ip_address}]."""
    held = database.find_all(conn, ALLOCATIONS, port_id=port_id, order=['position'])
    return [fixed_ip(row) for row in held]


def fixed_ip(row: database.Row) -> dict[str, str]:
    """Return {subnet_id, ip_address} of a row of an address."""
    return {'subnet_id': row['subnet_id'], 'ip_address': row['ip_address']}


def _exhausted(network_id: str) -> faults.Conflict:
    return faults.Conflict(
        f'No more IP addresses available on network {network_id}.', 'IpAddressGenerationFailure'
    )


def _named(subnets: list[database.Row], subnet_id: str, network_id: str) -> database.Row:
    for subnet in subnets:
        if subnet['id'] == subnet_id:
            return subnet
    raise standard.invalid(
        f'Failed to create port on network {network_id}, because fixed_ips '
        f'included invalid subnet {subnet_id}'
    )


def _holding(subnets: list[database.Row], address: Address) -> database.Row:
    for subnet in subnets:
        if address in ipaddress.ip_network(subnet['cidr']):
            return subnet
    raise faults.BadRequest(
        f'IP address {address} is not a valid IP for any of the subnets on the specified network.',
        'InvalidIpForNetwork',
    )


def _take_named(
    conn: sa.Connection,
    network_id: str,
    wanted: bodies.Json,
    *,
    subnets: list[database.Row],
    keep: set[tuple[str, str]],
) -> tuple[str, str]:
    """Return (subnet id, address) for one entry of fixed_ips. Raise BadRequest or Conflict."""
    subnet = None
    if wanted.get('subnet_id'):
        subnet = _named(subnets, wanted['subnet_id'], network_id)
    if not wanted.get('ip_address'):
        if subnet is None:
            raise standard.invalid('IP allocation requires subnet_id or ip_address')
        free = take_any(conn, subnet)
        if free is None:
            raise _exhausted(network_id)
        return subnet['id'], free
    address = parse(wanted['ip_address'])
    subnet = subnet or _holding(subnets, address)
    network = ipaddress.ip_network(subnet['cidr'])
    edges = (network.network_address, network.broadcast_address)
    if address not in network or (
        network.version == 4 and network.prefixlen < 31 and address in edges
    ):
        raise faults.BadRequest(
            f'IP address {address} is not a valid IP for the specified subnet.',
            'InvalidIpForSubnet',
        )
    pair = subnet['id'], str(address)
    if pair not in keep and is_taken(conn, *pair):
        raise faults.Conflict(
            f'IP address {address} is already allocated in subnet {subnet["id"]}.',
            'IpAddressAlreadyAllocated',
        )
    return pair


def _take_default(
    conn: sa.Connection, network_id: str, subnets: list[database.Row]
) -> list[tuple[str, str]]:
    """Return one (subnet id, address) per IP version, from the first subnet with a free address."""
    pairs = []
    for version in sorted({subnet['ip_version'] for subnet in subnets}):
        for subnet in (one for one in subnets if one['ip_version'] == version):
            address = take_any(conn, subnet)
            if address is not None:
                pairs.append((subnet['id'], address))
                break
        else:
            raise _exhausted(network_id)
    return pairs


def assign(
    conn: sa.Connection, network_id: str, port_id: str, wanted: list[bodies.Json] | None
) -> None:
    """Replace the addresses of a port by the addresses of `wanted`, the entries of fixed_ips.

    wanted: None for one address of each IP version that the network has
    The port keeps an address that an entry names.
    """
    subnets = subnets_of(conn, network_id)
    had = {(one['subnet_id'], one['ip_address']) for one in of_port(conn, port_id)}
    if wanted is None:
        pairs = _take_default(conn, network_id, subnets)
    else:
        pairs = _take_all(conn, network_id, wanted, subnets=subnets, had=had)
    if had:
        release(conn, port_id)
    for position, (subnet_id, address) in enumerate(pairs):
        pair = {'subnet_id': subnet_id, 'ip_address': address}
        database.insert(conn, ALLOCATIONS, **pair, port_id=port_id, position=position)


def _take_all(
    conn: sa.Connection,
    network_id: str,
    wanted: list[bodies.Json],
    *,
    subnets: list[database.Row],
    had: set[tuple[str, str]],
) -> list[tuple[str, str]]:
    """Return (subnet id, address) for each entry, in order. Named addresses are taken first."""
    taken: dict[int, tuple[str, str]] = {}
    free = set(had)
    order = sorted(range(len(wanted)), key=lambda place: 'ip_address' not in wanted[place])
    for place in order:
        entry = wanted[place]
        pair = _kept(entry, free) or _take_named(conn, network_id, entry, subnets=subnets, keep=had)
        while pair in taken.values():
            if entry.get('ip_address'):
                raise standard.invalid(f'the address {pair[1]} is named twice')
            pair = _take_named(conn, network_id, entry, subnets=subnets, keep=had)
        free.discard(pair)
        taken[place] = pair
    return [taken[place] for place in range(len(wanted))]


def _kept(entry: dict[str, str], free: set[tuple[str, str]]) -> tuple[str, str] | None:
    """Return the port's (subnet id, address) that an entry with only a subnet keeps, or None."""
    if entry.get('ip_address') or not entry.get('subnet_id'):
        return None
    return next((pair for pair in sorted(free) if pair[0] == entry['subnet_id']), None)


def release(conn: sa.Connection, port_id: str) -> None:
    """Free all addresses of a port."""
    database.delete(conn, ALLOCATIONS, port_id=port_id)
