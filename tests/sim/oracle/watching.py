"""Rules for each commit: databases are read whenever one was written."""

import os
import sqlite3

from tests.sim import kernel
from tests.sim.world import sqlite


class Watch:
    """Calls `look(connections)` after each commit to one of the files, and fails by its answer.

    paths: {name: file}; look: given {name: connection that only reads}, returns what is
        not as it should be, or None
    """

    def __init__(self, paths, look):
        self._names = {os.path.realpath(path): name for name, path in paths.items()}
        self._look = look
        self._open = {}

    def committed(self, path):
        """Look if it is one of these files."""
        if path not in self._names:
            return
        try:
            found = self._look(self._connections())
        except sqlite3.OperationalError:
            # Its tables are being made.
            return
        if found:
            kernel.current().fail(found)

    def _connections(self):
        for path, name in self._names.items():
            if name not in self._open:
                self._open[name] = self._connect(name, path)
        return self._open

    def _connect(self, _name, path):
        return sqlite.plain_connect(f'file://{path}?mode=ro', uri=True, check_same_thread=False)


class OnServer(Watch):
    """The same after each commit to one of the databases of a server.

    databases: a world.databases.Databases; paths: of those that are looked at, by their names.
        Placement's is a file
    """

    def __init__(self, databases, paths, look):
        files = {name: path for name, path in paths.items() if name not in sqlite.SERVED}
        super().__init__(files, look)
        self._databases = databases
        self._names |= {name: name for name in paths if name in sqlite.SERVED}

    def _connect(self, name, path):
        if name in sqlite.SERVED:
            return self._databases.reader(name)
        return super()._connect(name, path)
