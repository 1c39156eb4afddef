"""Transactions of a cell: reports of hosts about block devices and shares of servers.

Every function takes a connection and the context first, and may be repeated.
"""

from collections.abc import Iterable
from collections.abc import Sequence

from oslo_log import log
import sqlalchemy as sa

from nova_lite import context
from nova_lite.db import rows
from nova_lite.db.cell import children
from nova_lite.db.cell import instances
from nova_lite.db.cell import reset_builds
from nova_lite.db.cell import shares
from nova_lite.db.cell import volume_usage
from nova_lite.rpc.methods import conductor as methods
from nova_lite.rpc.methods import conductor_usage
from nova_lite.states import transitions

LOG = log.getLogger(__name__)


def change_block_devices(
    connection: sa.Connection,
    ctxt: context.RequestContext,
    host: str,
    instance_uuid: str,
    block_devices: Sequence[methods.Json],
    gone: Iterable[str],
) -> bool:
    """Store changed block devices of a server and delete those `gone`. Return whether all were.

    Its host builds it, or reboots it and has attached its root disk again. A late message must not
    replace what was recorded after it was sent. The message is repeated until it is answered, and
    the state of the server may have been reset since.
    """
    row = instances.held(connection, instance_uuid)
    if row is None or row.host != host or not _may_change_devices(row):
        if row is not None and row.host == host and _are_known(connection, row, block_devices):
            return True
        LOG.info(
            'Host %s does not build or reboot server %s; keeping its devices', host, instance_uuid
        )
        return False
    done = [_change_device(connection, dict(each)) for each in block_devices]
    for device in gone:
        children.destroy_block_device(connection, device)
    return all(done)


def _change_device(connection: sa.Connection, values: methods.Json) -> bool:
    """Change a block device. Return False if it has another attachment than the host expects."""
    uuid = values['uuid']
    if methods.FORMER not in values:
        children.update_block_device(connection, uuid, values)
        return True
    known = {values.pop(methods.FORMER), values['attachment_id']}
    return any(children.change_attachment(connection, uuid, each, values) for each in known)


def _are_known(
    connection: sa.Connection, row: rows.Row, block_devices: Sequence[methods.Json]
) -> bool:
    """Return whether the record names the attachments of root disks that were attached again."""
    devices = children.block_devices(connection, [row.uuid]).get(row.uuid, ())
    known = {device.uuid: device.attachment_id for device in devices}
    return bool(block_devices) and all(
        methods.FORMER in each and known.get(each['uuid']) == each['attachment_id']
        for each in block_devices
    )


def _may_change_devices(row: rows.Row) -> bool:
    return reset_builds.is_building(row) or row.task_state in transitions.REBOOT_HARD.tasks


def count_volumes(
    connection: sa.Connection,
    ctxt: context.RequestContext,
    host: str,
    usage: Sequence[conductor_usage.VolumeUsage],
) -> None:
    """Store the counters of volumes of servers that are still on the host."""
    volume_usage.report(connection, host, usage)


def change_shares(
    connection: sa.Connection,
    ctxt: context.RequestContext,
    host: str,
    instance_uuid: str,
    statuses: dict[str, str],
) -> None:
    """Store the statuses of shares of a server that is still on the host."""
    row = instances.held(connection, instance_uuid)
    if row is None or row.host != host:
        LOG.info('Server %s is not on host %s; not changing its shares', instance_uuid, host)
        return
    shares.report(connection, instance_uuid, statuses)
