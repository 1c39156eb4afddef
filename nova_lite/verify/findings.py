"""Finding: one thing that breaks an invariant."""

import typing


class Finding(typing.NamedTuple):
    """invariant: its number; what: the thing; detail: how it breaks the invariant"""

    invariant: str
    what: str
    detail: str
