"""Volume types."""

import typing

from nova_lite.lab.launcher.cloud_file import api as apis
from nova_lite.lab.launcher.cloud_file import defaults

Json: typing.TypeAlias = dict[str, typing.Any]


def create_type(api: apis.Api, entry: Json) -> None:
    """Create a volume type. Raise Refused."""
    wanted = {
        'name': entry['name'],
        'description': entry.get('description'),
        'extra_specs': entry.get('properties', {}),
    }
    api.create('volume', '/types', {'volume_type': wanted})


def read_types(api: apis.Api) -> list[Json]:
    """Return the entries of volume types that not every cloud has."""
    found = []
    for kind in api.list('volume', '/types', 'volume_types', is_public='None'):
        if kind['name'] not in defaults.NAMES['volume_types']:
            more = {'description': kind['description'], 'properties': kind['extra_specs']}
            entry = {'name': kind['name'], **{k: v for k, v in more.items() if v}}
            found.append(entry)
    return sorted(found, key=lambda entry: str(entry['name']))
