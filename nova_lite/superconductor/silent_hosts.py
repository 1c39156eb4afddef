"""Builds that find no host, but some that may be well and be used again soon."""

from collections.abc import Mapping

from oslo_log import log

from nova_lite import exception
from nova_lite import runtime
from nova_lite.db.api import build_requests
from nova_lite.db.cell import services
from nova_lite.moves import world as worlds

LOG = log.getLogger(__name__)


def are_awaited(
    world: worlds.World, epoch_of: Mapping[str, int], error: exception.NovaLiteError
) -> bool:
    """Return whether to try a failed build again because its hosts may be used soon.

    In that case, end its leases. `services.wait_s` has how long a build waits for each reason. That
    does not count as a failure of the build.

    epoch_of: {server's uuid: epoch} of the build
    """
    conf, silent = world.conf, services.silence_of(error)
    if silent is None:
        return False
    now = runtime.timestamp()
    since = world.api_db.write(build_requests.wait, epoch_of, silent, now)
    if now - since > services.wait_s(silent, conf):
        return False
    LOG.warning('Build of %s waits for hosts (%s): %s', list(epoch_of), silent, error)
    world.api_db.write(build_requests.expire, epoch_of, conf.report_interval + 1)
    return True
