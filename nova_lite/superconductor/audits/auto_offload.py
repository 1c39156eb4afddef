"""Offload servers that have been shelved for shelved_offload_time.

Source: nova's [DEFAULT]shelved_offload_time; the saga is that of shelveOffload.
"""

from collections.abc import Callable
import datetime

from oslo_log import log
import sqlalchemy as sa

from nova_lite import cells as deployment
from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite import states
from nova_lite.db import rows
from nova_lite.db.cell import instances
from nova_lite.db.cell import services
from nova_lite.lifecycle import intents
from nova_lite.lifecycle import searches
from nova_lite.moves import world as worlds
from nova_lite.moves.parts import shelving
from nova_lite.states import transitions

LOG = log.getLogger(__name__)


class AutoOffload:
    """The periodic search of all cells.

    run_saga: function that takes the uuid of a saga and runs it at once
    """

    def __init__(self, world: worlds.World, run_saga: Callable[[str], None]) -> None:
        self._world, self._run_saga = world, run_saga
        # Servers that cannot be offloaded: those of the last search, and those of this one.
        self._known: set[str] = set()
        self._found: set[str] = set()

    def run(self) -> None:
        """Offload servers that are due. A server whose host is down is offloaded later.

        A server whose shelved image does not contain its disk stays on its host. It is logged when
        it is found for the first time.
        """
        self._known, self._found = self._found, set()
        searches.each(self._world.cells.every(cell0=False), self._look, what='servers to offload')

    def _look(self, cell: deployment.Cell) -> None:
        kept = datetime.timedelta(seconds=self._world.conf.shelved_offload_time)
        for row in cell.db.read(_due, runtime.naive_now() - kept):
            with searches.going_on('Cannot offload server %s', row.uuid):
                service = cell.db.read(services.find, row.host)
                is_up = service and services.is_up(service, self._world.conf.service_down_time)
                if is_up and self._has_image(row):
                    self._offload(cell, row)

    def _has_image(self, row: rows.Row) -> bool:
        """Return whether the server's image, if it needs one, has its disk. Raise Unavailable."""
        try:
            shelving.require_image(self._world.image, context.admin(), row)
        except exception.NovaLiteError as error:
            if error.transient:
                raise
            if row.uuid not in self._known:
                LOG.warning('Not offloading server %s: %s', row.uuid, error)
            self._found.add(row.uuid)
            return False
        return True

    def _offload(self, cell: deployment.Cell, row: rows.Row) -> None:
        intent = intents.Intent(
            kind='shelve-offload',
            uuid=runtime.new_uuid(),
            instance_uuid=row.uuid,
            order=intents.order(transitions.SHELVE_OFFLOAD, 'shelveOffload', host=row.host),
        )
        try:
            intents.begin(self._world.api_db, cell, context.admin(), intent)
        except (exception.Conflict, exception.NotFound) as error:
            LOG.info('Not offloading server %s: %s', row.uuid, error)
            return
        LOG.info(
            'Offloading shelved server %s from host %s after shelved_offload_time',
            row.uuid,
            row.host,
        )
        self._run_saga(intent.uuid)


def _due(connection: sa.Connection, before: datetime.datetime) -> list[rows.Row]:
    """Return servers that were shelved before `before` and are still on a host."""
    table = instances.TABLE
    found = rows.every(
        connection,
        table,
        instances.ON_HOST,
        deleted=False,
        hidden=False,
        vm_state=str(states.VmState.SHELVED),
        task_state=None,
        order_by=table.c.id,
    )
    return [row for row in found if _shelved_at(row) <= before]


def _shelved_at(row: rows.Row) -> datetime.datetime:
    return datetime.datetime.fromisoformat(row.system_metadata[shelving.SHELVED_AT])
