"""The metadata service. Of nova_lite it reaches the databases alone: no bus, no neighbours."""

from oslo_config import cfg

from nova_lite import cells as cells_module
from nova_lite.daemons import monitor
from nova_lite.db import engine
from nova_lite.metadata_api import app
from nova_lite.metadata_api import servers
from nova_lite.monitoring import databases


class Metadata:
    """The application, with its databases. name, checks: see monitor.Service"""

    name = 'metadata'

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        self._api_db = engine.Database(conf.api_database.connection, limits=engine.limits(conf))
        self._cells = cells_module.Cells(conf, self._api_db)
        self.application = app.Application(conf, servers.Servers(self._api_db, self._cells))
        self.checks = {'database': databases.answers(self._api_db)}
        self.collectors = ()

    def __call__(self, environ, start_response):
        return self.application(environ, start_response)

    def close(self) -> None:
        """Close the connections to databases."""
        self._cells.close()
        self._api_db.dispose()


def application(conf: cfg.ConfigOpts) -> Metadata:
    """Return the WSGI callable of a process of its own."""
    made = Metadata(conf)
    monitor.serve(conf, [made], workers=conf.metadata.workers)
    return made
