"""Transactions of a cell: reports of hosts about deletions, of one server or of several.

The reports of a transaction share its statements. Each may be repeated, and is refused where the
record is not as the host believes it to be: then none of them is recorded.
"""

from collections.abc import Sequence
import typing

import sqlalchemy as sa

from nova_lite import context
from nova_lite import exception
from nova_lite.clients import release
from nova_lite.db import rows
from nova_lite.db.cell import action_lists
from nova_lite.db.cell import actions
from nova_lite.db.cell import children
from nova_lite.db.cell import deletions
from nova_lite.db.cell import instances
from nova_lite.db.cell import joint_events
from nova_lite.db.cell import shares
from nova_lite.db.cell import user_ports
from nova_lite.dialects import execute
from nova_lite.objects import block_device
from nova_lite.rpc.methods import conductor as methods
from nova_lite.states import transitions

_TABLE = instances.TABLE
# The columns of servers that `end` and `start` use.
_ENDING = sa.select(_TABLE.c.uuid, _TABLE.c.host, _TABLE.c.task_state).where(
    _TABLE.c.uuid.in_(sa.bindparam('uuids')), _TABLE.c.deleted.is_(False)
)
_STARTING = _ENDING.add_columns(
    _TABLE.c.network_info,
    _TABLE.c.build,
    _TABLE.c.system_metadata,
    action_lists.IS_COPYING,
    shares.HAS_SHARES,
)


class Report(typing.NamedTuple):
    """A report about a server. event: name; host: None if no host deletes the server"""

    ctxt: context.RequestContext
    host: str | None
    instance_uuid: str
    event: str


def start(connection: sa.Connection, reports: Sequence[Report]) -> list[methods.Json]:
    """Record that hosts begin to remove servers. Return the devices, ports and images of each.

    The events of all reports have the same name.
    """
    uuids = sorted({report.instance_uuid for report in reports})
    found = _existing(connection, uuids, _STARTING)
    for report in reports:
        _require_deleting(found.get(report.instance_uuid), report)
    joint_events.start(connection, _events(reports), reports[0].event)
    devices = children.block_devices(connection, uuids)
    sharing = [uuid for uuid in uuids if found[uuid].has_shares]
    shared = shares.of(connection, sharing) if sharing else {}
    return [
        {
            'block_devices': [block_device.BlockDevice.of(row) for row in devices.get(uuid, ())],
            'kept_ports': sorted(user_ports.of(found[uuid])),
            'images': release.images_of(found[uuid], found[uuid].is_copying)._asdict(),
            'shares': shares.plain(shared.get(uuid, ())),
        }
        for uuid in (report.instance_uuid for report in reports)
    ]


def _existing(
    connection: sa.Connection, uuids: Sequence[str], query: rows.Select
) -> dict[str, rows.Row]:
    """Return {uuid: row} of the servers that are not deleted, including hidden copies."""
    found = execute.every(connection, query, {'uuids': execute.filled(uuids)})
    return {row.uuid: row for row in found}


def _require_deleting(row: rows.Row | None, report: Report) -> None:
    """Raise InstanceNotFound, or StateChanged if a server is not being deleted on the host."""
    if row is None:
        raise exception.InstanceNotFound(instance_id=report.instance_uuid)
    if row.host not in (report.host, None) or row.task_state not in transitions.DELETE.tasks:
        raise exception.StateChanged(
            what='Instance',
            key=row.uuid,
            detail=f'found task {row.task_state} on host {row.host}',
        )


def end(connection: sa.Connection, reports: Sequence[Report]) -> list[None]:
    """Delete the records of servers after their cleanup.

    The events of all reports have the same name.
    """
    uuids = sorted({report.instance_uuid for report in reports})
    found = _existing(connection, uuids, _ENDING)
    # Records that do not exist were deleted by former reports.
    ending = [report for report in reports if report.instance_uuid in found]
    for report in ending:
        _require_begun(connection, found[report.instance_uuid], report)
    if ending:
        gone = sorted({report.instance_uuid for report in ending})
        deletions.end(connection, gone)
        event = ending[0].event
        error = f'Interrupted by {event}.'
        joint_events.finish(connection, _events(ending), event, error=error)
    return [None] * len(reports)


def _require_begun(connection: sa.Connection, row: rows.Row, report: Report) -> None:
    """Raise StateChanged unless the host, or no host, was asked to delete a server.

    An administrator may have reset its state since. Its guest is gone, so the deletion ends.
    """
    instances.require_host(row, report.host, None)
    if report.host is None or row.task_state in transitions.DELETE.tasks:
        return
    if not actions.has_begun(
        connection, row.uuid, report.ctxt.request_id, report.event, report.host
    ):
        raise exception.StateChanged(
            what='Instance',
            key=row.uuid,
            detail=f'found task {row.task_state}: its deletion has not begun',
        )


def _events(reports: Sequence[Report]) -> list[joint_events.Of]:
    return [
        joint_events.Of(report.instance_uuid, report.ctxt.request_id, report.host)
        for report in reports
    ]
