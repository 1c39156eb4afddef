"""Serves /healthcheck and /metrics beside a daemon, where [health] says."""

import dataclasses

from oslo_log import log

from nova_lite.monitoring import app
from nova_lite.wsgi import server

LOG = log.getLogger(__name__)
THREADS = 4


@dataclasses.dataclass
class Service:
    """An HTTP service beside the daemons; see service.Daemon.watch."""

    name: str
    checks: dict
    collectors: tuple = ()


def serve(conf, daemons, *, workers=1):
    """Serve in a thread of this process; the server, or None when [health]port is unset.

    A port that is taken is no reason not to do the daemon's work.

    workers: processes with this configuration; each takes the first port that none of the
        others has, from [health]port on
    """
    options = conf.health
    if options.port is None:
        return None
    application = app.Monitoring(daemons)
    for port in range(options.port, options.port + workers):
        running = server.InProcess(application, host=options.listen, port=port, threads=THREADS)
        try:
            running.start()
        except OSError as error:
            reason = error
            continue
        LOG.info('Health endpoint: %s/healthcheck', running.url)
        return running
    LOG.error(
        'Cannot open the health endpoint on port %s: %s. Continuing without it.', port, reason
    )
    return None
