"""Failures that were left as in nova: the violations that they explain are no findings."""

from collections.abc import Iterable
from collections.abc import Iterator

from nova_lite.db import rows
from nova_lite.saga import step
from nova_lite.states import nova_failures
from nova_lite.verify import findings
from nova_lite.verify import observed


def explain(
    snapshot: observed.Snapshot, found: Iterable[findings.Finding]
) -> tuple[list[findings.Finding], list[findings.Finding]]:
    """Return (findings, explained): the findings that a row of the table names.

    A finding is explained if it names the server of the saga that failed, or its migration. Each
    server that is still as the failure left it is explained too.
    """
    kept: list[findings.Finding] = []
    explained: list[findings.Finding] = []
    failed = list(_failed(snapshot))
    for finding in found:
        is_left = any(_names(finding, saga, failure) for saga, failure, _row in failed)
        (explained if is_left else kept).append(finding)
    for saga, failure, row in failed:
        if row is not None and failure.stays(row.vm_state, row.task_state):
            detail = (
                f'was left as nova leaves it by saga {saga.uuid}: {failure.title}; '
                f'`nova-lite repair-guide {row.uuid}` shows the repair'
            )
            explained.append(findings.Finding('I6', f'server {row.uuid}', detail))
    return kept, explained


def _failed(
    snapshot: observed.Snapshot,
) -> Iterator[tuple[rows.Row, nova_failures.Failure, rows.Row | None]]:
    """Yield (saga, row of the table, server or None) of failures.

    A server that was deleted since may have left resources too. A failure explains nothing once
    another saga has worked at its server.
    """
    servers = {row.uuid: row for _cell, row in snapshot.instances() if not row.hidden}
    newest: dict[str, rows.Row] = {}
    for saga in sorted(snapshot.sagas, key=lambda saga: saga.created_at):
        newest[saga.instance_uuid] = saga
    for saga in newest.values():
        left = saga.data.get(step.LEFT_AS)
        failure = nova_failures.BY_NAME.get(left['name']) if left else None
        if failure is not None:
            yield saga, failure, servers.get(saga.instance_uuid)


def _names(finding: findings.Finding, saga: rows.Row, failure: nova_failures.Failure) -> bool:
    """Return whether a row of the table explains a finding about a server or its migration."""
    kind = nova_failures.Left(finding.invariant, finding.what.split()[0])
    text = f'{finding.what} {finding.detail}'
    uuids = (saga.instance_uuid, saga.arguments.get('migration_uuid') or saga.uuid)
    return kind in failure.left and any(uuid in text for uuid in uuids)
