"""Serves /healthcheck and /metrics beside a daemon, as [health] configures."""

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
    """Serve in a thread of this process. Return the server, or None if [health]port is unset.

    If the port is in use, log an error and return None: the daemon works without the endpoint.

    workers: number of processes with this configuration; each takes the first free port from
        [health]port on
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
