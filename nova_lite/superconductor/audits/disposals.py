"""Disposals: finish interrupted deletions above the cells.

The API deletes servers that no host can delete, and may be killed during a deletion. This audit
covers cell0, servers that were not built yet, servers whose host is down, and deleted servers that
still count in quotas. The conductors of the cells audit servers without a host (conductor.audit).
"""

from collections.abc import Callable
from collections.abc import Sequence
import datetime
import typing

from oslo_log import log
import sqlalchemy as sa

from nova_lite import cells as deployment
from nova_lite import context
from nova_lite import runtime
from nova_lite import states
from nova_lite.db import rows
from nova_lite.db.api import build_requests
from nova_lite.db.api import instance_mappings
from nova_lite.db.api import sagas
from nova_lite.db.cell import changed_instances
from nova_lite.db.cell import instances
from nova_lite.db.cell import services
from nova_lite.lifecycle import disposal
from nova_lite.lifecycle import refused_deletions
from nova_lite.lifecycle import requests
from nova_lite.lifecycle import searches
from nova_lite.moves import world as worlds
from nova_lite.rpc import interface

LOG = log.getLogger(__name__)


class Disposals:
    """The periodic search of the super-conductor. world: see `world.World`"""

    def __init__(self, world: worlds.World) -> None:
        self._world, self._options = world, world.conf.conductor
        self._seen: dict[str, datetime.datetime] = {}
        self._refused = refused_deletions.RefusedDeletions()

    def run(self) -> None:
        """Finish deletions without progress."""
        cell0 = self._world.cells.cell0
        for row in cell0.db.read(_abandoned, self._options.audit_idle_s):
            self._attempt(row.uuid, self._delete, context.admin(), cell0, row)
        withdrawn = self._world.api_db.write(
            build_requests.take_over_withdrawn, self._options.build_lease_s
        )
        for request in withdrawn:
            ctxt = requests.context_of(request)
            self._attempt(request.instance_uuid, _withdraw, ctxt, request)
        searches.each(self._world.cells.every(), self._finish, what='deletions to finish')
        searches.each(self._world.cells.every(), self._count, what='servers to count')

    def _attempt(
        self,
        uuid: str,
        work: Callable[..., object],
        ctxt: context.RequestContext,
        *args: typing.Any,
    ) -> None:
        with (
            ctxt.bound(),
            searches.going_on('Cannot clean up after server %s; retrying later', uuid),
        ):
            work(self._world, ctxt, *args)

    def _finish(self, cell: deployment.Cell) -> None:
        """Finish the deletions that the hosts of a cell were asked for and cannot do.

        A host may go down before it gets the message. A saga of the server notices the deletion.
        """
        down_s = self._world.conf.service_down_time
        for row in cell.db.read(_left, self._options.audit_idle_s, down_s):
            if self._world.api_db.read(sagas.find_active, row.uuid) is None:
                self._attempt(row.uuid, self._delete, context.admin(), cell, row)

    def _delete(
        self,
        world: worlds.World,
        ctxt: context.RequestContext,
        cell: deployment.Cell,
        row: rows.Row,
    ) -> None:
        """Delete a server, unless its state was reset or a host has deleted it."""
        if not cell.db.read(searches.is_still, row):
            return
        if row.host is None:
            LOG.warning('Finishing the interrupted deletion of server %s', row.uuid)
        else:
            LOG.warning('Deleting server %s without host %s, which is down', row.uuid, row.host)
        refused = self._refused.ending(cell.db.write, row, read=cell.db.read, host=world.conf.host)
        with refused:
            disposal.finish(world, ctxt, cell, row)

    def _count(self, cell: deployment.Cell) -> None:
        """Correct which servers of the cell count in quotas.

        Read servers that have changed since the last audit, but not in the last `audit_idle_s`
        seconds, because the API writes to the cell first and to the mapping afterwards.
        """
        until = runtime.naive_now() - datetime.timedelta(seconds=self._options.audit_idle_s)
        since, last = self._seen.get(cell.uuid), 0
        while found := cell.db.read(changed_instances.between, since, until, after_id=last):
            last = found[-1].id
            for stays in (False, True):
                uuids = [row.uuid for row in found if bool(row.stays) is stays]
                self._mark(cell, uuids, stays=stays)
        self._seen[cell.uuid] = until

    def _mark(self, cell: deployment.Cell, uuids: list[str], *, stays: bool) -> None:
        if not uuids:
            return
        mended = self._world.api_db.write(
            instance_mappings.queue_for_delete, cell.id, uuids, not stays
        )
        if mended:
            what = (
                'existing servers that did not count' if stays else 'deleted servers that counted'
            )
            LOG.warning('Corrected the quota usage of cell %s: %s %s', cell.name, mended, what)


def _withdraw(world: worlds.World, ctxt: context.RequestContext, request: rows.Row) -> None:
    """Clean up again after a withdrawn build. Delete its request if no claim can follow.

    A scheduler may have been called shortly before the withdrawal. It may receive the message at
    the end of the call's timeout, and then needs time for the claim.
    """
    if disposal.withdraw(world, ctxt, request):
        age_s = interface.LONG + world.conf.conductor.build_lease_s
        world.api_db.write(build_requests.forget_old, request.instance_uuid, request.epoch, age_s)


def _left(connection: sa.Connection, idle_s: float, down_time_s: float) -> list[rows.Row]:
    """Return the servers without progress that are being deleted, and whose hosts are down."""
    found = [row for row in _abandoned(connection, idle_s) if row.host and not row.hidden]
    down = {
        host
        for host in {row.host for row in found}
        if services.is_lost(connection, host, down_time_s)
    }
    return [row for row in found if row.host in down]


def _abandoned(connection: sa.Connection, idle_s: float) -> Sequence[rows.Row]:
    """Return the servers that are being deleted and have not changed for `idle_s` seconds."""
    before = runtime.naive_now() - datetime.timedelta(seconds=idle_s)
    return rows.every(
        connection,
        instances.TABLE,
        instances.IS_IDLE,
        order_by=instances.TABLE.c.id,
        given={'idle_since': before},
        deleted=False,
        task_state=str(states.TaskState.DELETING),
    )
