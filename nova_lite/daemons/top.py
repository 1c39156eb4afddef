"""Databases, bus and notifications of the daemons above the cells."""

from nova_lite import cells as cells_module
from nova_lite.db import transactions
from nova_lite.notify import hub
from nova_lite.notify import notifier as notifiers
from nova_lite.notify import watch
from nova_lite.rpc import transport


def connect(conf):
    """Return (API database, cells, top bus, notifier, [functions that close them])."""
    api_db = transactions.Database(conf.api_database.connection, limits=transactions.limits(conf))
    cells = cells_module.Cells(conf, api_db)
    bus = transport.open_bus(conf, conf.transport_url)
    notifier = notifiers.Notifier(conf, conf.transport_url, hub.of(conf.state_path), cells)
    api_db.watcher = watch.Watcher(conf, notifier)
    cells.watch = lambda cell: watch.Watcher(conf, notifier, cell)
    return api_db, cells, bus, notifier, [api_db.dispose, cells.close, bus.cleanup, notifier.close]
