"""Sagas that a debugger has stopped: what they leave in between is explained, and no finding."""

from collections.abc import Iterable

from nova_lite.saga import breakpoints
from nova_lite.verify import findings
from nova_lite.verify import snapshot as snapshots

# No step of a saga has a server run twice.
NEVER = frozenset(('I3',))


def explain(
    snapshot: snapshots.Snapshot, found: Iterable[findings.Finding]
) -> tuple[list[findings.Finding], list[findings.Finding]]:
    """Return (findings, what is explained): each stopped saga, and findings about its server."""
    kept: list[findings.Finding] = []
    explained: list[findings.Finding] = []
    uuids: set[str] = set()
    for saga in snapshot.sagas:
        mark = breakpoints.stopped(saga.data)
        if saga.active_for is None or mark is None:
            continue
        uuids |= {saga.uuid, saga.instance_uuid}
        detail = (
            f'of server {saga.instance_uuid} is stopped {breakpoints.place(mark)}; '
            f'`nova-lite saga go {saga.instance_uuid}` continues it'
        )
        explained.append(findings.Finding('I6', f'saga {saga.uuid} ({saga.kind})', detail))
    for finding in found:
        is_theirs = any(uuid in f'{finding.what} {finding.detail}' for uuid in uuids)
        (explained if is_theirs and finding.invariant not in NEVER else kept).append(finding)
    return kept, explained
