"""The cells and hosts of a file, and what of them is in its profile."""

from collections.abc import Collection
from collections.abc import Iterable
import fnmatch

from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher.cloud_file import document as documents


def counts(value: documents.Json) -> tuple[int, ...]:
    """Return the number of hosts of each cell. value: of a document"""
    cells_ = value.get('cells', [{}] * layout.Settings.cells)
    return tuple(cell.get('hosts', layout.Settings.hosts) for cell in cells_)


def cells(value: documents.Json) -> list[str]:
    """Return the names of the cells."""
    return _places(value).cell_names


def names(value: documents.Json) -> list[str]:
    """Return the names of all hosts."""
    places = _places(value)
    return [host for cell in places.cell_names for host in places.hosts(cell)]


def matching(known: Collection[str], patterns: Iterable[str]) -> list[str]:
    """Return the hosts that fit one of the patterns, in their order."""
    wanted = {host for pattern in patterns for host in fnmatch.filter(known, pattern)}
    return [host for host in known if host in wanted]


def _places(value: documents.Json) -> layout.Layout:
    found = counts(value)
    return layout.Layout(layout.Settings(state_dir='', cells=len(found), hosts=found))


def is_each(found: tuple[int, ...], value: int | tuple[int, ...]) -> bool:
    """Return whether --hosts has the value that the cells of a file have."""
    return isinstance(value, int) and set(found) == {value}
