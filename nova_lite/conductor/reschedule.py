"""Reschedule: send a build that a host refused to the next alternate of the cell.

It needs the cell's database, its bus and placement, but not the API database. Between two
hosts the record has no host. A conductor changes such a record only if the time of its last change
is still the one that this conductor has written.
Source: reference/nova/create-server 5.
"""

from collections.abc import Callable
import json
import typing

from oslo_log import log
import sqlalchemy as sa

from nova_lite import context
from nova_lite import exception
from nova_lite.clients import offers
from nova_lite.clients import placement as placement_client
from nova_lite.conductor import build_reports
from nova_lite.db import rows
from nova_lite.db.cell import children
from nova_lite.db.cell import instances
from nova_lite.lifecycle import requests
from nova_lite.objects import block_device
from nova_lite.objects import selection as selection_objects
from nova_lite.rpc.methods import compute as compute_rpc
from nova_lite.rpc.methods import conductor as methods

LOG = log.getLogger(__name__)


class Reschedule:
    """Finds another host for builds.

    write, read: transactions on the cell's database
    counts: whether the failed builds of hosts are counted
    """

    def __init__(
        self,
        write: Callable[..., typing.Any],
        read: Callable[..., typing.Any],
        *,
        compute: compute_rpc.ComputeAPI,
        placement: placement_client.Placement,
        counts: bool,
    ) -> None:
        self._write, self._read, self._counts = write, read, counts
        self._compute, self._placement = compute, placement

    def leave(
        self, ctxt: context.RequestContext, host: str, uuid: str, failure: methods.Failure
    ) -> None:
        """Try the alternates after the build on `host` has failed with `failure`."""
        row = self._write(
            build_reports.leave_host, ctxt, host, uuid, failure=failure, counts=self._counts
        )
        if row is not None:
            self._place(ctxt, row, exception.BuildRescheduled(failure['error']))

    def take_up(self, row: rows.Row) -> None:
        """Continue a build without a host and without a conductor."""
        if not row.build:
            LOG.warning(
                'Server %s has no host, and the arguments of its build are missing', row.uuid
            )
        ctxt = _context_of(row)
        reason = exception.BuildRescheduled(
            instance_uuid=row.uuid, reason='the search for another host was interrupted'
        )
        try:
            row = self._write(_take_up, ctxt, row)
        except exception.StateChanged as changed:
            LOG.debug('Another conductor reschedules the build: %s', changed)
            return
        self._place(ctxt, row, reason)

    def _place(
        self, ctxt: context.RequestContext, row: rows.Row, reason: exception.NovaLiteError
    ) -> None:
        """Claim the first alternate with free resources, and send the build there.

        The server's allocations are read before its record is acquired, and replaced only if they
        are still the same. So a conductor that was frozen in between cannot change the claim of
        another conductor that has acquired the record since.
        """
        held = self._placement.holding(ctxt, row.uuid)
        alternates = _alternates_of(row)
        try:
            row = self._write(_take_up, ctxt, row)
            for index, alternate in enumerate(alternates):
                wanted = json.loads(alternate.allocation_request)  # type: ignore[arg-type]  # it has one
                if self._claim(ctxt, row, wanted, held):
                    row = self._write(
                        build_reports.place,
                        ctxt,
                        row,
                        selection=alternate,
                        alternates=alternates[index + 1 :],
                    )
                    LOG.info('Build of server %s was rescheduled to host %s', row.uuid, row.host)
                    self._send(ctxt, row, alternate)
                    return
            if held:
                consumer = placement_client.Consumer(row.uuid, row.project_id, row.user_id)
                self._placement.replace(ctxt, consumer, {}, held.generation)
            self._write(build_reports.give_up, ctxt, row, error=_verdict(row, reason))
        except (exception.StateChanged, exception.AllocationConflict) as changed:
            self._lost(ctxt, row.uuid, changed)

    def _claim(
        self,
        ctxt: context.RequestContext,
        row: rows.Row,
        wanted: offers.AllocationRequest,
        held: placement_client.Holding,
    ) -> bool:
        """Replace the allocations `held` by those of an alternate.

        Return False if not available.
        """
        consumer = placement_client.Consumer(row.uuid, row.project_id, row.user_id)
        if held:
            return self._placement.replace(ctxt, consumer, wanted['allocations'], held.generation)
        return self._placement.claim(ctxt, consumer, wanted, new=True)

    def _send(
        self, ctxt: context.RequestContext, row: rows.Row, selection: selection_objects.Selection
    ) -> None:
        devices = self._read(children.block_devices, [row.uuid]).get(row.uuid, ())
        devices = [block_device.BlockDevice.of(device) for device in devices]
        requests.send(self._compute, [requests.Order(ctxt, row, devices, selection)])

    def _lost(self, ctxt: context.RequestContext, uuid: str, changed: Exception) -> None:
        """Log that another writer changed the record.

        If the server was deleted, its claim is deleted as well.
        """
        LOG.info('Not rescheduling the build of server %s: %s', uuid, changed)
        if instances.is_gone(self._read(instances.find, uuid)):
            self._placement.delete_allocations(ctxt, uuid, force=True)


def _take_up(
    connection: sa.Connection, ctxt: context.RequestContext, row: rows.Row
) -> rows.Row | None:
    return build_reports.take_up(connection, row)


def _context_of(row: rows.Row) -> context.RequestContext:
    if row.build:
        return context.RequestContext.from_wire(row.build['context'])
    return context.admin()


def _alternates_of(row: rows.Row) -> list[selection_objects.Selection]:
    found = (row.build or {}).get('alternates', ())
    return [selection_objects.Selection(**alternate) for alternate in found]


def _verdict(row: rows.Row, reason: exception.NovaLiteError) -> exception.NovaLiteError:
    """Return the error for the server's fault: that of the build if it may not be retried."""
    if row.build and not row.build.get('options', {}).get('retry', True):
        return reason
    return exception.MaxRetriesExceeded(instance_uuid=row.uuid)
