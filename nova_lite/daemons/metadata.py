"""The metadata service. It uses databases, and the operator's services of vendor data, if any."""

from collections.abc import Iterable
from collections.abc import Mapping
import types
import typing
from wsgiref import types as wsgi

from oslo_config import cfg

from nova_lite import cells as cells_module
from nova_lite.daemons import monitor
from nova_lite.daemons.monitoring import databases
from nova_lite.db import transactions
from nova_lite.metadata.service import app
from nova_lite.metadata.service import callers
from nova_lite.metadata.service import servers


def check(conf: cfg.ConfigOpts) -> None:
    """Raise ValueError if the daemon cannot work with the configuration."""
    callers.check(conf)
    group = 'database' if conf.api.local_metadata_per_cell else 'api_database'
    if not conf[group].connection:
        raise ValueError(f'[{group}]connection is not set')


class Metadata:
    """The WSGI application with its databases, and its checks for `monitor.serve`."""

    name = 'metadata'
    collectors = ()
    exporters: Mapping[str, typing.Any] = types.MappingProxyType({})

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        limits = transactions.limits(conf)
        found: servers.Servers
        if conf.api.local_metadata_per_cell:
            database = transactions.Database(conf.database.connection, limits=limits)
            self._closing = [database.dispose]
            found = servers.CellServers(database)
        else:
            database = transactions.Database(conf.api_database.connection, limits=limits)
            cells = cells_module.Cells(conf, database)
            self._closing = [cells.close, database.dispose]
            found = servers.AllServers(database, cells)
        self.checks = {'database': databases.answers(database)}
        self._application = app.Application(conf, found)

    def __call__(
        self, environ: wsgi.WSGIEnvironment, start_response: wsgi.StartResponse
    ) -> Iterable[bytes]:
        return self._application(environ, start_response)

    def close(self) -> None:
        """Close the connections to databases."""
        for close in self._closing:
            close()


def application(conf: cfg.ConfigOpts) -> Metadata:
    """Return the WSGI callable for a separate process."""
    made = Metadata(conf)
    monitor.serve(conf, [made], workers=conf.metadata.workers)
    return made
