"""Builds that find only hosts without heartbeats, which may be well and report again."""

from collections.abc import Mapping

from oslo_log import log

from nova_lite import exception
from nova_lite.db.api import build_requests
from nova_lite.db.cell import services
from nova_lite.moves import world as worlds

LOG = log.getLogger(__name__)


def are_awaited(
    world: worlds.World, epoch_of: Mapping[str, int], error: exception.NovaLiteError
) -> bool:
    """Return whether to try a failed build again because its hosts may report soon.

    In that case, end its leases. A build waits for hosts whose cell cannot receive heartbeats until
    it can, and for other hosts one interval of reports. Neither counts as a failure of the build.

    epoch_of: {server's uuid: epoch} of the build
    """
    silent = services.silence_of(error)
    if silent is None:
        return False
    if silent == services.SILENT and not world.api_db.write(build_requests.wait_once, epoch_of):
        return False
    LOG.warning('Build of %s waits for hosts that do not report: %s', list(epoch_of), error)
    world.api_db.write(build_requests.expire, epoch_of, world.conf.report_interval + 1)
    return True
