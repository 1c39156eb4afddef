"""Work in progress: it continues, and ends (I6, I7)."""

import collections
from collections.abc import Iterator
import datetime

from nova_lite import states
from nova_lite.db.cell import reset_builds
from nova_lite.saga import cleaning
from nova_lite.saga import journal
from nova_lite.saga import step
from nova_lite.states import transitions
from nova_lite.verify import age_limits
from nova_lite.verify import findings
from nova_lite.verify import holdings
from nova_lite.verify import observed

Finding = findings.Finding
FINISHED = states.MigrationStatus.FINISHED
# Names on record of actions that their messages call otherwise.
RECORDED = {'os-migrateLive': 'live-migration'}
# Actions that sagas carry out, whose first step begins an event. Those that only hosts carry out
# may have none: a later request has replaced them before their host began.
OF_SAGAS = {RECORDED.get(row.verb, row.verb) for row in transitions.TRANSITIONS if row.saga}
# Keys of a saga's data that name the steps which could not clean up.
LEFTOVERS = (step.GIVEN_UP, step.NOT_UNDONE)


def migrations(snapshot: observed.Snapshot) -> Iterator[findings.Finding]:
    """I5: migrations that have not ended belong to a saga, or wait for confirm or revert."""
    busy = snapshot.busy()
    rows = {row.uuid: row for _cell, row in snapshot.instances() if not row.hidden}
    by_uuid = collections.defaultdict(list)
    for migration in holdings.migrations(snapshot):
        by_uuid[migration.uuid].append(migration)
    for uuid, records in by_uuid.items():
        open_ones = [each for each in records if each.status not in states.MIGRATION_OVER]
        if not open_ones or records[0].instance_uuid in busy:
            continue
        row = rows.get(records[0].instance_uuid)
        statuses = sorted(each.status for each in open_ones)
        resized = row is not None and row.vm_state == states.VmState.RESIZED
        if not (FINISHED in statuses and resized):
            yield Finding('I5', f'migration {uuid}', f'is {", ".join(statuses)} and has no saga')


def ended(snapshot: observed.Snapshot, ages: age_limits.AgeLimits) -> Iterator[findings.Finding]:
    """I6, I7: no task state, saga or build is older than its bound."""

    def is_old(moment: datetime.datetime) -> bool:
        return _is_old(snapshot, moment, ages)

    for cell, row in snapshot.instances():
        if row.hidden or not is_old(row.updated_at or row.created_at):
            continue
        if row.task_state:
            yield Finding(
                'I6', f'server {row.uuid}', f'in {cell.name} is {row.task_state} for too long'
            )
        elif reset_builds.is_building(row):
            yield Finding('I7', f'server {row.uuid}', f'in {cell.name} has been BUILD for too long')
    for saga in snapshot.sagas:
        # One that cleans up may hold its server for it: see `owed`.
        cleans = saga.state == journal.CLEANING
        if saga.active_for and not cleans and is_old(saga.created_at):
            yield Finding(
                'I6',
                f'saga {saga.uuid} ({saga.kind})',
                f'of server {saga.instance_uuid} has not ended; at {saga.step}',
            )
    for uuid, request in snapshot.build_requests.items():
        if is_old(request.created_at):
            yield Finding('I7', f'build request {uuid}', 'was accepted and is not built')


def _is_old(
    snapshot: observed.Snapshot, moment: datetime.datetime, ages: age_limits.AgeLimits
) -> bool:
    return (snapshot.now - moment).total_seconds() >= ages.work


def owed(snapshot: observed.Snapshot, ages: age_limits.AgeLimits) -> Iterator[findings.Finding]:
    """I6: a saga that has ended for its server cleans up within a bound."""
    for saga in snapshot.sagas:
        if saga.state == journal.CLEANING and _is_old(snapshot, saga.finished_at, ages):
            duties = saga.data.get(cleaning.DUTIES) or ()
            steps = sorted(f'{duty["step"]} ({duty["error"]})' for duty in duties)
            yield Finding(
                'I6',
                f'saga {saga.uuid} ({saga.kind})',
                f'of server {saga.instance_uuid} has not finished its cleanup: {", ".join(steps)}',
            )


def events(snapshot: observed.Snapshot, ages: age_limits.AgeLimits) -> Iterator[findings.Finding]:
    """I6: no event of an action is open if its server has no task."""
    for cell in snapshot.cells:
        idle = _idle(snapshot, cell)
        for event in cell.open_events:
            old = _is_old(snapshot, event.start_time, ages)
            if event.instance_uuid in idle and old:
                yield Finding(
                    'I6',
                    f'event {event.event} of server {event.instance_uuid}',
                    f'in {cell.name} has not ended; action {event.action}',
                )


def _idle(snapshot: observed.Snapshot, cell: observed.CellSnapshot) -> set[str]:
    """Return the servers of a cell that have no task and no saga."""
    busy = snapshot.busy()
    return {
        row.uuid
        for row in cell.instances
        if not row.hidden and not row.task_state and row.uuid not in busy
    }


def actions(snapshot: observed.Snapshot, ages: age_limits.AgeLimits) -> Iterator[findings.Finding]:
    """I7: an open action that a saga carries out has an event, the saga, or a task."""
    for cell in snapshot.cells:
        idle = _idle(snapshot, cell)
        for action in cell.eventless:
            old = _is_old(snapshot, action.start_time, ages)
            if action.action in OF_SAGAS and action.instance_uuid in idle and old:
                yield Finding(
                    'I7',
                    f'action {action.action} of server {action.instance_uuid}',
                    f'in {cell.name} has not ended, and nothing carries it out',
                )


def cleaned_up(snapshot: observed.Snapshot) -> Iterator[findings.Finding]:
    """I6: a saga that has ended has cleaned up, according to its journal (``--journal``).

    Steps that it cleaned up later are done. An audit may have cleaned up after others
    since; what a deleted server had was released with it.
    """
    there = {row.uuid for _cell, row in snapshot.instances()}
    for saga in snapshot.sagas:
        if saga.active_for or saga.instance_uuid not in there:
            continue
        steps = {name for key in LEFTOVERS for name in saga.data.get(key) or ()}
        steps -= {*(saga.data.get(cleaning.CLEANED) or ()), *(saga.data.get(step.GONE) or ())}
        if steps:
            yield Finding(
                'I6',
                f'saga {saga.uuid} ({saga.kind})',
                f'of server {saga.instance_uuid} did not clean up: {", ".join(sorted(steps))}',
            )
