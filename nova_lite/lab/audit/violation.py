"""Violation: one result of a check."""

from collections.abc import Callable
from collections.abc import Iterator
import typing

from nova_lite.lab.audit import observed
from nova_lite.verify import age_limits


class Violation:
    """An object that breaks an invariant.

    what: the object; detail: the wrong value; values: by the names of them in the command
    """

    def __init__(self, what: str, detail: str, **values: str) -> None:
        self.what, self.detail, self.values = what, detail, values


Check: typing.TypeAlias = Callable[[observed.Snapshot, age_limits.AgeLimits], Iterator[Violation]]
