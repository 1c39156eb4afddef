"""Databases, bus and notifications of the daemons above the cells."""

from collections.abc import Callable
import typing

from oslo_config import cfg
import oslo_messaging

from nova_lite import cells as cells_module
from nova_lite.db import transactions
from nova_lite.lifecycle.guests import spec_parts
from nova_lite.notify import hub
from nova_lite.notify import notifier as notifiers
from nova_lite.notify import watch
from nova_lite.rpc import transport


class Top(typing.NamedTuple):
    """The API database, the cells, the top bus and the notifier. closing: close all of these"""

    api_db: transactions.Database
    cells: cells_module.Cells
    bus: oslo_messaging.Transport
    notifier: notifiers.Notifier
    closing: list[Callable[[], object]]

    @property
    def notices(self) -> watch.Notices:
        """Return the notices that this process sends through the notifier."""
        return watch.Notices(self.notifier)


def connect(conf: cfg.ConfigOpts) -> Top:
    """Open the API database, the cells and the top bus."""
    api_db = transactions.Database(conf.api_database.connection, limits=transactions.limits(conf))
    cells = cells_module.Cells(conf, api_db)
    bus = transport.open_bus(conf, conf.transport_url)
    notifier = notifiers.Notifier(
        conf,
        conf.transport_url,
        hub.of(conf.state_path),
        parts_of=spec_parts.of_record,
        cells=cells,
    )
    api_db.watcher = watch.Watcher(conf, notifier)
    cells.watch = lambda cell: watch.Watcher(conf, notifier, cell)
    closing = [api_db.dispose, cells.close, bus.cleanup, notifier.close]
    return Top(api_db, cells, bus, notifier, closing)
