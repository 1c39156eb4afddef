"""The file that describes a running cloud: `nova-lite up --print-config`."""

from collections.abc import Iterable
import contextlib
import sys
import typing

import yaml

from nova_lite import exception
from nova_lite.lab.launcher import client_config
from nova_lite.lab.launcher import client_connections
from nova_lite.lab.launcher import control_client
from nova_lite.lab.launcher import host_names
from nova_lite.lab.launcher import running
from nova_lite.lab.launcher import state_dir
from nova_lite.lab.launcher.cloud_file import api as apis
from nova_lite.lab.launcher.cloud_file import compute
from nova_lite.lab.launcher.cloud_file import defaults
from nova_lite.lab.launcher.cloud_file import expected
from nova_lite.lab.launcher.cloud_file import identity
from nova_lite.lab.launcher.cloud_file import images
from nova_lite.lab.launcher.cloud_file import kept
from nova_lite.lab.launcher.cloud_file import networks
from nova_lite.lab.launcher.cloud_file import schema as schemas
from nova_lite.lab.launcher.cloud_file import servers
from nova_lite.lab.launcher.cloud_file import volumes
from nova_lite.virt.sim import profile

Json: typing.TypeAlias = dict[str, typing.Any]
FAULTS = ('hosts_off', 'databases_down', 'buses_cut', 'buses_frozen')
# {kind of object that no file has: (service, path, key, filters)}
OTHERS: dict[str, tuple[str, str, str, Json]] = {
    'volume': ('volume', '/volumes/detail', 'volumes', {'all_tenants': 1}),
    'router': ('network', '/v2.0/routers', 'routers', {}),
    'floating address': ('network', '/v2.0/floatingips', 'floatingips', {}),
    'security group': ('network', '/v2.0/security-groups', 'security_groups', {}),
}
# Seconds by which the clock of a cloud that was not changed may differ from that of the machine.
SAME_S = 0.001


class NotRunning(exception.Invalid):
    msg = (
        'The cloud in %(directory)s does not run, and its objects are read through its APIs. Start it '
        'with `%(up)s`.'
    )


def show(directory: str) -> None:
    """Print the file of the cloud that runs in a state directory. Raise NotRunning, Refused."""
    found, notes = read(directory)
    print('# Written by `nova-lite up --print-config`. The images have empty disks.')
    for note in notes:
        print(f'# Not in this file: {note}.')
        print(f'Not in this file: {note}.', file=sys.stderr)
    print(yaml.safe_dump(found, sort_keys=False, allow_unicode=True), end='')


def read(directory: str) -> tuple[Json, list[str]]:
    """Return (the document of the cloud that runs in a state directory, notes). Raise as `show`."""
    if running.read(directory) is None:
        up = state_dir.command('up', directory)
        raise NotRunning(directory=directory, up=up)
    recorded = kept.read(directory)
    if recorded is None:
        reason = 'it was started by another release. Restart it with this one'
        raise exception.Unavailable(service=f'The cloud in {directory}', reason=reason)
    api = apis.connect(client_config.credentials(directory, client_connections.ADMIN))
    found: Json = {'format': schemas.FORMAT, **_settings(recorded['settings'])}
    objects, notes = _objects(api, client_config.passwords(directory))
    return found | objects | _control(directory), notes


def _settings(recorded: Json) -> Json:
    counts = host_names.counts(recorded['hosts'], recorded['cells'])
    found: Json = {'cells': [{'hosts': count} for count in counts], 'profile': recorded['profile']}
    if recorded['profile'] not in profile.bundled():
        with open(recorded['profile'], encoding='utf-8') as file:
            found['profile'] = yaml.safe_load(file) or {}
        names = found['profile'].pop('names', {})
        for number, cell in enumerate(found['cells'], start=1):
            name = host_names.cell_name(number)
            if name in names:
                cell['hosts'] = host_names.of_cell(name, cell['hosts'], names[name])
    found |= {'speed': recorded['speed'], 'auth': recorded['auth']}
    if recorded['options']:
        found['options'] = recorded['options']
    return found


def _objects(api: apis.Api, passwords: dict[str, str]) -> tuple[Json, list[str]]:
    """Return (sections of objects, notes)."""
    rows = api.list('identity', '/v3/projects', 'projects')
    projects = {row['id']: row['name'] for row in rows}
    sections = {
        'projects': identity.read_projects(api),
        'users': identity.read_users(api, passwords),
        'flavors': compute.read_flavors(api, projects),
        'networks': networks.read(api, projects),
        'volume_types': volumes.read_types(api),
    }
    sections['images'], notes = images.read(api, projects)
    sections['aggregates'], sections['zones'], more = compute.read_aggregates(api, projects)
    services = compute.read_services(api)
    sections['disabled_hosts'] = compute.disabled_hosts(services)
    sections['down_hosts'] = compute.down_hosts(services)
    sections['server_groups'], groups = servers.read_groups(api, projects)
    sections['servers'], others = servers.read(api, projects, groups)
    notes += [*more, *others]
    has_defaults = _take_defaults(sections)
    notes += _others(api, sections['servers'], has_defaults=has_defaults)
    found: Json = {'defaults': has_defaults}
    return found | {name: entries for name, entries in sections.items() if entries}, notes


def _take_defaults(sections: dict[str, list[Json]]) -> bool:
    """Remove the entries that every cloud has from the sections, if all these entries exist."""
    rest = {}
    for name in defaults.OPTIONAL:
        usual = expected.entries(name)
        found = [expected.essence(name, entry) for entry in sections[name]]
        if any(entry not in found for entry in usual):
            return False
        pairs = zip(sections[name], found, strict=True)
        rest[name] = [entry for entry, essence in pairs if essence not in usual]
    sections.update(rest)
    return True


def _others(api: apis.Api, servers_: Iterable[Json], *, has_defaults: bool) -> list[str]:
    """Return notes on objects that no file has."""
    roots = sum('volume' in entry for entry in servers_)
    expected_ = {'volume': roots, 'router': int(has_defaults)}
    notes = []
    for kind, (service, path, key, filters) in OTHERS.items():
        rows = api.list(service, path, key, **filters)
        # Each project that was used has a default security group.
        rows = [row for row in rows if kind != 'security group' or row['name'] != 'default']
        count = len(rows) - expected_.get(kind, 0)
        if count > 0:
            notes.append(f'{count} {kind}{"s" if count > 1 else ""}')
    return notes


def _control(directory: str) -> Json:
    """Return the faults and the clock of a cloud in one process; {} for another cloud."""
    client = control_client.Client(directory)
    with contextlib.suppress(exception.Unavailable):
        shown, clock = client.get('faults'), client.get('clock')
        faults = {name: shown[name] for name in FAULTS if shown[name]}
        failures = [
            {key: value for key, value in entry.items() if key != 'id'}
            for entry in shown['failures']
        ]
        if failures:
            faults['failures'] = failures
        found: Json = {'faults': faults} if faults else {}
        time: Json = {'frozen': True} if clock['frozen'] else {}
        if abs(clock['ahead_s']) > SAME_S:
            time['ahead'] = clock['ahead_s']
        if clock['rate'] != 1:
            time['rate'] = clock['rate']
        return found | ({'clock': time} if time else {})
    return {}
