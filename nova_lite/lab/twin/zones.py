"""The aggregates and availability zones of a twin.

In a real cloud several aggregates may make one zone, and their names differ from its name. A twin
has one aggregate for each zone, with the name of the zone, and the others beside it.
"""

from collections.abc import Container
import typing

from nova_lite.lab.launcher.cloud_file import api as apis
from nova_lite.lab.launcher.cloud_file import compute

Json: typing.TypeAlias = dict[str, typing.Any]
# Metadata with ids of projects and images, which differ in a twin.
IDS = ('filter_tenant_id',)


def read(api: apis.Api, known: Container[str]) -> tuple[list[Json], list[Json], list[str]]:
    """Return (entries of aggregates, entries of zones, notes). known: names of the twin's hosts"""
    aggregates: list[Json] = []
    zones: dict[str, Json] = {}
    notes: list[str] = []
    for found in api.call('compute', 'GET', '/os-aggregates')['aggregates']:
        zone = found[compute.ZONE]
        hosts = sorted(name for name in found['hosts'] if name in known)
        metadata = {k: v for k, v in found['metadata'].items() if k != compute.ZONE}
        for key in [key for key in metadata if key.startswith(IDS)]:
            notes.append(f'{key} of aggregate {found["name"]}')
            del metadata[key]
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
    return aggregates, list(zones.values()), notes
