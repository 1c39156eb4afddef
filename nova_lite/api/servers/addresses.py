"""Addresses of a server, from the network information in its record."""

import typing

from nova_lite.clients import session

# (address, IP version, fixed or floating, MAC address)
Address: typing.TypeAlias = tuple[str, int, str, str | None]


def by_network(network_info: session.Jsons) -> dict[str | None, list[Address]]:
    """Return {network label: [(address, version, type, mac)]}, floating addresses included."""
    found: dict[str | None, list[Address]] = {}
    for port in network_info or ():
        network = port.get('network') or {}
        listed = found.setdefault(network.get('label'), [])
        mac = port.get('address')
        for subnet in network.get('subnets', ()):
            for ip in subnet.get('ips', ()):
                listed.append((ip['address'], ip['version'], 'fixed', mac))
                for floating in ip.get('floating_ips', ()):
                    listed.append((floating['address'], floating['version'], 'floating', mac))
    return found


def every(network_info: session.Jsons, version: int) -> list[str]:
    """Return all addresses of one IP version."""
    return [
        address
        for listed in by_network(network_info).values()
        for address, ip_version, _type, _mac in listed
        if ip_version == version
    ]


def view(network_info: session.Jsons, *, extended: bool = True) -> dict[str | None, session.Jsons]:
    """Return the `addresses` of the API: {label: [{addr, version, ...}]}."""
    return {
        label: [_entry(each, extended) for each in listed]
        for label, listed in by_network(network_info).items()
    }


def _entry(each: Address, extended: bool) -> session.Json:
    address, version, kind, mac = each
    entry = {'version': version, 'addr': address}
    if extended:
        entry['OS-EXT-IPS:type'] = kind
        entry['OS-EXT-IPS-MAC:mac_addr'] = mac
    return entry
