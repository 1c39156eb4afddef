"""Effects of a change of a service: the host's trait, the schedulers' caches.

Source: reference/nova/cells-and-rpc 3, reference/nova/scheduling 4.
"""

from oslo_log import log
import oslo_messaging

from nova_lite import exception
from nova_lite.db.api import aggregates
from nova_lite.db.api import host_mappings
from nova_lite.db.api import stamps
from nova_lite.db.cell import compute_nodes
from nova_lite.db.cell import evacuations
from nova_lite.db.cell import instances
from nova_lite.db.cell import migrations
from nova_lite.db.cell import services
from nova_lite.rpc import queues
from nova_lite.rpcapi import compute

LOG = log.getLogger(__name__)

ENABLED = {'disabled': False, 'disabled_reason': None}


class HasServers(exception.Conflict):
    msg = (
        'Unable to delete compute service that is hosting instances. Migrate or delete the '
        'instances first.'
    )


class HasMigrations(exception.Conflict):
    msg = (
        'Unable to delete compute service that has in-progress migrations. Complete the '
        'migrations or delete the instances first.'
    )


class HasEvacuated(exception.Invalid):
    msg = (
        'Host %(host)s cannot be up before it has removed the servers that were evacuated '
        'from it. Start its compute service first.'
    )


def apply(req, cell, row, values):
    """Change columns of a service, and let the host and the schedulers know.

    Raises HasEvacuated for a host that is not to be up yet.
    """
    cell.db.write(_update, row, values)
    req.app.api_db.write(stamps.bump, stamps.HOSTS)
    if row.binary == services.COMPUTE and 'disabled' in values:
        _set_trait(req, cell, row.host)


def _update(connection, row, values):
    if values.get('forced_down') is False and row.binary == services.COMPUTE:
        # An evacuation begins under the same lock, and then only from a host that is down.
        services.lock(connection, row.host)
        if evacuations.not_cleaned(connection, [row.host]):
            raise HasEvacuated(host=row.host)
    services.update(connection, row.uuid, values)


def _set_trait(req, cell, host):
    """Request the compute to set or remove COMPUTE_STATUS_DISABLED.

    A host that is down does so itself when it is back.
    """
    row = cell.db.read(services.find, host)
    if not services.is_up(row, req.conf.service_down_time):
        LOG.warning('Compute %s is down and will update its status trait when it starts', host)
        return
    try:
        req.app.compute(cell).set_host_enabled(req.ctxt, host=host, enabled=not row.disabled)
        # Once more: placement may have been asked before it knew of the trait.
        req.app.api_db.write(stamps.bump, stamps.HOSTS)
    except exception.NovaLiteError as error:
        LOG.warning('Compute %s did not update its status trait. It will retry: %s', host, error)


def remove(req, cell, row):
    """Delete a service. Raises HasServers, HasMigrations, or Conflict from placement."""
    if row.binary == services.COMPUTE:
        _remove_host(req, cell, row.host)
    cell.db.write(_destroy, row)
    if row.binary == services.COMPUTE and queues.is_real(cell.bus_url):
        _drop_queue(cell, compute.queue_of(row.host))


def _drop_queue(cell, name):
    """Delete the queue of a host that is none any more, unless a daemon still consumes it."""
    try:
        gone = queues.delete_unused(cell.bus, name)
    except oslo_messaging.MessageDeliveryFailure as error:
        LOG.warning('Cannot delete queue %s of cell %s: %s', name, cell.name, error)
        return
    if not gone:
        LOG.warning('A daemon still consumes queue %s of cell %s: stop it', name, cell.name)


def _remove_host(req, cell, host):
    servers, moves, nodes = cell.db.read(_held_by, host)
    if servers:
        raise HasServers()
    if moves:
        raise HasMigrations()
    for node in nodes:
        req.app.placement.providers.delete_tree(req.ctxt, node.uuid)
    req.app.api_db.write(_forget_host, host)


def _held_by(connection, host):
    return (
        instances.count_on(connection, [host]),
        migrations.in_progress(connection, host),
        compute_nodes.every(connection, host=host),
    )


def _forget_host(connection, host):
    aggregates.forget_host(connection, host)
    host_mappings.destroy(connection, host)
    stamps.bump(connection, stamps.HOSTS)


def _destroy(connection, row):
    if row.binary == services.COMPUTE:
        for node in compute_nodes.every(connection, host=row.host):
            compute_nodes.destroy(connection, node.uuid)
    services.destroy(connection, row.uuid)
