"""Reclaim: delete soft-deleted servers after reclaim_instance_interval.

Source: [DEFAULT]reclaim_instance_interval; the API soft-deletes and restores.
"""

from collections.abc import Callable
from collections.abc import Sequence
import datetime
import typing

from oslo_config import cfg
from oslo_log import log
import sqlalchemy as sa

from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite import states
from nova_lite.db import rows
from nova_lite.db.cell import actions
from nova_lite.db.cell import instances
from nova_lite.objects import instance as instance_objects
from nova_lite.rpc.methods import compute as compute_rpc

LOG = log.getLogger(__name__)
_DELETED_BEFORE = instances.TABLE.c.deleted_at <= sa.bindparam('before')


class Reclaim:
    """The periodic search of one cell. compute: a ComputeAPI client onto its bus."""

    def __init__(
        self,
        conf: cfg.ConfigOpts,
        write: Callable[..., typing.Any],
        read: Callable[..., typing.Any],
        *,
        compute: compute_rpc.ComputeAPI,
    ) -> None:
        self._conf, self._compute = conf, compute
        self._write, self._read = write, read

    def run(self) -> None:
        """Request the deletion of servers that are due."""
        if not self._conf.reclaim_instance_interval:
            return
        kept = datetime.timedelta(seconds=self._conf.reclaim_instance_interval)
        for row in self._read(_due, runtime.naive_now() - kept):
            self._delete(row)

    def _delete(self, row: rows.Row) -> None:
        ctxt = context.admin()
        try:
            self._write(_begin, ctxt, row.uuid)
        except exception.StateChanged as error:
            LOG.info('Not reclaiming server %s: %s', row.uuid, error)
            return
        LOG.info('Reclaiming soft-deleted server %s after reclaim_instance_interval', row.uuid)
        if row.host is None:
            return  # the super-conductor deletes the record
        self._compute.delete_instance(
            ctxt, host=row.host, instance=instance_objects.Instance.for_deletion(row)
        )


def _due(connection: sa.Connection, before: datetime.datetime) -> Sequence[rows.Row]:
    return rows.every(
        connection,
        instances.TABLE,
        _DELETED_BEFORE,
        order_by=instances.TABLE.c.id,
        given={'before': before},
        vm_state=str(states.VmState.SOFT_DELETED),
        task_state=None,
        deleted=False,
    )


def _begin(connection: sa.Connection, ctxt: context.RequestContext, uuid: str) -> None:
    instances.update(
        connection,
        uuid,
        {'task_state': str(states.TaskState.DELETING)},
        expect_task=(None,),
        expect_vm=(str(states.VmState.SOFT_DELETED),),
    )
    actions.start(connection, ctxt, uuid, 'delete')
