"""volume_attachment: the attachments of volumes that servers have on record.

`refresh` replaces an attachment, so that the volume service gives another connection.
"""

from collections.abc import Mapping
import json
import typing

import sqlalchemy as sa

from nova_lite import cells
from nova_lite import context
from nova_lite import exception
from nova_lite import states
from nova_lite.clients import auth
from nova_lite.clients import volume
from nova_lite.db import rows
from nova_lite.db.cell import actions
from nova_lite.db.cell import children
from nova_lite.db.cell import compute_nodes
from nova_lite.db.cell import devices
from nova_lite.db.cell import instances
from nova_lite.manage import command
from nova_lite.manage import image_property
from nova_lite.terminal import text_tables
from nova_lite.virt.sim import facts

ACTION = 'refresh_volume_attachment'
MISSING = 'Instance {0.uuid} is not attached to volume {0.volume_id}.'
INTERRUPTED = 'The command was stopped. Repeat it.'
REASON = 'Refreshing connection_info for BDM {uuid}'
INSTANCE = command.option('uuid', metavar='INSTANCE_UUID', help='uuid of the server')
VOLUME = command.option('volume_id', metavar='VOLUME_ID', help='uuid of the volume')
# Columns of a block device in the order in which `show` prints them.
SHOWN = (
    'uuid', 'instance_uuid', 'volume_id', 'attachment_id', 'source_type', 'destination_type',
    'guest_format', 'device_type', 'disk_bus', 'device_name', 'boot_index',
    'delete_on_termination', 'snapshot_id', 'image_id', 'volume_size', 'volume_type', 'tag',
    'connection_info',
)  # fmt: skip
NO_FILE, NOT_READ, NO_SERVER, WRONG_STATE, NOT_ATTACHED, WRONG_HOST = range(2, 8)


class NotStopped(exception.Invalid):
    msg = 'Server %(uuid)s is %(state)s. It must be stopped and unlocked.'


class Plan(typing.NamedTuple):
    """An attachment to replace, of a server that is locked for that."""

    client: volume.Volume
    ctxt: context.RequestContext
    cell: cells.Cell
    uuid: str
    device: rows.Row


@command.verb(
    'volume_attachment',
    command.option(
        '--host',
        metavar='HOST',
        help='the compute host (default: [DEFAULT]host of the configuration)',
    ),
)
def get_connector(deployment: command.Deployment, args: command.Args) -> int:
    """Print the connector by which the volume service exports volumes to a host."""
    host = args.host or deployment.conf.host
    try:
        cell = deployment.cells.of_host(host)
        node = cell.db.read(compute_nodes.first_of_host, host)
    except (exception.HostMappingNotFound, exception.ComputeHostNotFound) as error:
        print(error)
        return 1
    connector = facts.volume_connector(
        node.hypervisor_hostname, (node.cpu_info or {}).get('arch', 'x86_64')
    )
    deployment.document = connector
    _print(connector)
    return 0


@command.verb(
    'volume_attachment',
    INSTANCE,
    VOLUME,
    command.flag('--connection_info', 'print only the connection of the volume'),
)
def show(deployment: command.Deployment, args: command.Args) -> int:
    """Print the block device of a volume that a server has."""
    found = image_property.find(deployment, args.uuid)
    if found is None:
        return 2
    cell, _row = found
    device = cell.db.read(devices.find, args.uuid, args.volume_id)
    if device is None:
        print(MISSING.format(args))
        return 3
    shown = {name: getattr(device, name) for name in SHOWN}
    if args.connection_info:
        shown = shown['connection_info'] or {}
    deployment.document = shown
    _print(shown)
    return 0


@command.verb(
    'volume_attachment',
    INSTANCE,
    VOLUME,
    command.option(
        'connector_path',
        metavar='CONNECTOR_PATH',
        help='file that get_connector --json has printed',
    ),
)
def refresh(deployment: command.Deployment, args: command.Args) -> int:
    """Replace the attachment of a volume to a stopped server by another one to the same host."""
    try:
        with open(args.connector_path) as file:
            connector = json.load(file)
    except (OSError, ValueError) as error:
        print(f'Cannot read connector file {args.connector_path}: {error}')
        return NO_FILE if isinstance(error, FileNotFoundError) else NOT_READ
    found = image_property.find(deployment, args.uuid)
    if found is None:
        return NO_SERVER
    cell, server = found
    device = cell.db.read(devices.find, args.uuid, args.volume_id)
    if device is None:
        print(MISSING.format(args))
        return NOT_ATTACHED
    if not isinstance(connector, dict) or connector.get('host') != server.node:
        print(f'The connector is not that of node {server.node} of host {server.host}.')
        return WRONG_HOST
    ctxt = context.RequestContext(
        user_id=server.user_id, project_id=server.project_id, overwrite=False
    )
    try:
        cell.db.write(_begin, ctxt, args.uuid, device.uuid)
    except (NotStopped, exception.InstanceSealed) as error:
        print(error)
        return WRONG_STATE
    plan = Plan(volume.Volume(auth.Credentials(deployment.conf)), ctxt, cell, args.uuid, device)
    failure: str | None = INTERRUPTED
    try:
        _replace(plan, connector)
        failure = None
    except Exception as error:
        failure = str(error)
        raise
    finally:
        cell.db.write(_end, ctxt, args.uuid, failure)
    return 0


def _begin(
    connection: sa.Connection, ctxt: context.RequestContext, uuid: str, device_uuid: str
) -> None:
    """Lock a server, and record the action. Raise NotStopped unless it is stopped and unlocked."""
    row = instances.lock(connection, uuid)
    if row.vm_state != states.VmState.STOPPED or row.task_state is not None or row.locked:
        locked = f'locked ({row.locked_reason or "without a reason"})' if row.locked else None
        state = row.task_state or locked or row.vm_state
        raise NotStopped(uuid=uuid, state=state)
    reason = REASON.format(uuid=device_uuid)
    lock = {'locked': True, 'locked_by': 'admin', 'locked_reason': reason}
    instances.update(connection, uuid, lock)
    actions.start(connection, ctxt, uuid, ACTION)
    actions.start_event(connection, uuid, ctxt.request_id, ACTION)


def _replace(plan: Plan, connector: Mapping[str, typing.Any]) -> None:
    """Create another attachment, record it, and delete the former one.

    An attachment that an interrupted call has left is completed if it is recorded, and otherwise
    deleted: Cinder creates no further one while it is not completed.
    """
    client, device = plan.client, plan.device
    _delete_others(plan, device.attachment_id)
    for each in client.list_attachments(plan.ctxt, plan.uuid):
        if each['id'] == device.attachment_id and each['status'] == 'attaching':
            client.complete_attachment(plan.ctxt, each['id'])
    made = client.create_attachment(
        plan.ctxt,
        device.volume_id,
        plan.uuid,
        connector=dict(connector),
        mountpoint=device.device_name,
    )
    try:
        plan.cell.db.write(_record, device, made)
    except exception.StateChanged:
        client.delete_attachment(plan.ctxt, made['id'])
        raise
    client.complete_attachment(plan.ctxt, made['id'])
    _delete_others(plan, made['id'])


def _delete_others(plan: Plan, kept: str | None) -> None:
    """Delete the attachments of the volume to the server except one."""
    for each in plan.client.list_attachments(plan.ctxt, plan.uuid):
        if each['volume_id'] == plan.device.volume_id and each['id'] != kept:
            plan.client.delete_attachment(plan.ctxt, each['id'])


def _record(connection: sa.Connection, device: rows.Row, made: Mapping[str, typing.Any]) -> None:
    """Record an attachment. Raise StateChanged if a request has changed the former one."""
    columns = {'attachment_id': made['id'], 'connection_info': made['connection_info']}
    if not children.change_attachment(connection, device.uuid, device.attachment_id, columns):
        raise exception.StateChanged(
            what='BlockDevice', key=device.uuid, detail='its attachment has changed'
        )


def _end(
    connection: sa.Connection, ctxt: context.RequestContext, uuid: str, error: str | None
) -> None:
    """Unlock a server, and record the end of the action."""
    unlock = {'locked': False, 'locked_by': None, 'locked_reason': None}
    instances.update(connection, uuid, unlock)
    actions.finish_event(connection, uuid, ctxt.request_id, ACTION, error=error)


def _print(values: Mapping[str, typing.Any]) -> None:
    """Print values as a table of two columns."""
    lines = [
        (name, json.dumps(value) if isinstance(value, dict) else value)
        for name, value in values.items()
    ]
    text_tables.show(['Property', 'Value'], lines)
