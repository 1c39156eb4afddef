"""Count guests in the files of simulated hosts, without asking any daemon.

Read-only: it takes the records as they are and settles nothing. Effects whose time
has come but which nobody has looked at yet have not taken place.
"""

import collections
import contextlib
import dataclasses
import json
import pathlib
import sqlite3

from nova_lite import states
from nova_lite.virt import model


@dataclasses.dataclass(frozen=True, slots=True)
class Row:
    """What a file says of a guest on a node. jobs: how many of its jobs have not ended"""

    uuid: str
    node: str
    role: model.Role
    power_state: states.PowerState
    move: str | None
    jobs: int = 0
    spec: model.GuestSpec | None = None

    @property
    def running(self):
        """Whether it is running or has its memory, so that a second one would do harm."""
        return self.role is model.Role.RESIDENT and self.power_state in (
            states.PowerState.RUNNING,
            states.PowerState.PAUSED,
        )


def guests(path):
    """All rows of the file, as one consistent picture; raises FileNotFoundError."""
    path = pathlib.Path(path)
    if not path.exists():
        raise FileNotFoundError(path)
    uri = f'{path.resolve().as_uri()}?mode=ro'
    with contextlib.closing(sqlite3.connect(uri, uri=True, timeout=30)) as connection:
        rows = connection.execute(
            'SELECT uuid, node, role, power_state, move, spec,'
            " (SELECT COUNT(*) FROM jobs WHERE state = 'running'"
            '  AND jobs.node = guests.node AND jobs.guest = guests.uuid)'
            ' FROM guests ORDER BY uuid, node'
        )
        return [
            Row(
                uuid,
                node,
                model.Role(role),
                states.PowerState(power),
                move,
                jobs=jobs,
                spec=model.GuestSpec.from_dict(json.loads(spec)),
            )
            for uuid, node, role, power, move, spec, jobs in rows
        ]


def running(paths):
    """{guest uuid: [nodes where it runs]} over all the files."""
    found = collections.defaultdict(list)
    for path in paths:
        for row in guests(path):
            if row.running:
                found[row.uuid].append(row.node)
    return dict(found)
