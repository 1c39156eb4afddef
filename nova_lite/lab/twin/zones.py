"""The aggregates and availability zones of a twin.

In a real cloud several aggregates may make one zone, and their names differ from its name. A twin
has one aggregate for each zone, with the name of the zone, and the others beside it.
"""

from collections.abc import Callable
from collections.abc import Container
import typing

from nova_lite.lab.launcher.cloud_file import api as apis
from nova_lite.lab.launcher.cloud_file import compute

Json: typing.TypeAlias = dict[str, typing.Any]


def read(
    api: apis.Api, known: Container[str], project: Callable[[str], str]
) -> tuple[list[Json], list[Json]]:
    """Return (entries of aggregates, entries of zones). known: names of the twin's hosts

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
        if zone is not None and hosts:
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


def _named(value: str, project: Callable[[str], str]) -> str:
    """Return a value of metadata with names of projects, as a file has them, in place of ids."""
    ids = (each.strip() for each in value.split(','))
    return ','.join(f'{{{project(each)}}}' for each in ids if each)
