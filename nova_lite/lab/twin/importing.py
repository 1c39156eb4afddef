"""Read a cloud through its APIs, as the file of a twin. Nothing is changed in the cloud.

The twin has the hosts, flavors, aggregates, zones, server groups and servers of the cloud. What it
cannot have is named in notes, and the resources of servers that it lacks are reserved on its hosts.
"""

from collections.abc import Container
from collections.abc import Iterable
from collections.abc import Mapping
import copy
import http
import typing

from keystoneauth1 import discover

from nova_lite import exception
from nova_lite.lab.launcher.cloud_file import api as apis
from nova_lite.lab.launcher.cloud_file import compute
from nova_lite.lab.launcher.cloud_file import images
from nova_lite.lab.launcher.cloud_file import schema
from nova_lite.lab.launcher.cloud_file import servers as file_servers
from nova_lite.lab.twin import flavors as flavors_
from nova_lite.lab.twin import hosts as hosts_
from nova_lite.lab.twin import names as names_
from nova_lite.lab.twin import zones
from nova_lite.terminal import plurals

Json: typing.TypeAlias = dict[str, typing.Any]
# The first microversion that shows policies of groups with their rules.
OLDEST = (2, 64)
# An image for servers whose own image is gone or is not shown.
GENERIC = 'twin'
# Properties of images that filters and hosts read.
PROPERTIES = ('hw_', 'os_', 'trait:', 'img_', 'hypervisor_', 'vm_mode', 'architecture')
# Statuses of servers with a host that a twin does not have.
AS_ACTIVE = ('PAUSED', 'SUSPENDED', 'RESCUE', 'VERIFY_RESIZE')
UNLIMITED: Json = {
    'compute': dict.fromkeys(
        ('instances', 'cores', 'ram', 'server_groups', 'server_group_members'), -1
    ),
    'volume': dict.fromkeys(('volumes', 'gigabytes'), -1),
}
HOST, TASK = file_servers.HOST, file_servers.TASK


class TooOld(exception.Invalid):
    msg = (
        'The compute API of the cloud knows microversions up to %(newest)s, and the import needs %(oldest)s. '
        'Only clouds since Rocky can be imported.'
    )


class Import:
    """Reads one cloud. shown: whether names of servers, projects and images are kept"""

    def __init__(self, api: apis.Api, *, shown: bool) -> None:
        newest = api.newest('compute')
        if newest < OLDEST:
            raise TooOld(
                newest=discover.version_to_string(newest),
                oldest=discover.version_to_string(OLDEST),
            )
        used = min(newest, discover.normalize_version_number(apis.MICROVERSION))
        api.microversions['compute'] = discover.version_to_string(used)
        self._api, self._names = api, names_.Names(shown=shown)
        self._shown = shown
        self.notes: list[str] = []
        self._projects: dict[str, str] = {}
        self._images: dict[str, str] = {}
        self._image_entries: list[Json] = [{'name': GENERIC}]

    def read(self) -> Json:
        """Return the document of the twin. `notes` names the rest. Raise Refused."""
        rows = self._api.list('compute', '/servers/detail', 'servers', all_tenants=1)
        owners = {row['tenant_id'] for row in rows}
        self._projects = {each: self._names.of('project', each, '') for each in sorted(owners)}
        hosts, notes = hosts_.read(self._api)
        self.notes += notes
        aggregates, zoned, notes = zones.read(self._api, hosts)
        self.notes += notes
        read = compute.read_flavors(self._api, self._projects)
        self.notes += flavors_.without_unknown(read)
        chosen = flavors_.Flavors(read)
        groups, members = file_servers.read_groups(self._api, self._projects, self._group_name)
        names = {each['name'] for each in zoned}
        entries = self._servers(rows, hosts, chosen=chosen, members=members, zoned=names)
        for host in hosts.values():
            for name in host.is_over():
                self.notes.append(f'the limit of {name} on host {host.name}, which is exceeded')
        disabled = compute.read_disabled_hosts(self._api)
        if not self._shown:
            disabled = [{'hosts': entry['hosts']} for entry in disabled]
        found: Json = {
            'format': schema.FORMAT,
            'cells': [{'hosts': sorted(hosts)}],
            'profile': hosts_.profile_of(hosts[name] for name in sorted(hosts)),
            'defaults': False,
            'projects': [
                {'name': each, 'quotas': copy.deepcopy(UNLIMITED)}
                for each in self._projects.values()
            ],
            'flavors': chosen.entries,
            'images': self._image_entries,
            'aggregates': aggregates,
            'zones': zoned,
            'server_groups': groups,
            'servers': entries,
            'disabled_hosts': _present(disabled, hosts),
        }
        return {name: value for name, value in found.items() if value or name == 'defaults'}

    def _group_name(self, group: Json) -> str:
        return self._names.of('group', group['id'], group['name'])

    def _servers(
        self,
        rows: Iterable[Json],
        hosts: Mapping[str, hosts_.Host],
        *,
        chosen: flavors_.Flavors,
        members: Mapping[str, str],
        zoned: set[str],
    ) -> list[Json]:
        found = []
        elsewhere = active = 0
        left: dict[str, int] = {}
        for row in sorted(rows, key=lambda each: str(each['id'])):
            # A server of a cell that does not answer is shown without its host.
            host = hosts.get(row.get(HOST) or '')
            if host is None:
                elsewhere += 1
                continue
            held = flavors_.demand(row['flavor'], on_volume=not row['image'])
            why = _outside(row)
            if why is not None:
                left[why] = left.get(why, 0) + 1
                _add(host.extra, held)
                continue
            _add(host.demand, held)
            active += row['status'] in AS_ACTIVE
            entry = self._entry(row, chosen.name_of(row['flavor']), zoned)
            if row['id'] in members:
                entry['group'] = members[row['id']]
            found.append(entry)
        if elsewhere:
            self.notes.append(f'{plurals.of(elsewhere, "server")} without a host of the twin')
        if active:
            self.notes.append(
                f'states other than ACTIVE and SHUTOFF: servers that have them ({active}) are ACTIVE'
            )
        self.notes += [
            f'{plurals.of(count, "server")} {why}' for why, count in sorted(left.items())
        ]
        return found

    def _entry(self, row: Json, flavor: str, zoned: Container[str]) -> Json:
        """Return the entry of a server. flavor: name; zoned: names of the zones of the twin"""
        on_volume = not row['image']
        entry = {
            'name': row['id'],
            'project': self._projects[row['tenant_id']],
            'flavor': flavor,
            'image': GENERIC if on_volume else self._image(row['image']['id']),
            'host': row[HOST],
            'forced': True,
        }
        if on_volume:
            entry['volume'] = {'size': max(1, row['flavor']['disk'])}
        if row.get('pinned_availability_zone') in zoned:
            entry['zone'] = row['pinned_availability_zone']
        if row['status'] == file_servers.SHUTOFF:
            entry['status'] = file_servers.SHUTOFF
        if self._shown:
            entry['metadata'] = {'name': row['name']}
        return entry

    def _image(self, image_id: str) -> str:
        """Return the name of the image of a server, with the properties that filters read."""
        if image_id not in self._images:
            self._images[image_id] = self._read_image(image_id)
        return self._images[image_id]

    def _read_image(self, image_id: str) -> str:
        try:
            image = self._api.call('image', 'GET', f'/v2/images/{image_id}')
        except apis.Refused as error:
            if error.kwargs['status'] not in (http.HTTPStatus.NOT_FOUND, http.HTTPStatus.FORBIDDEN):
                raise
            self.notes.append(f'the properties of image {image_id}, which is not shown')
            return GENERIC
        properties = {
            key: str(value)
            for key, value in image.items()
            if key.startswith(PROPERTIES) and key not in images.STANDARD
        }
        name = self._names.of('image', image_id, image['name'] or '')
        entry: Json = {'name': name}
        if properties:
            entry['properties'] = properties
        self._image_entries.append(entry)
        return name


def _outside(row: Json) -> str | None:
    """Return why a twin cannot have a server that has a host, None if it can."""
    if flavors_.is_outside(row['flavor'].get('extra_specs', {})):
        return 'with NUMA nodes, pinned CPUs, devices or further resources: they are reserved'
    if row[TASK] is not None or row['status'] in ('BUILD', 'ERROR', 'SOFT_DELETED'):
        return 'that are changing, deleted or in ERROR: their resources are reserved'
    return None


def _add(total: dict[str, int], more: Mapping[str, int]) -> None:
    for name, amount in more.items():
        total[name] += amount


def _present(disabled: Iterable[Json], hosts: Mapping[str, hosts_.Host]) -> list[Json]:
    """Return entries of disabled hosts with those that the twin has."""
    found = []
    for entry in disabled:
        names = [name for name in entry['hosts'] if name in hosts]
        if names:
            found.append({**entry, 'hosts': names})
    return found
