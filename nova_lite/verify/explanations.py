"""Violations that are no findings, because a person has asked for their cause."""

from collections.abc import Iterable

from nova_lite.verify import findings
from nova_lite.verify import left_failures
from nova_lite.verify import observed
from nova_lite.verify import stops


def explain(
    snapshot: observed.Snapshot, found: Iterable[findings.Finding]
) -> tuple[list[findings.Finding], list[findings.Finding]]:
    """Return (findings, explained): stopped sagas and failures left as in nova explain some."""
    kept, stopped = stops.explain(snapshot, found)
    kept, left = left_failures.explain(snapshot, kept)
    return kept, stopped + left
