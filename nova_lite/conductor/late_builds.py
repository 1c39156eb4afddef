"""Late builds: set servers to ERROR whose builds take longer than instance_build_timeout.

The host keeps the record, and cleans up as after each failed build (compute.resume). A build that
ends on its host later than that finds the changed record, and removes its guest.
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
from nova_lite.conductor import build_reports
from nova_lite.db import rows
from nova_lite.db.cell import instances
from nova_lite.states import transitions

LOG = log.getLogger(__name__)
_CREATED_BEFORE = instances.TABLE.c.created_at <= sa.bindparam('before')


class LateBuilds:
    """The periodic search of one cell."""

    def __init__(
        self,
        conf: cfg.ConfigOpts,
        write: Callable[..., typing.Any],
        read: Callable[..., typing.Any],
    ) -> None:
        self._conf, self._write, self._read = conf, write, read

    def run(self) -> None:
        """End the builds on hosts that take too long."""
        timeout_s = self._conf.instance_build_timeout
        if not timeout_s:
            return
        before = runtime.naive_now() - datetime.timedelta(seconds=timeout_s)
        for row in self._read(_late, before):
            reason = f'it took longer than instance_build_timeout ({timeout_s} s)'
            error = exception.BuildAborted(instance_uuid=row.uuid, reason=reason)
            LOG.warning('%s', error.message)
            self._write(
                build_reports.fail,
                context.RequestContext.from_wire(row.build['context']),
                row.host,
                row.uuid,
                failure={'error': error.message, 'details': None},
                keep_host=True,
                counts=False,
            )


def _late(connection: sa.Connection, before: datetime.datetime) -> Sequence[rows.Row]:
    found = rows.every(
        connection,
        instances.TABLE,
        _CREATED_BEFORE,
        order_by=instances.TABLE.c.id,
        given={'before': before},
        vm_state=str(states.VmState.BUILDING),
        task_state=[str(task) for task in transitions.BUILD.tasks],
        deleted=False,
    )
    return [row for row in found if row.host is not None and row.build]
