"""Audit of a cell: finish work that has no host.

A conductor that was killed between two steps leaves servers with a task and without a host.
Hosts find their own unfinished work (compute.audit).
"""

from collections.abc import Callable
from collections.abc import Sequence
import datetime
import typing

from oslo_log import log
import sqlalchemy as sa

from nova_lite import context
from nova_lite import runtime
from nova_lite import states
from nova_lite.clients import client_set
from nova_lite.conductor import delete_reports
from nova_lite.conductor import reschedule
from nova_lite.db import rows
from nova_lite.db.cell import action_lists
from nova_lite.db.cell import epochs
from nova_lite.db.cell import instances
from nova_lite.db.cell import migrations
from nova_lite.db.cell import reset_builds
from nova_lite.dialects import execute
from nova_lite.lifecycle import refused_deletions
from nova_lite.lifecycle import searches
from nova_lite.lifecycle import server_release
from nova_lite.states import transitions

LOG = log.getLogger(__name__)

EPOCHS_KEPT = datetime.timedelta(days=7)
FORGET_EVERY_S = 3600
# Tasks that a server may have before a host builds it, or when it no longer has a host.
HOSTLESS_TASKS = (*transitions.BUILD.tasks[:1], *transitions.DELETE.tasks)
# Moves that end with the status error while their server exists, and otherwise with failed.
INCOMPLETE = (
    states.MigrationType.RESIZE,
    states.MigrationType.MIGRATION,
    states.MigrationType.LIVE_MIGRATION,
)
_SERVERS = instances.TABLE
_MAY_BE_ABANDONED = sa.or_(
    _SERVERS.c.task_state.in_([str(task) for task in HOSTLESS_TASKS]),
    _SERVERS.c.build.is_not(None),
)
_INCOMPLETE = (
    sa.select(migrations.TABLE.c.uuid)
    .join(_SERVERS, _SERVERS.c.uuid == migrations.TABLE.c.instance_uuid)
    .where(
        migrations.TABLE.c.status == str(states.MigrationStatus.ERROR),
        migrations.TABLE.c.migration_type.in_([str(each) for each in INCOMPLETE]),
        _SERVERS.c.deleted.is_(True),
        sa.func.coalesce(_SERVERS.c.deleted_at, _SERVERS.c.updated_at) <= sa.bindparam('before'),
    )
)


class Audit:
    """The periodic repair of one cell's records.

    idle_s: work without a change for so many seconds counts as abandoned
    """

    def __init__(
        self,
        write: Callable[..., typing.Any],
        read: Callable[..., typing.Any],
        *,
        rescheduler: reschedule.Reschedule,
        clients: client_set.Clients,
        idle_s: float,
    ) -> None:
        self._write, self._read = write, read
        self._rescheduler, self._clients = rescheduler, clients
        self._idle_s = idle_s
        self._forgot_at: float | None = None
        self._refused = refused_deletions.RefusedDeletions()

    def run(self) -> None:
        """Finish work without a host, end migrations of deleted servers, delete old epochs."""
        hostless, incomplete = self._read(_abandoned, self._idle_s)
        for row in hostless:
            if _builds(row):
                LOG.warning('Rescheduling the build of server %s, which has no host', row.uuid)
                self._attempt(self._rescheduler.take_up, row)
        for row in hostless:
            if row.task_state == states.TaskState.DELETING:
                self._attempt(self._delete, row)
        if incomplete:
            LOG.info('Ending unfinished migrations of deleted servers: %s', incomplete)
            self._write(_close, incomplete)
        self._forget_epochs()

    def _forget_epochs(self) -> None:
        now = runtime.monotonic()
        if self._forgot_at is None or now - self._forgot_at >= FORGET_EVERY_S:
            self._write(epochs.forget, runtime.naive_now() - EPOCHS_KEPT)
            self._forgot_at = now

    def _attempt(self, repair: Callable[[rows.Row], None], row: rows.Row) -> None:
        with searches.going_on('Cannot repair server %s; retrying later', row.uuid):
            repair(row)

    def _delete(self, row: rows.Row) -> None:
        """Delete a server, unless its state was reset."""
        if not self._read(searches.is_still, row):
            return
        LOG.warning('Finishing the interrupted deletion of server %s', row.uuid)
        with self._refused.ending(self._write, row, read=self._read):
            self._release(context.admin(), row)

    def _release(self, ctxt: context.RequestContext, row: rows.Row) -> None:
        """Release what the server has at the neighbours, and delete its record."""
        server_release.release_all(self._clients, ctxt, self._read, row)
        report = delete_reports.Report(ctxt, None, row.uuid, action_lists.TERMINATE)
        self._write(delete_reports.end, [report])


def _abandoned(connection: sa.Connection, idle_s: float) -> tuple[Sequence[rows.Row], list[str]]:
    """Return servers without a host, and moves, that have not changed for `idle_s` seconds."""
    before = runtime.naive_now() - datetime.timedelta(seconds=idle_s)
    return _hostless(connection, before), _incomplete(connection, before)


def _hostless(connection: sa.Connection, before: datetime.datetime) -> Sequence[rows.Row]:
    found = rows.every(
        connection,
        instances.TABLE,
        instances.IS_IDLE,
        _MAY_BE_ABANDONED,
        order_by=instances.TABLE.c.id,
        given={'idle_since': before},
        host=None,
        deleted=False,
        hidden=False,
    )
    return [row for row in found if row.task_state in HOSTLESS_TASKS or _builds(row)]


def _builds(row: rows.Row) -> bool:
    """Return whether a server without a host is to be built."""
    if row.task_state == states.TaskState.SCHEDULING:
        return True
    return reset_builds.continues(row) and not instances.is_gone(row)


def _incomplete(connection: sa.Connection, before: datetime.datetime) -> list[str]:
    """Return migrations (uuids) that ended in error, whose servers were deleted since.

    The hosts' own audit (compute.audit) finds the remains of these moves.
    Source: reference/nova/moves 1.2.
    """
    return execute.values(connection, _INCOMPLETE, {'before': before})


def _close(connection: sa.Connection, uuids: list[str]) -> None:
    rows.change(
        connection,
        migrations.TABLE,
        {'status': str(states.MigrationStatus.FAILED)},
        uuid=uuids,
        status=str(states.MigrationStatus.ERROR),
    )
