"""No two members of an anti-affinity group on one host: asked after each commit of a cell.

Every server group of the workload is of that policy. A member that is being built, or that
could not be, is not on its host yet.
"""

import os
import sqlite3

from tests.sim import kernel
from tests.sim.world import sqlite

SHARED = """
    SELECT group_uuid, host, COUNT(*) FROM instances
    WHERE group_uuid IS NOT NULL AND host IS NOT NULL AND deleted = 0
        AND vm_state NOT IN ('building', 'error')
    GROUP BY group_uuid, host HAVING COUNT(*) > 1
"""


class Groups:
    """paths: of the databases of cells"""

    def __init__(self, paths):
        self._paths = {os.path.realpath(path): None for path in paths}

    def committed(self, path):
        """Look at a database that was written."""
        if path not in self._paths:
            return
        if self._paths[path] is None:
            self._paths[path] = sqlite.plain_connect(
                f'file://{path}?mode=ro', uri=True, check_same_thread=False
            )
        try:
            found = self._paths[path].execute(SHARED).fetchall()
        except sqlite3.OperationalError:
            # Its tables are being made.
            return
        for group, host, number in found:
            kernel.current().fail(f'{number} members of anti-affinity group {group} on {host}')
