"""Bury servers that could not be scheduled: records in cell0, in error, with a fault.

Source: reference/create-server 6.
"""

from oslo_log import log

from nova_lite import exception
from nova_lite.conductor import requests
from nova_lite.db.api import build_requests
from nova_lite.db.api import instance_mappings
from nova_lite.db.cell import actions
from nova_lite.db.cell import attempts
from nova_lite.db.cell import children
from nova_lite.db.cell import epochs
from nova_lite.db.cell import instances

LOG = log.getLogger(__name__)

EVENT = 'conductor_schedule_and_build_instances'


def bury(world, ctxt, accepted, error):
    """Put the servers of `accepted` into cell0 because of `error`."""
    cell0 = world.cells.cell0
    for request in accepted:
        uuid = request.instance_uuid
        LOG.warning('Server %s cannot be built: %s', uuid, error)
        try:
            cell0.db.write(_create, ctxt, request, error)
            world.api_db.write(_map, uuid, request.epoch, cell0.id)
        except exception.StateChanged:
            # Deleted meanwhile, or buried by a twin that the mapping then names.
            mapping = world.api_db.read(instance_mappings.find, uuid)
            if mapping is None or mapping.cell_id != cell0.id:
                cell0.db.write(attempts.take_back, uuid, request.epoch)
        except exception.StaleEpoch as stale:
            LOG.info('Server %s is left to another: %s', uuid, stale)


def _create(connection, ctxt, request, error):
    uuid = request.instance_uuid
    epochs.hold(connection, uuid, request.epoch)
    if instances.find(connection, uuid) is not None:
        return
    instances.create(
        connection,
        [requests.record_of(request, vm_state='error', task_state=None, host=None, node=None)],
    )
    children.create_block_devices(connection, request.block_devices)
    children.create_tags(connection, uuid, request.tags)
    instances.add_fault(connection, uuid, code=500, message=error.message)
    actions.start(connection, ctxt, uuid, 'create')
    actions.record_event(connection, uuid, ctxt.request_id, EVENT, error=error.message)


def _map(connection, uuid, epoch, cell0_id):
    build_requests.drop(connection, uuid, epoch)
    instance_mappings.place(connection, uuid, cell0_id)
