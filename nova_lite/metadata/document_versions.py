"""Versions of the documents: dates, and a name for the newest one."""

from collections.abc import Sequence

LATEST = 'latest'


def resolve(name: str, known: Sequence[str]) -> str | None:
    """Return the version that a name means, or None if there is none.

    known: versions, oldest first
    """
    if name == LATEST:
        return known[-1]
    return name if name in known else None
