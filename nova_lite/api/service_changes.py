"""Effects of a change of a service: the host's trait, the schedulers' caches.

Source: reference/nova/cells-and-rpc 3, reference/nova/scheduling 4.
"""

from oslo_log import log
import sqlalchemy as sa

from nova_lite import cells
from nova_lite import exception
from nova_lite.api import request
from nova_lite.db import rows
from nova_lite.db.api import stamps
from nova_lite.db.cell import evacuations
from nova_lite.db.cell import services

LOG = log.getLogger(__name__)

ENABLED = {'disabled': False, 'disabled_reason': None}


class HasEvacuated(exception.Invalid):
    msg = (
        'Host %(host)s cannot be up before it has removed the servers that were evacuated '
        'from it. Restart its compute service: it removes them and reports. Then try again. (A host '
        'of a cloud of `nova-lite up`: "nova-lite host off %(host)s", then '
        '"nova-lite host on %(host)s".)'
    )


def apply(req: request.Request, cell: cells.Cell, row: rows.Row, values: rows.Values) -> None:
    """Change columns of a service, and let the host and the schedulers know.

    Raises HasEvacuated for a host that is not to be up yet.
    """
    cell.db.write(_update, row, values)
    req.app.api_db.write(stamps.bump, stamps.HOSTS)
    if row.binary == services.COMPUTE and 'disabled' in values:
        _set_trait(req, cell, row.host)


def _update(connection: sa.Connection, row: rows.Row, values: rows.Values) -> None:
    if values.get('forced_down') is False and row.binary == services.COMPUTE:
        # An evacuation begins under the same lock, and then only from a host that is down.
        services.lock(connection, row.host)
        if evacuations.not_cleaned(connection, [row.host]):
            raise HasEvacuated(host=row.host)
    services.update(connection, row.uuid, values)


def _set_trait(req: request.Request, cell: cells.Cell, host: str) -> None:
    """Request the compute to set or remove COMPUTE_STATUS_DISABLED.

    A host that is down sets or removes the trait itself when it is up again.
    """
    row = cell.db.read(services.find, host)
    if row is None or not services.is_up(row, req.conf.service_down_time):
        LOG.warning('Compute %s is down and will update its status trait when it starts', host)
        return
    try:
        req.app.waiters.enter(req)
        req.app.compute(cell).set_host_enabled(req.ctxt, host=host, enabled=not row.disabled)
        # Once more: placement may have been asked before it knew of the trait.
        req.app.api_db.write(stamps.bump, stamps.HOSTS)
    except exception.NovaLiteError as error:
        LOG.warning('Compute %s did not update its status trait. It will retry: %s', host, error)
