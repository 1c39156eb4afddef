"""Flavors, host aggregates and availability zones."""

from collections.abc import Iterable
from collections.abc import Mapping
import re
import typing

from nova_lite.lab.launcher.cloud_file import api as apis
from nova_lite.lab.launcher.cloud_file import hosts

Json: typing.TypeAlias = dict[str, typing.Any]
EPHEMERAL, IS_PUBLIC = 'OS-FLV-EXT-DATA:ephemeral', 'os-flavor-access:is_public'
ZONE = 'availability_zone'
# Beginning of the keys of metadata whose values are ids of projects. A file has {NAME} for an id.
OF_PROJECTS = 'filter_tenant_id'
PROJECT = re.compile(r'\{([^{},]+)\}')


def create_flavor(api: apis.Api, entry: Json) -> None:
    """Create a flavor with its extra specs and access. Raise Refused."""
    wanted = {name: entry[name] for name in ('name', 'vcpus', 'ram')}
    wanted |= {name: entry.get(name, 0) for name in ('disk', 'swap')}
    wanted |= {
        'id': entry.get('id'),
        'description': entry.get('description'),
        EPHEMERAL: entry.get('ephemeral', 0),
        IS_PUBLIC: 'projects' not in entry,
    }
    made = api.create('compute', '/flavors', {'flavor': wanted})
    if entry.get('properties'):
        body = {'extra_specs': entry['properties']}
        api.call('compute', 'POST', f'/flavors/{made["id"]}/os-extra_specs', body)
    for project in entry.get('projects', ()):
        body = {'addTenantAccess': {'tenant': api.project_id(project)}}
        api.call('compute', 'POST', f'/flavors/{made["id"]}/action', body)


def read_flavors(api: apis.Api, projects: dict[str, str]) -> list[Json]:
    """Return the entries of all flavors. projects: {id: name}"""
    found = []
    for flavor in api.list('compute', '/flavors/detail', 'flavors', is_public='None'):
        entry = {name: flavor[name] for name in ('name', 'id', 'vcpus', 'ram')}
        more = {
            'disk': flavor['disk'],
            'ephemeral': flavor[EPHEMERAL],
            'swap': flavor['swap'] or 0,
            'description': flavor['description'],
            'properties': flavor['extra_specs'],
        }
        entry |= {name: value for name, value in more.items() if value}
        if not flavor[IS_PUBLIC]:
            rows = api.call('compute', 'GET', f'/flavors/{flavor["id"]}/os-flavor-access')
            entry['projects'] = sorted(
                projects[row['tenant_id']]
                for row in rows['flavor_access']
                if row['tenant_id'] in projects
            )
        found.append(entry)
    return found


def delete_flavor(api: apis.Api, name: str) -> None:
    """Delete a flavor. Raise Refused."""
    path = '/flavors/detail'
    flavor_id = api.id_of('compute', path, 'flavors', name, is_public='None')
    api.call('compute', 'DELETE', f'/flavors/{flavor_id}')


def create_aggregate(api: apis.Api, entry: Json, known: list[str], zone: str | None) -> None:
    """Create an aggregate with its hosts. known: all hosts; zone: its zone. Raise Refused."""
    wanted = {'name': entry['name'], ZONE: zone}
    made = api.create('compute', '/os-aggregates', {'aggregate': wanted})
    path = f'/os-aggregates/{made["id"]}/action'
    if entry.get('metadata'):
        metadata = {key: _with_ids(api, key, value) for key, value in entry['metadata'].items()}
        api.call('compute', 'POST', path, {'set_metadata': {'metadata': metadata}})
    for host in hosts.matching(known, entry.get('hosts', ())):
        api.call('compute', 'POST', path, {'add_host': {'host': host}})


def _with_ids(api: apis.Api, key: str, value: str) -> str:
    """Return a value of metadata with the ids of the projects that it names. Raise Refused."""
    if not key.startswith(OF_PROJECTS):
        return value
    return PROJECT.sub(lambda found: api.project_id(found[1]), value)


def with_names(key: str, value: str, projects: Mapping[str, str]) -> str:
    """Return a value of metadata with {NAME} in place of ids of projects.

    projects: {id: name}. Ids stay of other projects, and of those whose names have a comma or brace
    """
    if not key.startswith(OF_PROJECTS):
        return value
    named = {each: f'{{{name}}}' for each, name in projects.items()}
    ids = [each.strip() for each in value.split(',')]
    return ','.join(named[each] if PROJECT.fullmatch(named.get(each, '')) else each for each in ids)


def disable_hosts(api: apis.Api, entry: Json, known: list[str]) -> None:
    """Disable the compute services of hosts. known: all hosts. Raise Refused."""
    wanted = {'status': 'disabled', 'disabled_reason': entry.get('reason', 'disabled by the file')}
    _change_services(api, entry, known, wanted)


def force_hosts_down(api: apis.Api, entry: Json, known: list[str]) -> None:
    """Force the compute services of hosts down. known: all hosts. Raise Refused."""
    _change_services(api, entry, known, {'forced_down': True})


def _change_services(api: apis.Api, entry: Json, known: list[str], wanted: Json) -> None:
    services = {row['host']: row['id'] for row in read_services(api)}
    for host in hosts.matching(known, entry['hosts']):
        api.call('compute', 'PUT', f'/os-services/{services[host]}', wanted)


def read_services(api: apis.Api) -> list[Json]:
    """Return the compute services. Those of a cell that does not answer have fewer keys."""
    found: list[Json] = api.call('compute', 'GET', '/os-services?binary=nova-compute')['services']
    return found


def disabled_hosts(services: Iterable[Json]) -> list[Json]:
    """Return an entry for each reason for which compute services are disabled."""
    found: dict[str | None, list[str]] = {}
    for row in services:
        if row['status'] == 'disabled':
            found.setdefault(row['disabled_reason'], []).append(row['host'])
    return [
        {'hosts': sorted(names)} | ({'reason': reason} if reason else {})
        for reason, names in found.items()
    ]


def down_hosts(services: Iterable[Json]) -> list[Json]:
    """Return an entry for the hosts whose compute services are forced down, if there are any."""
    found = sorted(row['host'] for row in services if row.get('forced_down'))
    return [{'hosts': found}] if found else []


def read_aggregates(
    api: apis.Api, projects: Mapping[str, str]
) -> tuple[list[Json], list[Json], list[str]]:
    """Return (entries of aggregates, entries of zones, notes on objects that no file can have).

    projects: {id: name}
    """
    aggregates, zones, notes = [], [], []
    for found in api.call('compute', 'GET', '/os-aggregates')['aggregates']:
        entry: Json = {'name': found['name']}
        if found['hosts']:
            entry['hosts'] = sorted(found['hosts'])
        metadata = {
            key: with_names(key, value, projects)
            for key, value in found['metadata'].items()
            if key != ZONE
        }
        if metadata:
            entry['metadata'] = metadata
        if found[ZONE] is None:
            aggregates.append(entry)
        elif found[ZONE] == found['name'] and found['hosts']:
            zones.append(entry)
        else:
            notes.append(f'aggregate {found["name"]} of the zone {found[ZONE]}')
    return aggregates, zones, notes
