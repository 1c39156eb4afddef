"""network_info: the stored data of a server's ports, one dict per port.

The keys are those of nova's network info cache, security_groups [id] as the port has them, and
groups_version, which `db.cell.network_info` explains, and device of ports that are PCI devices, see
`objects.port_devices`:
id, address (MAC), type, vnic_type, devname, active, profile, details,
preserve_on_delete, tag, network {id, label, bridge, meta {mtu, tenant_id, …},
subnets [{cidr, version, gateway, dns, routes, ips [{address, type, version,
meta, floating_ips [{address, type, version}]}]}]}
"""

from collections.abc import Iterable

from nova_lite.clients import session
from nova_lite.objects import port_devices

DEVICE_NAME_LENGTH = 14  # of an interface on Linux
# Facts of a subnet that a guest needs to configure its addresses.
SUBNET_META = ('enable_dhcp', 'ipv6_address_mode')


def build(
    port: session.Json,
    network: session.Json,
    subnets: Iterable[session.Json],
    *,
    floating_ips: Iterable[session.Json] = (),
    known: session.Json | None = None,
    bridge: str | None = None,
) -> session.Json:
    """Return one port's entry.

    port, network, subnets, floating_ips: as the network service shows them;
        subnets and floating_ips may hold more than this port's
    known:  {'preserve_on_delete', 'tag'} from the time when the port was plugged, and
            'groups_version' as recorded before the port was read
    bridge: the bridge for ports that do not name one
    """
    known = known or {}
    details = port.get('binding:vif_details') or {}
    return {
        'id': port['id'],
        'address': port['mac_address'],
        'type': port.get('binding:vif_type'),
        **_kind(port, network),
        'devname': ('tap' + port['id'])[:DEVICE_NAME_LENGTH],
        'ovs_interfaceid': port['id'],
        'active': not port['admin_state_up'] or port['status'] == 'ACTIVE',
        'profile': port.get('binding:profile') or {},
        'details': details,
        'preserve_on_delete': known.get('preserve_on_delete', False),
        'tag': known.get('tag'),
        'security_groups': port.get('security_groups'),
        'groups_version': known.get('groups_version', 0),
        'meta': {},
        'network': {
            'id': network['id'],
            'label': network['name'],
            'bridge': details.get('bridge_name') or bridge,
            'meta': {
                'injected': False,
                'tenant_id': network.get('tenant_id'),
                'mtu': network.get('mtu'),
            },
            'subnets': _subnets(port, subnets, floating_ips),
        },
    }


def _kind(port: session.Json, network: session.Json) -> session.Json:
    kind = port.get('binding:vnic_type', 'normal')
    if kind not in port_devices.TYPES:
        return {'vnic_type': kind}
    return {'vnic_type': kind, port_devices.KEY: port_devices.described(port, network)}


def _subnets(
    port: session.Json, subnets: Iterable[session.Json], floating_ips: Iterable[session.Json]
) -> session.Jsons:
    """Return the subnets of the port's addresses, with those addresses."""
    by_id = {subnet['id']: subnet for subnet in subnets}
    found: dict[str, session.Json] = {}
    for fixed in port['fixed_ips']:
        subnet = by_id.get(fixed['subnet_id'])
        if subnet is None:
            continue  # The subnet was deleted after the port was read.
        entry = found.setdefault(
            subnet['id'],
            {
                'cidr': subnet['cidr'],
                'version': subnet['ip_version'],
                'gateway': _address(subnet.get('gateway_ip'), 'gateway', subnet),
                'dns': [_address(dns, 'dns', subnet) for dns in subnet.get('dns_nameservers', ())],
                'routes': [
                    {
                        'cidr': route['destination'],
                        'gateway': _address(route['nexthop'], 'gateway', subnet),
                    }
                    for route in subnet.get('host_routes', ())
                ],
                'meta': {name: subnet.get(name) for name in SUBNET_META},
                'ips': [],
            },
        )
        entry['ips'].append(
            {
                'address': fixed['ip_address'],
                'type': 'fixed',
                'version': subnet['ip_version'],
                'meta': {},
                'floating_ips': _floating(port, fixed, floating_ips),
            }
        )
    return list(found.values())


def _floating(
    port: session.Json, fixed: session.Json, floating_ips: Iterable[session.Json]
) -> session.Jsons:
    return [
        {'address': floating['floating_ip_address'], 'type': 'floating', 'version': 4, 'meta': {}}
        for floating in floating_ips
        if floating.get('port_id') == port['id']
        and floating.get('fixed_ip_address') == fixed['ip_address']
    ]


def _address(address: str | None, kind: str, subnet: session.Json) -> session.Json | None:
    if address is None:
        return None
    return {'address': address, 'type': kind, 'version': subnet['ip_version'], 'meta': {}}
