"""Confirm resizes after resize_confirm_window or a reset, and end those of deleted servers.

Source: reference/nova/moves 3.2, [DEFAULT]resize_confirm_window.
"""

from collections.abc import Callable
import datetime
import typing

from oslo_log import log
import sqlalchemy as sa

from nova_lite import cells as deployment
from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite import states
from nova_lite.db import rows
from nova_lite.db.api import instance_mappings
from nova_lite.db.cell import copies
from nova_lite.db.cell import instances
from nova_lite.db.cell import migrations
from nova_lite.db.cell import services
from nova_lite.dialects import execute
from nova_lite.lifecycle import confirmations
from nova_lite.lifecycle import searches
from nova_lite.moves import world as worlds
from nova_lite.states import transitions

LOG = log.getLogger(__name__)

Status = states.MigrationStatus
TYPES = (states.MigrationType.RESIZE, states.MigrationType.MIGRATION)
_TABLE, _SERVER = migrations.TABLE, instances.TABLE
_OF_SERVER = ('uuid', 'deleted', 'vm_state', 'task_state')
_FINISHED = (
    sa.select(_TABLE, *(_SERVER.c[name].label(f'server_{name}') for name in _OF_SERVER))
    .outerjoin(_SERVER, _SERVER.c.uuid == _TABLE.c.instance_uuid)
    .where(
        _TABLE.c.status == str(Status.FINISHED),
        _TABLE.c.migration_type.in_([str(each) for each in TYPES]),
        _TABLE.c.hidden.is_(False),
    )
    .order_by(_TABLE.c.id)
)


class AutoConfirm:
    """The periodic search of all cells.

    run_saga: function that takes the uuid of a saga and runs it at once
    """

    def __init__(self, world: worlds.World, run_saga: Callable[[str], None]) -> None:
        self._world, self._run_saga = world, run_saga

    def run(self) -> None:
        """Confirm resizes that are due or were reset; end those of deleted servers."""
        searches.each(self._world.cells.every(cell0=False), self._look, what='resizes to confirm')

    def _look(self, cell: deployment.Cell) -> None:
        for migration, row in cell.db.read(finished):
            # The source may be in another cell, which must not hold up the next migration.
            with searches.going_on('Skipping migration %s', migration.uuid):
                self._consider(cell, migration, row)

    def _consider(self, cell: deployment.Cell, migration: rows.Row, row: '_Server | None') -> None:
        if row is None or row.deleted:
            self._abandon(cell, migration)
        elif transitions.CONFIRM_RESET.may_start(row.vm_state, row.task_state):
            self._confirm(cell, migration, transitions.CONFIRM_RESET)
        elif self._is_due(migration) and transitions.CONFIRM_RESIZE.may_start(
            row.vm_state, row.task_state
        ):
            if self._is_source_up(cell, migration):
                self._confirm(cell, migration, transitions.CONFIRM_RESIZE)
            else:
                LOG.info('Not confirming resize %s yet: its source host is down', migration.uuid)

    def _is_due(self, migration: rows.Row) -> bool:
        window = self._world.conf.resize_confirm_window
        since = runtime.naive_now() - datetime.timedelta(seconds=window)
        return bool(window and migration.updated_at <= since)

    def _is_source_up(self, cell: deployment.Cell, migration: rows.Row) -> bool:
        return self._source_cell(cell, migration).db.read(
            services.is_host_up, migration.source_compute, self._world.conf.service_down_time
        )

    def _confirm(
        self, cell: deployment.Cell, migration: rows.Row, guard: transitions.Transition
    ) -> None:
        if self._is_copy(cell, migration):
            return
        try:
            uuid = confirmations.begin(self._world.api_db, cell, migration, guard)
        except (exception.Conflict, exception.NotFound) as error:
            LOG.info('Not confirming resize %s yet: %s', migration.uuid, error)
            return
        reason = (
            'after resize_confirm_window'
            if guard is transitions.CONFIRM_RESIZE
            else 'because the state of its server was reset'
        )
        LOG.info('Confirming resize %s %s', migration.uuid, reason)
        self._run_saga(uuid)

    def _is_copy(self, cell: deployment.Cell, migration: rows.Row) -> bool:
        """Return whether the server is in another cell now, so that its record there must stay.

        A purged server is in no cell.
        """
        mapping = self._world.api_db.read(instance_mappings.find, migration.instance_uuid)
        return mapping is not None and mapping.cell_id != cell.id

    def _source_cell(self, cell: deployment.Cell, migration: rows.Row) -> deployment.Cell:
        """Return the cell of a migration's source host. cell: that of the visible record"""
        if migration.cross_cell_move:
            return self._world.cells.of_host(migration.source_compute)
        return cell

    def _abandon(self, cell: deployment.Cell, migration: rows.Row) -> None:
        """End the migration of a deleted server, and remove the guest that the source kept."""
        if self._is_copy(cell, migration):
            return
        LOG.warning('No saga will end migration %s: its server is deleted', migration.uuid)
        try:
            self._world.compute(self._source_cell(cell, migration)).confirm_resize(
                context.admin(),
                host=migration.source_compute,
                instance_uuid=migration.instance_uuid,
                node=migration.source_node,
                move=migration.uuid,
                key=f'{migration.uuid}/abandon',
            )
        except exception.NovaLiteError as error:
            LOG.warning(
                'Cannot remove the guest of migration %s from its source: %s. The audit of the host '
                'removes it.',
                migration.uuid,
                error,
            )
        self._world.placement.delete_allocations(context.admin(), migration.uuid, force=True)
        if migration.cross_cell_move:
            source = self._source_cell(cell, migration)
            source.db.write(copies.purge, migration.instance_uuid)
        try:
            cell.db.write(
                migrations.update,
                migration.uuid,
                {'status': str(Status.ERROR)},
                expect_status=(str(Status.FINISHED),),
            )
        except exception.StateChanged as error:
            LOG.info('Migration %s has already ended: %s', migration.uuid, error)


def finished(connection: sa.Connection) -> list[tuple[rows.Row, '_Server | None']]:
    """Return [(migration, columns of its server or None)] of moves that wait for confirmation.

    It is one statement with few columns, because it runs often and there may be many moves.
    """
    found = execute.every(connection, _FINISHED)
    return [(row, _Server(*row[-len(_OF_SERVER) :]) if row.server_uuid else None) for row in found]


class _Server(typing.NamedTuple):
    uuid: str
    deleted: bool
    vm_state: str
    task_state: str | None
