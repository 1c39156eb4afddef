"""Addresses of a server, from the network information its record holds."""


def by_network(network_info):
    """Return {network label: [(address, version, type, mac)]}, floating addresses included."""
    found = {}
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


def every(network_info, version):
    """Return all addresses of one IP version."""
    return [
        address
        for listed in by_network(network_info).values()
        for address, ip_version, _type, _mac in listed
        if ip_version == version
    ]


def view(network_info, *, extended=True):
    """Return the `addresses` of the API: {label: [{addr, version, ...}]}."""
    return {
        label: [_entry(each, extended) for each in listed]
        for label, listed in by_network(network_info).items()
    }


def _entry(each, extended):
    address, version, kind, mac = each
    entry = {'version': version, 'addr': address}
    if extended:
        entry['OS-EXT-IPS:type'] = kind
        entry['OS-EXT-IPS-MAC:mac_addr'] = mac
    return entry
