"""Bury servers that could not be scheduled: records in cell0, in error, with a fault.

Source: reference/nova/create-server 6.
"""

from collections.abc import Callable
from collections.abc import Iterable
import traceback
import typing

from oslo_log import log
import sqlalchemy as sa

from nova_lite import context
from nova_lite import exception
from nova_lite.db import bounds
from nova_lite.db import rows
from nova_lite.db.api import build_requests
from nova_lite.db.api import instance_mappings
from nova_lite.db.cell import actions
from nova_lite.db.cell import attempts
from nova_lite.db.cell import children
from nova_lite.db.cell import epochs
from nova_lite.db.cell import instances
from nova_lite.lifecycle import requests
from nova_lite.moves import world as worlds

LOG = log.getLogger(__name__)

E = typing.TypeVar('E', bound=Exception)
EVENT = 'conductor_schedule_and_build_instances'
STATES = {'vm_state': 'error', 'task_state': None, 'host': None, 'node': None}


def bury(
    world: worlds.World,
    ctxt: context.RequestContext,
    accepted: Iterable[rows.Row],
    error: exception.NovaLiteError,
) -> None:
    """Put the servers of `accepted` into cell0 because of `error`."""
    _bury(world, ctxt, accepted, error, _create)


def bury_remains(
    world: worlds.World,
    ctxt: context.RequestContext,
    accepted: Iterable[rows.Row],
    error: Exception,
) -> None:
    """Put servers into cell0 although their values may not fit the database.

    Values that do not fit their columns are cut or omitted. Devices are not recorded, so
    that the volumes reserved for them are released; no volume is deleted.
    """
    for request in accepted:
        for device in request.block_devices:
            if device['attachment_id']:
                world.volume.delete_attachment(ctxt, device['attachment_id'])
    _bury(world, ctxt, accepted, error, _create_remains)


def _bury(
    world: worlds.World,
    ctxt: context.RequestContext,
    accepted: Iterable[rows.Row],
    error: E,
    create: Callable[[sa.Connection, context.RequestContext, rows.Row, E, str], None],
) -> None:
    cell0 = world.cells.cell0
    for request in accepted:
        uuid = request.instance_uuid
        LOG.warning('Server %s cannot be built: %s', uuid, error)
        try:
            cell0.db.write(create, ctxt, request, error, world.cells.conf.host)
            world.api_db.write(_map, uuid, request.epoch, cell0.id)
        except exception.StateChanged:
            # The server was deleted, or another super-conductor has buried it and set the mapping.
            mapping = world.api_db.read(instance_mappings.find, uuid)
            if mapping is None or mapping.cell_id != cell0.id:
                cell0.db.write(attempts.take_back, uuid, request.epoch)
        except exception.StaleEpoch as stale:
            LOG.info('Another super-conductor took over server %s: %s', uuid, stale)


def _create(
    connection: sa.Connection,
    ctxt: context.RequestContext,
    request: rows.Row,
    error: exception.NovaLiteError,
    host: str,
) -> None:
    record = _record_of(request)
    fault = _fault(error, error.message)
    if _record(connection, ctxt, request, record, fault=fault, host=host):
        children.create_block_devices(connection, request.block_devices)
        children.create_tags(connection, request.instance_uuid, request.tags)


def _create_remains(
    connection: sa.Connection,
    ctxt: context.RequestContext,
    request: rows.Row,
    error: Exception,
    host: str,
) -> None:
    record = _record_of(request)
    for name in bounds.faults(instances.TABLE, record):
        LOG.warning(
            'Property %s of server %s does not fit its column; recording a valid value instead',
            name,
            request.instance_uuid,
        )
        record[name] = bounds.cut(instances.TABLE, name, record[name])
    fault = _fault(error, f'{type(error).__name__}: the server cannot be built.')
    _record(connection, ctxt, request, record, fault=fault, host=host)


def _record_of(request: rows.Row) -> dict[str, typing.Any]:
    """Return the columns of a server without a host, which would name its root device."""
    record = requests.record_of(request, **STATES)
    device = (record.get('image_properties') or {}).get('root_device_name')
    return {**record, 'root_device_name': device}


def _fault(error: Exception, message: str) -> dict[str, typing.Any]:
    details = ''.join(traceback.format_exception(error))
    return {'message': message, 'details': details}


def _record(
    connection: sa.Connection,
    ctxt: context.RequestContext,
    request: rows.Row,
    record: dict[str, typing.Any],
    *,
    fault: dict[str, typing.Any],
    host: str,
) -> bool:
    """Write a record with its fault and action. Return False if the record exists already.

    fault: arguments of `add_fault`; host: name of the super-conductor's host
    """
    uuid = request.instance_uuid
    epochs.hold(connection, uuid, request.epoch)
    if instances.find(connection, uuid) is not None:
        return False
    instances.create(connection, [record])
    instances.add_fault(connection, uuid, **fault)
    actions.start(connection, ctxt, uuid, 'create')
    actions.record_event(
        connection, uuid, ctxt.request_id, EVENT, host=host, error=fault['message']
    )
    return True


def _map(connection: sa.Connection, uuid: str, epoch: int, cell0_id: int) -> None:
    build_requests.drop(connection, {uuid: epoch})
    instance_mappings.place(connection, [uuid], cell0_id)
