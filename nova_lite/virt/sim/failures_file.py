"""Failures that another process injects: a file that the simulated hosts of this process follow.

The launcher of a cloud writes the file and names it in [compute]failures_file. A daemon that its
service manager starts has no such file, unless its configuration names one.
"""

import json
import os

from nova_lite.virt.sim import profile
from nova_lite.virt.sim import rules


class FailuresFile:
    """Returns the failures in a file, which may change at any time. A missing file has none."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._mark: tuple[int, int, int] | None = None
        self._rules: tuple[rules.FailureRule, ...] = ()

    def __call__(self) -> tuple[rules.FailureRule, ...]:
        """Return the failures. Raise ProfileError."""
        try:
            found = os.stat(self._path)
        except FileNotFoundError:
            return ()
        mark = (found.st_ino, found.st_mtime_ns, found.st_size)
        if mark != self._mark:
            with open(self._path, encoding='utf-8') as file:
                self._rules = tuple(
                    profile.parse_failure(each['entry'], each['identity'])
                    for each in json.load(file)
                )
            self._mark = mark
        return self._rules
