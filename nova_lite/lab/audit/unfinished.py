"""Checks of work in progress: it ends within the age limit."""

from collections.abc import Iterator

from nova_lite import states
from nova_lite.lab.audit import observed
from nova_lite.lab.audit import violation
from nova_lite.verify import age_limits

Violation = violation.Violation
Snapshot = observed.Snapshot
Ages = age_limits.AgeLimits
_V = states.VmState


def tasks(snapshot: Snapshot, ages: Ages) -> Iterator[Violation]:
    """T1: No server has a task state for longer than the age limit.

    The service that worked on the server has ended or lost the message. Most actions answer
    409 until the state is reset. First look whether the guest runs, and where.
    """
    for cell, row in _visible(snapshot):
        if row.task_state and snapshot.age_s(row) >= ages.work:
            detail = (
                f'in cell {cell.name} has been {row.task_state} for {snapshot.age_s(row):.0f} s'
            )
            yield Violation(f'server {row.uuid}', detail, server=row.uuid)


def builds(snapshot: Snapshot, ages: Ages) -> Iterator[Violation]:
    """T2: No server without a task state is BUILD for longer than the age limit.

    The build has ended without a result, and nothing continues it.
    """
    for cell, row in _visible(snapshot):
        is_idle = row.vm_state == _V.BUILDING and not row.task_state
        if is_idle and snapshot.age_s(row) >= ages.work:
            detail = f'in cell {cell.name} has been BUILD for {snapshot.age_s(row):.0f} s'
            yield Violation(f'server {row.uuid}', detail, server=row.uuid)


def migrations(snapshot: Snapshot, ages: Ages) -> Iterator[Violation]:
    """T3: No migration is in progress for longer than the age limit.

    The service that carried it out has ended. Live migrations of large servers may take
    longer than the default limit: choose another with ``--bound``.
    """
    for cell in snapshot.cells:
        for row in cell.migrations:
            passes = row.status in observed.OVER or row.status == observed.FINISHED
            if not passes and snapshot.age_s(row) >= ages.work:
                detail = (
                    f'({row.migration_type}) of server {row.instance_uuid} in cell {cell.name} has '
                    f'been {row.status} for {snapshot.age_s(row):.0f} s'
                )
                yield Violation(f'migration {row.uuid}', detail, server=row.instance_uuid)


def finished(snapshot: Snapshot, _ages: Ages) -> Iterator[Violation]:
    """T4: Each finished migration has a resized server that waits for its confirmation.

    The state of the server was reset, or the server was deleted. The migration keeps
    allocations on its source.
    """
    for uuid, moves in snapshot.open_migrations.items():
        rows = [row for _cell, row in snapshot.visible.get(uuid, ())]
        if any(row.task_state or row.vm_state == _V.RESIZED for row in rows):
            continue
        for move in moves:
            if move.status == observed.FINISHED:
                state = rows[0].vm_state if rows else 'deleted'
                detail = f'of server {uuid} is finished, and the server is {state}'
                yield Violation(f'migration {move.uuid}', detail)


def resized(snapshot: Snapshot, _ages: Ages) -> Iterator[Violation]:
    """T5: Each resized server has a finished migration.

    Without it the resize can be neither confirmed nor reverted.
    """
    for _cell, row in snapshot.resting():
        moves = snapshot.open_migrations.get(row.uuid, ())
        if row.vm_state == _V.RESIZED and not moves:
            yield Violation(f'server {row.uuid}', 'is resized and no migration is', server=row.uuid)


def _visible(snapshot: Snapshot) -> Iterator[tuple[observed.Cell, observed.Row]]:
    return (each for records in snapshot.visible.values() for each in records)
