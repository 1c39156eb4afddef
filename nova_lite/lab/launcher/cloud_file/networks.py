"""Networks with their subnets."""

import ipaddress
import typing

from nova_lite.lab.launcher.cloud_file import api as apis
from nova_lite.lab.launcher.cloud_file import defaults

Json: typing.TypeAlias = dict[str, typing.Any]
NETWORKS, SUBNETS = '/v2.0/networks', '/v2.0/subnets'
ROUTERS, PORTS = '/v2.0/routers', '/v2.0/ports'
# {key of an entry: key in the API}
KEYS = {
    'shared': 'shared',
    'external': 'router:external',
    'type': 'provider:network_type',
    'physical_network': 'provider:physical_network',
    'segment': 'provider:segmentation_id',
    'mtu': 'mtu',
}


def create(api: apis.Api, entry: Json) -> None:
    """Create a network with its subnets. Raise Refused."""
    project_id = api.project_id(entry.get('project', 'demo'))
    wanted = {'name': entry['name'], 'project_id': project_id}
    wanted |= {theirs: entry[ours] for ours, theirs in KEYS.items() if ours in entry}
    network = api.create('network', NETWORKS, {'network': wanted})
    for subnet in entry.get('subnets', ()):
        values = {
            'network_id': network['id'],
            'project_id': project_id,
            'name': subnet.get('name', f'{entry["name"]}-subnet'),
            'cidr': subnet['cidr'],
            'ip_version': ipaddress.ip_network(subnet['cidr']).version,
            'enable_dhcp': subnet.get('dhcp', True),
        }
        if 'gateway' in subnet:
            values['gateway_ip'] = subnet['gateway']
        api.create('network', SUBNETS, {'subnet': values})


def delete_defaults(api: apis.Api) -> None:
    """Delete the networks and the router that every cloud has. Raise Refused."""
    router_id = api.id_of('network', ROUTERS, 'routers', defaults.ROUTER)
    for port in api.list('network', PORTS, 'ports', device_id=router_id):
        if port['device_owner'] == 'network:router_interface':
            body = {'port_id': port['id']}
            api.call('network', 'PUT', f'{ROUTERS}/{router_id}/remove_router_interface', body)
    api.call('network', 'DELETE', f'{ROUTERS}/{router_id}')
    for name in sorted(defaults.NAMES['networks']):
        network_id = api.id_of('network', NETWORKS, 'networks', name)
        api.call('network', 'DELETE', f'{NETWORKS}/{network_id}')


def read(api: apis.Api, projects: dict[str, str]) -> list[Json]:
    """Return the entries of all networks. projects: {id: name}"""
    subnets: dict[str, list[Json]] = {}
    for subnet in api.list('network', SUBNETS, 'subnets'):
        subnets.setdefault(subnet['network_id'], []).append(subnet)
    found = []
    for network in api.list('network', NETWORKS, 'networks'):
        entry: Json = {'name': network['name']}
        project = projects.get(network['project_id'], 'demo')
        if project != 'demo':
            entry['project'] = project
        entry |= {ours: network[theirs] for ours, theirs in KEYS.items() if network.get(theirs)}
        rows = sorted(subnets.get(network['id'], ()), key=lambda row: str(row['cidr']))
        if rows:
            entry['subnets'] = [_subnet(row, network['name']) for row in rows]
        found.append(entry)
    return sorted(found, key=lambda entry: str(entry['name']))


def _subnet(row: Json, network: str) -> Json:
    found = {'cidr': row['cidr']}
    if row['name'] != f'{network}-subnet':
        found['name'] = row['name']
    first = str(next(iter(ipaddress.ip_network(row['cidr']).hosts())))
    if row['gateway_ip'] and row['gateway_ip'] != first:
        found['gateway'] = row['gateway_ip']
    if not row['enable_dhcp']:
        found['dhcp'] = False
    return found
