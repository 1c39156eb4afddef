"""The servers that a cloud starts with."""

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
import typing

from nova_lite import exception
from nova_lite import runtime
from nova_lite.lab.launcher.cloud_file import api as apis
from nova_lite.terminal import plurals

Json: typing.TypeAlias = dict[str, typing.Any]
ACTIVE, SHUTOFF, ERROR = 'ACTIVE', 'SHUTOFF', 'ERROR'
# The first microversion that changes the zone that a server is pinned to.
UNPINNING = '2.104'
TASK, HOST = 'OS-EXT-STS:task_state', 'OS-EXT-SRV-ATTR:host'
# Seconds to wait while no further server reaches its status.
PATIENCE_S = 120
LOOK_S = 0.1
# Number of servers for which the pause between two reads is a second longer.
LOOKED_AT = 500


class Failed(exception.NovaLiteError):
    msg = '%(reason)s'


def names(entry: Json) -> list[str]:
    """Return the names of the servers of an entry."""
    if 'count' not in entry:
        return [entry['name']]
    return [f'{entry["name"]}-{number + 1}' for number in range(entry['count'])]


def create_group(api: apis.Api, entry: Json) -> str:
    """Create a server group; return its id. api: of its project. Raise Refused."""
    wanted: Json = {'name': entry['name'], 'policy': entry['policy']}
    if 'max_server_per_host' in entry:
        wanted['rules'] = {'max_server_per_host': entry['max_server_per_host']}
    return str(api.create('compute', '/os-server-groups', {'server_group': wanted})['id'])


def create(api: apis.Api, entry: Json, groups: Mapping[str, str]) -> list[str]:
    """Ask for the servers of an entry; return their ids. Raise Refused.

    api: of its project; groups: {name of a server group: id}
    """
    flavor_id = api.id_of(
        'compute', '/flavors/detail', 'flavors', entry['flavor'], is_public='None'
    )
    image_id = api.id_of('image', '/v2/images', 'images', entry['image'])
    networks = [
        {'uuid': api.id_of('network', '/v2.0/networks', 'networks', name)}
        for name in entry.get('networks', ())
    ]
    wanted = {'flavorRef': flavor_id, 'networks': networks or 'none'}
    wanted |= {name: entry[name] for name in ('metadata', 'host') if name in entry}
    if 'zone' in entry:
        wanted['availability_zone'] = entry['zone']
    if entry.get('forced'):
        wanted['availability_zone'] = f'{entry.get("zone", "nova")}:{wanted.pop("host")}'
    if 'volume' in entry:
        wanted['block_device_mapping_v2'] = [_root_volume(image_id, entry['volume'])]
    else:
        wanted['imageRef'] = image_id
    body: Json = {'server': wanted}
    if 'group' in entry:
        body['os:scheduler_hints'] = {'group': groups[entry['group']]}
    made = []
    for name in names(entry):
        wanted['name'] = name
        made.append(str(api.create('compute', '/servers', body)['id']))
    return made


def unpin(api: apis.Api, server_ids: list[str]) -> None:
    """Remove the zones that servers got with their forced hosts. Raise Refused."""
    for server_id in server_ids:
        body = {'server': {'pinned_availability_zone': None}}
        path = f'/servers/{server_id}'
        api.call('compute', 'PUT', path, body, microversion=UNPINNING)


def _root_volume(image_id: str, volume: Json) -> Json:
    found = {
        'uuid': image_id,
        'source_type': 'image',
        'destination_type': 'volume',
        'boot_index': 0,
        'volume_size': volume['size'],
    }
    return found | ({'volume_type': volume['type']} if 'type' in volume else {})


def wait(api: apis.Api, wanted: dict[str, str]) -> None:
    """Wait until servers have their statuses. wanted: {id: status}. Raise Failed."""
    missing, waited = dict(wanted), 0.0
    while missing:
        reached = False
        for server in list(_all(api)):
            if missing.get(server['id']) is None or server[TASK] is not None:
                continue
            if server['status'] == ERROR:
                raise Failed(reason=_fault(api, server))
            if server['status'] == missing[server['id']]:
                del missing[server['id']]
                reached = True
        if missing:
            pause_s = LOOK_S + len(missing) / LOOKED_AT
            waited = 0.0 if reached else waited + pause_s
            if waited > PATIENCE_S:
                servers = plurals.of(len(missing), 'server')
                reason = f'{servers} did not reach the expected status within {PATIENCE_S} s'
                raise Failed(reason=reason)
            runtime.sleep(pause_s)


def _fault(api: apis.Api, server: Json) -> str:
    shown = api.call('compute', 'GET', f'/servers/{server["id"]}')['server']
    fault = shown.get('fault', {}).get('message', 'no reason is known')
    return f'server {server["name"]} is in ERROR: {fault}'


def stop(api: apis.Api, server_ids: list[str]) -> None:
    """Stop servers. Raise Refused, Failed."""
    for server_id in server_ids:
        api.call('compute', 'POST', f'/servers/{server_id}/action', {'os-stop': None})
    wait(api, dict.fromkeys(server_ids, SHUTOFF))


def _all(api: apis.Api) -> Iterator[Json]:
    yield from api.list('compute', '/servers/detail', 'servers', all_tenants=1)


def _groups(api: apis.Api) -> Iterator[Json]:
    offset = 0
    while True:
        # This list has no links to further pages.
        query = {'all_projects': 1, 'offset': offset}
        page = api.call('compute', 'GET', '/os-server-groups', params=query)['server_groups']
        if not page:
            return
        yield from page
        offset += len(page)


def _own_name(group: Json) -> str:
    return str(group['name'])


def read_groups(
    api: apis.Api,
    projects: Mapping[str, str],
    name_of: Callable[[Json], str] = _own_name,
) -> tuple[list[Json], dict[str, str]]:
    """Return (entries of server groups, {id of a member: name of its group}).

    projects: {id: name}. Groups of other projects are left out.
    name_of: function from a group, as the API shows it, to its name in the entries
    """
    found: list[Json] = []
    members: dict[str, str] = {}
    for group in _groups(api):
        project = projects.get(group['project_id'])
        if project is None:
            continue
        name = name_of(group)
        entry = {'name': name, 'policy': group['policy'], **group['rules']}
        if project != 'demo':
            entry['project'] = project
        found.append(entry)
        members |= dict.fromkeys(group['members'], name)
    return found, members


def read(
    api: apis.Api, projects: Mapping[str, str], groups: Mapping[str, str]
) -> tuple[list[Json], list[str]]:
    """Return (entries of servers, notes on those that no file can have).

    projects: {id: name}; groups: {id of a member: name of its group}
    """
    images = {row['id']: row['name'] for row in api.list('image', '/v2/images', 'images')}
    found, notes = [], []
    for server in _all(api):
        entry = _entry(api, server, images)
        project = projects.get(server['tenant_id'])
        is_known = entry['image'] is not None and project is not None
        if server['status'] not in (ACTIVE, SHUTOFF) or server[TASK] or not is_known:
            notes.append(f'server {server["name"]} ({server["status"]})')
            continue
        if project != 'demo':
            entry['project'] = project
        if server['id'] in groups:
            entry['group'] = groups[server['id']]
        found.append(entry)
    return sorted(found, key=lambda entry: str(entry['name'])), notes


def _entry(api: apis.Api, server: Json, images: dict[str, str]) -> Json:
    entry = {
        'name': server['name'],
        'flavor': server['flavor']['original_name'],
        'host': server[HOST],
    }
    if server['image']:
        entry['image'] = images.get(server['image']['id'])
    else:
        entry |= _volume(api, server)
    if server.get('pinned_availability_zone'):
        entry['zone'] = server['pinned_availability_zone']
    if server['addresses']:
        entry['networks'] = sorted(server['addresses'])
    if server['metadata']:
        entry['metadata'] = server['metadata']
    if server['status'] != ACTIVE:
        entry['status'] = server['status']
    return entry


def _volume(api: apis.Api, server: Json) -> Json:
    """Return the keys of a server that was booted from a volume. image: None if not known"""
    for attached in server['os-extended-volumes:volumes_attached']:
        volume = api.call('volume', 'GET', f'/volumes/{attached["id"]}')['volume']
        image = volume.get('volume_image_metadata', {}).get('image_name')
        if image:
            found: Json = {'size': volume['size']}
            if volume['volume_type'] != '__DEFAULT__':
                found['type'] = volume['volume_type']
            return {'image': image, 'volume': found}
    return {'image': None}
