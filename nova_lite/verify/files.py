"""Read files of a cloud: guests of simulated hosts, and logs."""

import collections
import glob
import os
import re
import typing

from nova_lite.virt.sim import census

# The logger of placement's answers.
PLACEMENT = 'placement.requestlog'
# 503 says that something the API needs does not answer: no fault of the API.
SERVER_ERROR = re.compile(r'status: 5(?!03)\d\d')


class Places(typing.NamedTuple):
    """Patterns of the paths of files. Files may appear while a cloud runs.

    guests: of the compute processes; logs: of the daemons
    """

    guests: tuple[str, ...]
    logs: tuple[str, ...]


def of_state_directory(directory: str) -> Places:
    """Return where the files of a cloud of `nova-lite up` are."""
    root = glob.escape(directory)
    return Places(
        (os.path.join(root, 'guests', '*', 'guests.sqlite'),), (os.path.join(root, 'log', '*.log'),)
    )


def guests(places: Places) -> list[census.Row]:
    """Census rows of all hosts. A guest that moves while they are read counts once.

    A file is read at one time, several are not. A guest that runs in two files runs
    twice only if it still runs in the former when that is read again.
    """
    paths = _paths(places.guests)
    files = [census.guests(path) for path in paths]
    doubles = _in_several(files)
    if doubles:
        again = [{(row.uuid, row.node): row for row in census.guests(path)} for path in paths]
        files = [
            [row for row in rows if row.uuid not in doubles or _stays(row, later)]
            for rows, later in zip(files, again, strict=True)
        ]
    return [row for rows in files for row in rows]


def ownerless_drives(places: Places) -> list[tuple[str, str]]:
    """Return (uuid, node) of guests that are gone from nodes on which their config drives are."""
    return [found for path in _paths(places.guests) for found in census.ownerless_drives(path)]


def _paths(patterns: tuple[str, ...]) -> list[str]:
    return sorted(path for pattern in patterns for path in glob.glob(pattern))


def _in_several(files: list[list[census.Row]]) -> set[str]:
    """uuids of guests that run according to more than one of the files."""
    counts: collections.Counter[str] = collections.Counter()
    for rows in files:
        counts.update({row.uuid for row in rows if row.running})
    return {uuid for uuid, count in counts.items() if count > 1}


def _stays(row: census.Row, later: dict[tuple[str, str], census.Row]) -> bool:
    """Return whether a row that says that its guest runs is still true. later: {key: row}"""
    found = later.get((row.uuid, row.node))
    return not row.running or (found is not None and found.running)


def server_errors(places: Places) -> list[str]:
    """Lines of the logs that report an answer 5xx of the compute API, 503 apart.

    Placement is another project's program: it answers 500 while its database does not answer.
    """
    found: list[str] = []
    for path in _paths(places.logs):
        with open(path, errors='replace') as lines:
            found.extend(
                line.strip()[-200:]
                for line in lines
                if SERVER_ERROR.search(line) and PLACEMENT not in line
            )
    return found
