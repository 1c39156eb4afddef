"""Counters of what servers have read from their volumes and written to them since the attachment.

Counters of a guest begin at zero with each boot of it. The record of the block device has the sum
of former counters and the present ones, so the same report may come twice, or after a newer one.
"""

from collections.abc import Iterable
from collections.abc import Mapping
import typing

import sqlalchemy as sa

from nova_lite import runtime
from nova_lite.db import notes
from nova_lite.db import rows
from nova_lite.db.cell import children
from nova_lite.db.cell import instances

COUNTERS = ('reads', 'read_bytes', 'writes', 'write_bytes')
# {'ended': {counter: sum of former counters}, 'current': {counter: value},
# 'since' and 'at': those of the last report}
Counted: typing.TypeAlias = dict[str, typing.Any]
NOTHING: Counted = {'ended': dict.fromkeys(COUNTERS, 0), 'current': {}, 'since': 0.0, 'at': 0.0}


def report(connection: sa.Connection, host: str, usage: Iterable[Mapping[str, typing.Any]]) -> None:
    """Record the counters of volumes of servers that are on a host.

    usage: [{'instance_uuid', 'volume_id', COUNTERS, and 'since' and 'at': the times of their begin
        and of the report, in seconds by the clock of the host}, ...]
    """
    reports = {(each['instance_uuid'], each['volume_id']): each for each in usage}
    uuids = {uuid for uuid, _volume_id in reports}
    found = rows.every(connection, instances.TABLE, uuid=uuids, host=host, hidden=False)
    servers = {row.uuid: row for row in found}
    for devices in children.block_devices(connection, servers).values():
        for device in devices:
            each = reports.get((device.instance_uuid, device.volume_id))
            if each is not None:
                _record(connection, host, servers[device.instance_uuid], device=device, each=each)


def _record(
    connection: sa.Connection,
    host: str,
    server: rows.Row,
    *,
    device: rows.Row,
    each: Mapping[str, typing.Any],
) -> None:
    before = device.usage or NOTHING
    if _is_late(before, each):
        return
    counted = _after(before, each)
    children.update_block_device(connection, device.uuid, {'usage': counted})
    totals = {name: counted['ended'][name] + counted['current'][name] for name in COUNTERS}
    notes.add(
        connection,
        'volume.usage',
        host=host,
        values={
            'volume_id': device.volume_id,
            'instance_uuid': server.uuid,
            'project_id': server.project_id,
            'user_id': server.user_id,
            'availability_zone': server.availability_zone,
            'last_refreshed': runtime.naive_now(),
            **totals,
        },
    )


def _is_late(before: Counted, each: Mapping[str, typing.Any]) -> bool:
    """Return whether a newer report of these counters, or of those that followed, is recorded.

    The clock of a host to which the guest has migrated may be a little behind. Then the next
    report contains what this one has.
    """
    return bool(each['since'] <= before['since'] and each['at'] < before['at'])


def _after(before: Counted, each: Mapping[str, typing.Any]) -> Counted:
    """Return what has been counted after a report."""
    ended, last = before['ended'], before['current']
    current = {name: each[name] for name in COUNTERS}
    # The clock of a host to which the guest has migrated may differ a little.
    if each['since'] >= before['at'] or any(current[name] < last.get(name, 0) for name in COUNTERS):
        ended = {name: ended[name] + last.get(name, 0) for name in COUNTERS}
    return {'ended': ended, 'current': current, 'since': each['since'], 'at': each['at']}
