"""The flavors of a twin: those of the real cloud, and those that servers keep of former flavors."""

from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
import json
import typing

import os_resource_classes as orc

from nova_lite import exception
from nova_lite.api import known_extra_specs
from nova_lite.lab.twin import names
from nova_lite.lifecycle.guests import asked
from nova_lite.lifecycle.guests import pci
from nova_lite.scheduler import query

Json: typing.TypeAlias = dict[str, typing.Any]
SIZES = ('vcpus', 'ram', 'disk', 'ephemeral', 'swap')


def without_unknown(entries: Iterable[Json]) -> list[str]:
    """Remove extra specs that the API of a twin refuses. Return notes on them."""
    notes = []
    for entry in entries:
        for key, value in list(entry.get('properties', {}).items()):
            try:
                known_extra_specs.check(key, value)
            except exception.Invalid:
                notes.append(f'{key}={value} of flavor {entry["name"]}')
                del entry['properties'][key]
    return notes


class Flavors:
    """Finds the entry of the flavor of each server. entries: those of the cloud"""

    def __init__(self, entries: Iterable[Json]) -> None:
        self.entries = list(entries)
        self._of = {_key(entry): entry['name'] for entry in self.entries}
        # Extra specs of former flavors that a twin refuses.
        self.notes: list[str] = []

    def name_of(self, embedded: Mapping[str, typing.Any]) -> str:
        """Return the name of an entry like the flavor in the answer about a server.

        If there is none, for the flavor was changed or deleted, an entry is added.
        """
        entry = {name: embedded[name] or 0 for name in SIZES}
        entry['properties'] = dict(embedded.get('extra_specs', {}))
        entry['name'] = embedded['original_name']
        notes = without_unknown([entry])
        key = _key(entry)
        if key in self._of:
            return str(self._of[key])
        self.notes += notes
        entry['name'] = names.unique(str(entry['name']), {each['name'] for each in self.entries})
        self.entries.append({name: value for name, value in entry.items() if value})
        self._of[key] = entry['name']
        return str(entry['name'])


def _key(entry: Mapping[str, typing.Any]) -> str:
    """Return a text that is equal for equal flavors."""
    sizes = [entry.get(name) or 0 for name in SIZES]
    return json.dumps([entry.get('name'), sizes, entry.get('properties') or {}], sort_keys=True)


def outside(
    specs: Mapping[str, str], lacking: Collection[str], aliases: Collection[str]
) -> str | None:
    """Return why a twin cannot have servers with these extra specs on a host, None if it can.

    lacking: resource classes of the servers that the host does not offer
    aliases: names of PCI aliases
    """
    if any(key.startswith('accel:') for key in specs):
        return 'with accelerators'
    if lacking:
        return f'with resources that placement does not show on their hosts ({_listed(lacking)})'
    devices = str(specs.get(pci.ALIAS) or '').split(',')
    names = {each.partition(':')[0].strip() for each in devices if each}
    if unknown := names.difference(aliases):
        return f'with PCI aliases that are not known ({_listed(unknown)}; add --set pci.alias=...)'
    return None


def _listed(names_: Iterable[str]) -> str:
    return ', '.join(sorted(names_))


def has_devices(specs: Mapping[str, str]) -> bool:
    """Return whether extra specs ask for PCI devices or virtual GPUs."""
    return pci.ALIAS in specs or any(
        key.endswith(f':{orc.VGPU}') and query.KEY.fullmatch(key) and asked.amount(value)
        for key, value in specs.items()
    )


def demand(
    embedded: Mapping[str, typing.Any],
    properties: Mapping[str, str],
    *,
    on_volume: bool,
    pinned: bool,
) -> dict[str, int]:
    """Return {resource class: amount} that a server of a twin claims. Raise Invalid.

    properties: those of its image; on_volume: whether its root disk is
    pinned: whether its host has dedicated CPUs
    """
    flavor = {
        'name': embedded['original_name'],
        'vcpus': embedded['vcpus'],
        'memory_mb': embedded['ram'],
        'root_gb': embedded['disk'],
        'ephemeral_gb': embedded['ephemeral'],
        'swap': embedded['swap'] or 0,
        'extra_specs': dict(embedded.get('extra_specs', {})),
    }
    image = {'id': None, 'name': None, 'properties': dict(properties)}
    return query.held(flavor, {'image': image, 'is_bfv': on_volume}, pinned=pinned)
