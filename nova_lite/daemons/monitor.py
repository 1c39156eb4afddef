"""The health endpoint: /healthcheck and /metrics beside a daemon, as [health] configures."""

from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
import types
import typing

from oslo_config import cfg
from oslo_log import log

from nova_lite.daemons.monitoring import app
from nova_lite.daemons.monitoring import health
from nova_lite.daemons.wsgi import server

LOG = log.getLogger(__name__)
THREADS = 4


class Service(typing.NamedTuple):
    """An HTTP service with its health checks and collectors; see lifetime.Daemon.watch.

    exporters: of hosts, which HTTP services do not have
    """

    name: str
    checks: Mapping[str, health.Check]
    collectors: Iterable[typing.Any] = ()
    exporters: Mapping[str, typing.Any] = types.MappingProxyType({})


def serve(
    conf: cfg.ConfigOpts, daemons: Collection[app.Daemon], *, workers: int = 1
) -> server.InProcess | None:
    """Serve the endpoint in a thread. Return the server, or None if [health]port is unset.

    If the port is in use, log an error and return None: the daemon works without the endpoint.

    workers: number of processes with this configuration; each process takes the first free port
        of so many ports, beginning with [health]port
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
