"""Records of the chaos test: requests, their answers, and violations."""

import contextlib
import json
import typing

from nova_lite import runtime

# After a fault has ended, so many seconds belong to it: connections are made again.
AFTERMATH_S = 10


class Violation(typing.NamedTuple):
    """A violated guarantee. at: seconds since the start"""

    at: float
    kind: str
    detail: str

    def __str__(self):
        return f'{self.at:7.1f} s  {self.kind}: {self.detail}'


class Ledger:
    """Shared by all threads; every method takes its lock.

    path: of a file that gets a line of JSON for each request and each fault
    """

    def __init__(self, path):
        self._lock = runtime.RLock()
        self._file = open(path, 'w', buffering=1)  # noqa: SIM115 as long as the ledger
        self._began = runtime.monotonic()
        self._faults = []
        self._accepted, self._ending, self._gone = {}, set(), set()
        self.violations, self.remarks, self.counts = [], [], {}

    def close(self):
        """Close the file."""
        self._file.close()

    def at(self):
        """Return the seconds since the start."""
        return runtime.monotonic() - self._began

    def note(self, **what):
        """Write a line to the file."""
        with self._lock:
            self._file.write(json.dumps({'at': round(self.at(), 3), **what}) + '\n')

    def violation(self, kind, detail):
        """Record that something is wrong."""
        with self._lock:
            self.violations.append(Violation(self.at(), kind, str(detail)))
            self.note(violation=kind, detail=str(detail))

    # ---- faults ----

    @contextlib.contextmanager
    def fault(self, name):
        """While this lasts, and shortly after it, requests may fail."""
        with self._lock:
            fault = [name, self.at(), None]
            self._faults.append(fault)
            self.note(fault=name)
        try:
            yield
        finally:
            with self._lock:
                fault[2] = self.at()
                self.note(fault=name, lasted=round(fault[2] - fault[1], 1))

    def explained(self, since):
        """Return the faults that something which began at `since` and ends now may meet."""
        with self._lock:
            return [
                name
                for name, _began, ended in self._faults
                if ended is None or ended + AFTERMATH_S > since
            ]

    # ---- requests and servers ----

    def count(self, what, code):
        """Count an answer."""
        with self._lock:
            codes = self.counts.setdefault(what, {})
            codes[code] = codes.get(code, 0) + 1

    def accepted(self, uuid, name):
        """A server was accepted."""
        with self._lock:
            self._accepted.setdefault(uuid, name)

    def ending(self, uuid):
        """Somebody is about to ask that a server be deleted."""
        with self._lock:
            self._ending.add(uuid)

    def gone(self, uuid):
        """The deletion of a server was accepted."""
        with self._lock:
            self._gone.add(uuid)

    def known(self):
        """Return the ids of all servers that were accepted."""
        with self._lock:
            return sorted(self._accepted)

    def standing(self):
        """Return the ids of the accepted servers that no client has asked to delete."""
        with self._lock:
            return {uuid for uuid in self._accepted if uuid not in self._ending}

    def deleted(self):
        """Return the ids of the servers whose deletion was accepted."""
        with self._lock:
            return set(self._gone)
