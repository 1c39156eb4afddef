"""Sagas that a debugger has stopped: the violations that they explain are no findings."""

from collections.abc import Iterable

from nova_lite.db.api import breakpoints as breakpoint_rows
from nova_lite.saga import breakpoints
from nova_lite.verify import findings
from nova_lite.verify import observed

# The other invariants hold between any two steps.
EXPLAINED = frozenset(('I2', 'I6'))


def explain(
    snapshot: observed.Snapshot, found: Iterable[findings.Finding]
) -> tuple[list[findings.Finding], list[findings.Finding]]:
    """Return (findings, explained): each stopped saga, its age, and its server's.

    While it is stopped, two cells may show the server, or none that the mapping names.
    """
    kept: list[findings.Finding] = []
    explained: list[findings.Finding] = []
    things: set[str] = set()
    for saga in snapshot.sagas:
        mark = breakpoint_rows.mark_of(saga)
        if mark is None:
            continue
        things |= {what := f'saga {saga.uuid} ({saga.kind})', f'server {saga.instance_uuid}'}
        detail = (
            f'of server {saga.instance_uuid} is stopped {breakpoints.place(mark)}; '
            f'`nova-lite saga go {saga.instance_uuid}` continues it'
        )
        explained.append(findings.Finding('I6', what, detail))
    for finding in found:
        is_theirs = finding.invariant in EXPLAINED and finding.what in things
        (explained if is_theirs else kept).append(finding)
    return kept, explained
