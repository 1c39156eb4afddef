"""The aggregates and availability zones of a twin.

In a real cloud several aggregates may make one zone, and their names differ from its name. A twin
has one aggregate for each zone, with the name of the zone, and the others beside it.
"""

from collections.abc import Callable
from collections.abc import Container
from collections.abc import Iterable
import typing

from nova_lite.lab.launcher.cloud_file import api as apis
from nova_lite.lab.launcher.cloud_file import compute

Json: typing.TypeAlias = dict[str, typing.Any]


def read(
    api: apis.Api, known: Container[str], project: Callable[[str], str]
) -> tuple[list[Json], list[Json]]:
    """Return (entries of aggregates, entries of zones). known: names of the twin's hosts

    A zone without hosts in the twin has an entry without hosts, see `with_hosts`.
    project: returns the name of a project in the twin by its id
    """
    aggregates: list[Json] = []
    zones: dict[str, Json] = {}
    for found in api.call('compute', 'GET', '/os-aggregates')['aggregates']:
        zone = found[compute.ZONE]
        hosts = sorted(name for name in found['hosts'] if name in known)
        metadata = {
            key: _named(value, project) if key.startswith(compute.OF_PROJECTS) else value
            for key, value in found['metadata'].items()
            if key != compute.ZONE
        }
        if zone is not None:
            entry = zones.setdefault(zone, {'name': zone, 'hosts': []})
            entry['hosts'] = sorted({*entry['hosts'], *hosts})
        if metadata:
            aggregates.append({'name': found['name'], 'metadata': metadata})
            if hosts:
                aggregates[-1]['hosts'] = hosts
    for entry in aggregates:
        if entry['name'] in zones:
            entry['name'] += ' (aggregate)'
    return aggregates, list(zones.values())


def with_hosts(zones: Iterable[Json]) -> list[Json]:
    """Return the entries of the zones that a file can have."""
    return [zone for zone in zones if zone['hosts']]


def lost_pin(zones: Iterable[Json], pinned: str | None, host: str) -> bool:
    """Return whether a server is pinned to a zone in which its host is not.

    Any host will do for a server that is pinned to a zone that no aggregate makes, such as the
    default zone.
    """
    return any(zone['name'] == pinned and host not in zone['hosts'] for zone in zones)


def _named(value: str, project: Callable[[str], str]) -> str:
    """Return a value of metadata with names of projects, as a file has them, in place of ids."""
    ids = (each.strip() for each in value.split(','))
    return ','.join(f'{{{project(each)}}}' for each in ids if each)
