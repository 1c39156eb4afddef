"""Checks of a file beyond its schema: of names, hosts, options and faults."""

from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterator
import fnmatch
import ipaddress
import typing

from nova_lite import exception
from nova_lite.api import known_extra_specs
from nova_lite.lab.console import arguments
from nova_lite.lab.console import durations
from nova_lite.lab.control import request_faults
from nova_lite.lab.launcher import given_options
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher.cloud_file import compute
from nova_lite.lab.launcher.cloud_file import defaults
from nova_lite.lab.launcher.cloud_file import document as documents
from nova_lite.lab.launcher.cloud_file import hosts as cloud_hosts
from nova_lite.lab.launcher.cloud_file import schema
from nova_lite.virt.sim import profile

# {section: {key: section of the names in it}}
REFERENCES = {
    'flavors': {'projects': 'projects'},
    'images': {'project': 'projects'},
    'networks': {'project': 'projects'},
    'users': {'projects': 'projects'},
    'server_groups': {'project': 'projects'},
    'servers': {
        'project': 'projects',
        'flavor': 'flavors',
        'image': 'images',
        'networks': 'networks',
        'group': 'server_groups',
    },
}
# Projects of every cloud may be in the file, because their quotas may be set.
EXTENDED = ('projects',)
# A project's network may have the name of another project's.
UNIQUE = (
    'projects', 'users', 'flavors', 'images', 'networks', 'volume_types', 'server_groups', 'servers',
)  # fmt: skip


def require(document: documents.Document) -> None:
    """Raise Wrong for a file that contradicts itself or its cloud."""
    for check in (_names, _aggregates, _references, _zones, _hosts, _groups, _subnets):
        check(document)
    _extra_specs(document)
    _options(document)
    _faults(document)
    _clock(document)


def _entries(
    document: documents.Document, section: str
) -> Iterator[tuple[documents.Place, documents.Json]]:
    for index, entry in enumerate(document.value.get(section, ())):
        yield (section, index), entry


def _names(document: documents.Document) -> None:
    """Raise Wrong for a name that is given twice, or is the name of an object of every cloud."""
    has_defaults = document.value.get('defaults', True)
    for section in UNIQUE:
        seen: dict[str, documents.Place] = {}
        taken = _default_names(section, has_defaults=has_defaults)
        for place, entry in _entries(document, section):
            _once(document, seen, entry['name'], (*place, 'name'))
            if entry['name'] in taken and section not in EXTENDED:
                instead = 'Choose another name'
                if section in defaults.OPTIONAL:
                    instead += ', or start without them: defaults: false'
                text = f'every cloud has {entry["name"]} among its {section}. {instead}.'
                raise document.wrong((*place, 'name'), text)


def _default_names(section: str, *, has_defaults: bool) -> Collection[str]:
    if section in defaults.OPTIONAL and not has_defaults:
        return ()
    return defaults.NAMES.get(section, ())


def _aggregates(document: documents.Document) -> None:
    """Raise Wrong for a name that two aggregates or zones have, and for their metadata."""
    seen: dict[str, documents.Place] = {}
    for section in ('aggregates', 'zones'):
        for place, entry in _entries(document, section):
            _once(document, seen, entry['name'], (*place, 'name'))
            if 'availability_zone' in entry.get('metadata', {}):
                text = 'availability_zone makes an aggregate a zone. List it below zones.'
                raise document.wrong((*place, 'metadata', 'availability_zone'), text)
            for key, value in entry.get('metadata', {}).items():
                if key.startswith(compute.OF_PROJECTS):
                    for name in compute.PROJECT.findall(value):
                        _require_known(document, (*place, 'metadata', key), name, 'projects')


def _once(
    document: documents.Document,
    seen: dict[str, documents.Place],
    name: str,
    place: documents.Place,
) -> None:
    if name in seen:
        text = f'{name!r} is also the name in line {document.line(seen[name])}. Choose another.'
        raise document.wrong(place, text)
    seen[name] = place


def _known(document: documents.Document, section: str) -> list[str]:
    """Return the names of a section, and the names of this kind that every cloud has."""
    has_defaults = document.value.get('defaults', True)
    named = [entry['name'] for _place, entry in _entries(document, section)]
    return sorted({*named, *_default_names(section, has_defaults=has_defaults)})


def _references(document: documents.Document) -> None:
    for section, keys in REFERENCES.items():
        for place, entry in _entries(document, section):
            for key, target in keys.items():
                value = entry.get(key)
                if isinstance(value, str):
                    _require_known(document, (*place, key), value, target)
                for index, name in enumerate(value if isinstance(value, list) else ()):
                    _require_known(document, (*place, key, index), name, target)
                for name in value if isinstance(value, dict) else ():
                    _require_known(document, (*place, key, name), name, target)
    for place, entry in _entries(document, 'servers'):
        kind = entry.get('volume', {}).get('type')
        if kind is not None:
            _require_known(document, (*place, 'volume', 'type'), kind, 'volume_types')


def _require_known(
    document: documents.Document, place: documents.Place, name: str, section: str
) -> None:
    known = _known(document, section)
    if name not in known:
        kind = section.replace('_', ' ')
        listed = f'Known {kind}: {", ".join(known)}.' if known else f'List it below {section}.'
        text = f'{name!r} is not among the {kind}.{arguments.like(name, known)} {listed}'
        raise document.wrong(place, text)


def _zones(document: documents.Document) -> None:
    """Raise Wrong for hosts in two zones, and for servers in a zone that does not exist."""
    zones = [entry['name'] for _place, entry in _entries(document, 'zones')]
    known, found = cloud_hosts.names(document.value), dict[str, str]()
    for place, entry in _entries(document, 'zones'):
        for host in cloud_hosts.matching(known, entry['hosts']):
            if host in found:
                text = f'{host} is in zone {found[host]} already. A host has one zone.'
                raise document.wrong((*place, 'hosts'), text)
            found[host] = entry['name']
    for place, entry in _entries(document, 'servers'):
        if entry.get('zone') not in (None, 'nova', *zones):
            text = (
                f'there is no zone {entry["zone"]!r}. Known zones: {", ".join([*zones, "nova"])}.'
            )
            raise document.wrong((*place, 'zone'), text)


def _hosts(document: documents.Document) -> None:
    """Raise Wrong for a pattern that matches no host, and for a host that does not exist."""
    known = cloud_hosts.names(document.value)
    places = []
    for section in ('aggregates', 'zones', 'disabled_hosts', 'down_hosts'):
        for place, entry in _entries(document, section):
            places += [
                ((*place, 'hosts', number), pattern)
                for number, pattern in enumerate(entry.get('hosts', ()))
            ]
    for place, pattern in places:
        if not fnmatch.filter(known, pattern):
            raise document.wrong(place, f'{pattern!r} fits no host. {_all(known)}')
    for place, entry in _entries(document, 'servers'):
        if 'host' in entry and entry['host'] not in known:
            raise document.wrong(
                (*place, 'host'), f'there is no host {entry["host"]!r}. {_all(known)}'
            )
        if entry.get('forced') and 'host' not in entry:
            raise document.wrong((*place, 'forced'), 'it needs the host that is forced. Add host.')


def _groups(document: documents.Document) -> None:
    """Raise Wrong for a group of another project, and for a limit that its policy does not have."""
    owners = {}
    for place, entry in _entries(document, 'server_groups'):
        owners[entry['name']] = entry.get('project', 'demo')
        if 'max_server_per_host' in entry and entry['policy'] != 'anti-affinity':
            text = f'only anti-affinity has it, and the policy is {entry["policy"]}. Omit it.'
            raise document.wrong((*place, 'max_server_per_host'), text)
    for place, entry in _entries(document, 'servers'):
        owner = owners.get(entry.get('group'))
        if owner is not None and owner != entry.get('project', 'demo'):
            text = f'{entry["group"]} belongs to project {owner}, and the server does not.'
            raise document.wrong((*place, 'group'), text)


def _all(known: list[str]) -> str:
    return f'Hosts: {known[0]} to {known[-1]}.' if len(known) > 1 else f'The host is {known[0]}.'


def _subnets(document: documents.Document) -> None:
    for place, entry in _entries(document, 'networks'):
        for index, subnet in enumerate(entry.get('subnets', ())):
            _call(
                document,
                (*place, 'subnets', index, 'cidr'),
                ipaddress.ip_network,
                subnet['cidr'],
            )


def _extra_specs(document: documents.Document) -> None:
    for place, entry in _entries(document, 'flavors'):
        for name, value in entry.get('properties', {}).items():
            _call(
                document,
                (*place, 'properties', name),
                lambda given: known_extra_specs.check(*given),
                (name, value),
            )


def _options(document: documents.Document) -> None:
    """Raise Wrong for an option that no daemon has, and for an invalid value of an option."""
    for group, values in document.value.get('options', {}).items():
        for option, value in values.items():
            place = ('options', group, option)
            text = f'{group}.{option}={text_of(value)}'
            _call(document, place, given_options.parse, [text])
            _call(document, place, given_options.check, {group: {option: text_of(value)}})


def text_of(value: typing.Any) -> str:
    """Return the text of an option's value, as in a configuration file."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _call(
    document: documents.Document,
    place: documents.Place,
    check: Callable[..., object],
    value: object,
) -> None:
    """Call a check of a value, and turn its error into Wrong."""
    try:
        check(value)
    except (ValueError, exception.NovaLiteError) as error:
        reason = str(error).removeprefix('--set ').removeprefix('Bad request: ')
        raise document.wrong(place, reason) from error


def _faults(document: documents.Document) -> None:
    faults = document.value.get('faults', {})
    for index, entry in enumerate(faults.get('failures', ())):
        place = ('faults', 'failures', index)
        if request_faults.SERVICE in entry:
            _call(document, place, lambda found: request_faults.parse(1, found), entry)
        else:
            _failure(document, place, entry)
    cells = cloud_hosts.cells(document.value)
    known = {
        'hosts_off': cloud_hosts.names(document.value),
        'databases_down': cells,
        'buses_cut': [layout.TOP, *cells],
        'buses_frozen': [layout.TOP, *cells],
    }
    for key, names in known.items():
        for index, name in enumerate(faults.get(key, ())):
            if name not in names:
                text = f'there is no {name!r}.{arguments.like(name, names)} {_listed(names)}'
                raise document.wrong(('faults', key, index), text)


def _listed(names: list[str]) -> str:
    shown = names if len(names) <= 8 else [*names[:3], '...', names[-1]]
    return f'Use one of: {", ".join(shown)}.'


def _failure(document: documents.Document, place: documents.Place, entry: documents.Json) -> None:
    try:
        profile.parse_failure(entry, 'checked')
    except profile.ProfileError as error:
        raise of_profile(document, place, error) from error
    pattern = entry.get('match', {}).get('host', '*')
    known = cloud_hosts.names(document.value)
    if not fnmatch.filter(known, pattern):
        text = f'{pattern!r} fits no host. {_all(known)}'
        raise document.wrong((*place, 'match', 'host'), text)


def of_profile(
    document: documents.Document, place: documents.Place, error: profile.ProfileError
) -> documents.Wrong:
    """Return the error about a value in a profile. place: of the profile in the document"""
    path = error.kwargs['path']
    below = () if path.startswith('(') else documents.place_of(path)
    return document.wrong((*place, *below), str(error.kwargs['reason']))


def _clock(document: documents.Document) -> None:
    ahead = document.value.get('clock', {}).get('ahead')
    if isinstance(ahead, str):
        _call(document, ('clock', 'ahead'), _ahead, ahead)


def _ahead(text: str) -> None:
    """Raise ValueError unless a text is a duration by which a clock may be ahead."""
    if durations.seconds_of(text) > schema.MOST_AHEAD_S:
        raise ValueError(f'a clock is at most {schema.MOST_AHEAD_S // 86400}d ahead, not {text}')
