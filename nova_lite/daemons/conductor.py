"""The daemon of a cell's conductor. It imports nothing that uses the API database."""

from oslo_config import cfg

from nova_lite.clients import neighbours as neighbours_module
from nova_lite.conductor import manager as conductor_manager
from nova_lite.daemons import lifetime
from nova_lite.daemons.monitoring import checks
from nova_lite.daemons.monitoring import databases
from nova_lite.db import transactions
from nova_lite.db.cell import services
from nova_lite.lifecycle.guests import spec_parts
from nova_lite.notify import hub
from nova_lite.notify import notifier as notifiers
from nova_lite.notify import watch
from nova_lite.rpc import pins
from nova_lite.rpc import transport
from nova_lite.rpc.methods import compute as compute_rpc
from nova_lite.rpc.methods import conductor as conductor_rpc


def make(conf: cfg.ConfigOpts) -> lifetime.Daemon[object]:
    """Return the daemon for a configuration."""
    database = transactions.Database(conf.database.connection, limits=transactions.limits(conf))
    notifier = notifiers.Notifier(
        conf, conf.transport_url, hub.of(conf.state_path), parts_of=spec_parts.of_record
    )
    database.watcher = watch.Watcher(conf, notifier)
    bus = transport.open_bus(conf, conf.transport_url)
    oldest = services.Oldest(database)
    manager = conductor_manager.CellConductor(
        conf,
        db=database,
        compute=compute_rpc.ComputeAPI(bus, oldest),
        peers=conductor_rpc.ConductorAPI(bus),
        clients=neighbours_module.clients(conf),
    )
    computes = pins.Pins(conf, compute_rpc.ComputeAPI.topic, oldest)
    return lifetime.Daemon(
        f'conductor {conf.host}',
        manager,
        threads=conf.rpc_threads,
        closing=[database.dispose, bus.cleanup, notifier.close],
        servers=[conductor_rpc.ConductorAPI.server(bus, conf.host, manager, callers=computes)],
    ).watch(
        {
            'database': databases.answers(database),
            'bus': checks.bus(conductor_rpc.ConductorAPI(bus)),
        }
    )
