"""All hosts of a cloud in few bytes, for the map of the live page: one character for each value."""

from collections.abc import Iterable
import re
import typing

from nova_lite.lab.page import document
from nova_lite.lab.page import placement_rows

LETTERS = {
    document.UP: 'u',
    document.DISABLED: 's',
    document.DOWN: 'd',
    document.OFF: 'o',
    document.UNKNOWN: 'n',
}
# The load of a host is a digit to this base; the last contains what is overcommitted.
DIGITS = '0123456789abcdefghijklmnopqrstuvwxyz'

Json: typing.TypeAlias = dict[str, typing.Any]


def make(hosts: Iterable[Json]) -> Json:
    """Return the map: {zones: [name], digits, cells: [{cell, names, zones, states, loads}]}.

    hosts: as document.hosts
    In each cell, names is a list of hosts, by zone and number. zones has the index of the zone of
    each host, states its letter of LETTERS, loads[class] its digit.
    """
    cells: dict[str, list[Json]] = {}
    for host in hosts:
        cells.setdefault(host['cell'], []).append(host)
    zones = sorted({host['zone'] for here in cells.values() for host in here})
    index = {zone: number for number, zone in enumerate(zones)}
    return {
        'zones': zones,
        'digits': len(DIGITS),
        'cells': [_cell(name, sorted(here, key=_order), index) for name, here in cells.items()],
    }


def _order(host: Json) -> tuple[str, list[str | int]]:
    """Return the place of a host: host2 is before host10."""
    parts = re.split(r'(\d+)', host['name'])
    # The parts are texts and numbers in turn.
    return host['zone'], [int(part) if index % 2 else part for index, part in enumerate(parts)]


def _cell(name: str, here: list[Json], index: dict[str, int]) -> Json:
    return {
        'cell': name,
        'names': [host['name'] for host in here],
        'zones': [index[host['zone']] for host in here],
        'states': ''.join(LETTERS[host['state']] for host in here),
        'loads': {
            kind: ''.join(_digit(document.share(host['load'], kind)) for host in here)
            for kind in placement_rows.CLASSES.values()
        },
    }


def _digit(share: float) -> str:
    return DIGITS[min(len(DIGITS) - 1, int(share * len(DIGITS)))]
