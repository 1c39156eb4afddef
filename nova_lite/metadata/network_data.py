"""network_data.json: links, networks and services from the ports of a server."""

from collections.abc import Iterable
import ipaddress

from nova_lite.objects import base

# Types of links in the schema of the document; other types are shown as `phy`.
TYPES = ('bridge', 'dvs', 'hw_veb', 'hyperv', 'ovs', 'tap', 'vhostuser', 'vif')
PHYSICAL = 'phy'


def build(network_info: Iterable[base.Data]) -> base.Data:
    """Return the document. network_info: that of the server's record"""
    links: list[base.Data] = []
    networks: list[base.Data] = []
    services: list[base.Data] = []
    for vif in network_info:
        link = _link(vif)
        links.append(link)
        for subnet in vif['network']['subnets']:
            for ip in subnet['ips']:
                name = f'network{len(networks)}'
                networks.append(
                    {
                        'id': name,
                        'link': link['id'],
                        'network_id': vif['network']['id'],
                        **_addressing(subnet, ip['address']),
                    }
                )
            services += [service for service in _services(subnet) if service not in services]
    return {'links': links, 'networks': networks, 'services': services}


def _link(vif: base.Data) -> base.Data:
    return {
        'id': vif['devname'],
        'vif_id': vif['id'],
        'type': vif['type'] if vif['type'] in TYPES else PHYSICAL,
        'mtu': vif['network']['meta'].get('mtu'),
        'ethernet_mac_address': vif['address'],
    }


def _addressing(subnet: base.Data, address: str) -> base.Data:
    """Return the type of a network, with the addresses unless the guest gets them by DHCP."""
    kind = f'ipv{subnet["version"]}'
    mode = subnet['meta'].get('ipv6_address_mode')
    if mode is not None:
        kind += f'_{mode}'
    elif subnet['meta'].get('enable_dhcp'):
        return {'type': f'{kind}_dhcp'}
    return {
        'type': kind,
        'ip_address': address,
        'netmask': str(ipaddress.ip_network(subnet['cidr'], strict=False).netmask),
        'routes': _routes(subnet),
        'services': _services(subnet),
    }


def _routes(subnet: base.Data) -> list[base.Data]:
    """Return the route to the gateway and the host routes of the subnet."""
    everywhere = '0.0.0.0/0' if subnet['version'] == 4 else '::/0'
    gateway = [{'cidr': everywhere, 'gateway': subnet['gateway']}] if subnet['gateway'] else []
    found = []
    for route in (*gateway, *subnet['routes']):
        network = ipaddress.ip_network(route['cidr'], strict=False)
        found.append(
            {
                'network': str(network.network_address),
                'netmask': str(network.netmask),
                'gateway': route['gateway']['address'],
            }
        )
    return found


def _services(subnet: base.Data) -> list[base.Data]:
    return [{'type': 'dns', 'address': dns['address']} for dns in subnet['dns']]
