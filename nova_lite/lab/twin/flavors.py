"""The flavors of a twin: those of the real cloud, and those that servers keep of former flavors."""

from collections.abc import Iterable
from collections.abc import Mapping
import json
import typing

from nova_lite import exception
from nova_lite.api import known_extra_specs
from nova_lite.lab.twin import names

Json: typing.TypeAlias = dict[str, typing.Any]
# Extra specs of resources that the APIs of a cloud do not show: NUMA nodes, pinned CPUs, devices.
OUTSIDE = ('hw:cpu_policy', 'hw:numa', 'hw:mem_page_size', 'pci_passthrough:', 'accel:')
RESOURCES = 'resources'
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


def is_outside(specs: Mapping[str, str]) -> bool:
    """Return whether servers with these extra specs hold more than a twin can show."""
    return any(
        key.startswith(OUTSIDE)
        or (key.startswith(RESOURCES) and key.partition(':')[2] not in ('VCPU', 'MEMORY_MB'))
        for key in specs
    )


def demand(embedded: Mapping[str, typing.Any], *, on_volume: bool) -> dict[str, int]:
    """Return {resource class: amount} that a server holds. on_volume: whether its root disk is"""
    disk = embedded['ephemeral'] + -(-(embedded['swap'] or 0) // 1024)
    disk += 0 if on_volume else embedded['disk']
    shared = 'dedicated' not in str(embedded.get('extra_specs', {}).get('hw:cpu_policy'))
    return {
        'VCPU': embedded['vcpus'] if shared else 0,
        'MEMORY_MB': embedded['ram'],
        'DISK_GB': disk,
    }
