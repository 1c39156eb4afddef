"""The flavors of a twin: those of the real cloud, and those that servers keep of former flavors."""

from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
import json
import re
import typing

import os_resource_classes as orc

from nova_lite import exception
from nova_lite.api import known_extra_specs
from nova_lite.lab.twin import names
from nova_lite.lifecycle.guests import pci

Json: typing.TypeAlias = dict[str, typing.Any]
RESOURCES = re.compile('resources[a-zA-Z0-9_-]{0,64}:([A-Z0-9_]+)')
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

    def name_of(self, embedded: Mapping[str, typing.Any]) -> str:
        """Return the name of an entry like the flavor in the answer about a server.

        If there is none, for the flavor was changed or deleted, an entry is added.
        """
        entry = {name: embedded[name] or 0 for name in SIZES}
        entry['properties'] = dict(embedded.get('extra_specs', {}))
        entry['name'] = embedded['original_name']
        without_unknown([entry])
        key = _key(entry)
        if key in self._of:
            return str(self._of[key])
        entry['name'] = names.unique(str(entry['name']), {each['name'] for each in self.entries})
        self.entries.append({name: value for name, value in entry.items() if value})
        self._of[key] = entry['name']
        return str(entry['name'])


def _key(entry: Mapping[str, typing.Any]) -> str:
    """Return a text that is equal for equal flavors."""
    sizes = [entry.get(name) or 0 for name in SIZES]
    return json.dumps([entry.get('name'), sizes, entry.get('properties') or {}], sort_keys=True)


def outside(
    specs: Mapping[str, str], classes: Collection[str], aliases: Collection[str]
) -> str | None:
    """Return why a twin cannot have servers with these extra specs on a host, None if it can.

    classes: resource classes that the host offers; aliases: names of PCI aliases
    """
    if any(key.startswith('accel:') for key in specs):
        return 'with accelerators'
    if _asked(specs) - {*classes}:
        return 'with resources that placement does not show on their hosts'
    devices = str(specs.get(pci.ALIAS) or '').split(',')
    if any(each.partition(':')[0].strip() not in aliases for each in devices if each):
        return 'with PCI aliases that are not known (add --set pci.alias=...)'
    return None


def has_devices(specs: Mapping[str, str]) -> bool:
    """Return whether extra specs ask for PCI devices or virtual GPUs."""
    return pci.ALIAS in specs or orc.VGPU in _asked(specs)


def _asked(specs: Mapping[str, str]) -> set[str]:
    """Return the resource classes that extra specs name."""
    return {named[1] for key in specs if (named := RESOURCES.fullmatch(key))}


def demand(
    embedded: Mapping[str, typing.Any], *, on_volume: bool, dedicated: int = 0
) -> dict[str, int]:
    """Return {resource class: amount} that a server holds. on_volume: whether its root disk is

    dedicated: number of its CPUs that have CPUs of the host for themselves
    """
    disk = embedded['ephemeral'] + -(-(embedded['swap'] or 0) // 1024)
    disk += 0 if on_volume else embedded['disk']
    return {
        'VCPU': embedded['vcpus'] - dedicated,
        'MEMORY_MB': embedded['ram'],
        'DISK_GB': disk,
    }
