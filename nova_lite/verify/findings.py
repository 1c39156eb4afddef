"""Finding: one object that violates an invariant."""

import typing


class Finding(typing.NamedTuple):
    """A violation. invariant: its number; what: the object; detail: the wrong value"""

    invariant: str
    what: str
    detail: str
