"""The cells and hosts of a file."""

from collections.abc import Collection
from collections.abc import Iterable
import fnmatch

from nova_lite.lab.launcher import host_names
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher.cloud_file import document as documents


def counts(value: documents.Json) -> tuple[int, ...]:
    """Return the number of hosts of each cell. value: of a document"""
    return tuple(len(names) for names in _by_cell(value).values())


def cells(value: documents.Json) -> list[str]:
    """Return the names of the cells."""
    return list(_by_cell(value))


def names(value: documents.Json) -> list[str]:
    """Return the names of all hosts."""
    return [host for hosts in _by_cell(value).values() for host in hosts]


def named(value: documents.Json) -> dict[str, list[str]]:
    """Return {cell: names of its hosts} of the cells whose hosts the file names."""
    cells = enumerate(value.get('cells', ()), start=1)
    listed = {host_names.cell_name(number): cell for number, cell in cells}
    return {
        name: cell['hosts'] for name, cell in listed.items() if isinstance(cell.get('hosts'), list)
    }


def matching(known: Collection[str], patterns: Iterable[str]) -> list[str]:
    """Return the hosts that match one of the patterns, in the order of the hosts."""
    wanted = {host for pattern in patterns for host in fnmatch.filter(known, pattern)}
    return [host for host in known if host in wanted]


def _by_cell(value: documents.Json) -> dict[str, list[str]]:
    """Return {cell: names of its hosts}."""
    found = {}
    for number, cell in enumerate(value.get('cells', [{}] * layout.Settings.cells), start=1):
        hosts = cell.get('hosts', layout.Settings.hosts)
        name = host_names.cell_name(number)
        found[name] = hosts if isinstance(hosts, list) else host_names.of_cell(name, hosts)
    return found


def is_each(found: tuple[int, ...], value: int | tuple[int, ...]) -> bool:
    """Return whether the value of --hosts is equal to the numbers of hosts in the file."""
    return isinstance(value, int) and set(found) == {value}
