"""No server may ever run twice: asked after each commit to a file of guests."""

import os
import sqlite3

from nova_lite import states
from tests.sim import kernel
from tests.sim.world import sqlite

RUNNING = 'SELECT uuid, node FROM guests WHERE role = "resident" AND power_state IN (?, ?)'
POWERED = (int(states.PowerState.RUNNING), int(states.PowerState.PAUSED))


class Guests:
    """paths: of the files of guests

    still: {host: True} of those whose machine sleeps. Their guests do not run, and count
        again when the cell hears of the host: before that its daemon has to remove what was
        evacuated meanwhile
    """

    def __init__(self, paths):
        self.still = {}
        self._paths = {os.path.realpath(path): {} for path in paths}
        self._open = {}

    def committed(self, path):
        """Look at a file that was written."""
        if path not in self._paths:
            return
        self._paths[path] = self._running(path)
        self.look()

    def look(self):
        """Fail when a server runs twice, as far as is known."""
        seen = {}
        for rows in self._paths.values():
            for uuid, node in rows:
                if node in self.still:
                    continue
                if uuid in seen:
                    kernel.current().fail(f'{uuid} runs on {seen[uuid]} and on {node}')
                seen[uuid] = node

    def _running(self, path):
        if path not in self._open:
            self._open[path] = sqlite.plain_connect(
                f'file://{path}?mode=ro', uri=True, check_same_thread=False
            )
        try:
            return self._open[path].execute(RUNNING, POWERED).fetchall()
        except sqlite3.OperationalError:
            # Its tables are being made.
            return []
