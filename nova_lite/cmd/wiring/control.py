"""Daemons of the control plane: super-conductor, scheduler, conductors of cells."""

from nova_lite import cells as cells_module
from nova_lite import service
from nova_lite.clients import network
from nova_lite.clients import placement
from nova_lite.cmd import door
from nova_lite.cmd.wiring import neighbours as neighbours_module
from nova_lite.conductor import manager as cell_conductor_module
from nova_lite.db import engine
from nova_lite.db.cell import services
from nova_lite.monitoring import checks
from nova_lite.monitoring import cloud
from nova_lite.monitoring import databases
from nova_lite.notify import desk as desk_module
from nova_lite.notify import hub
from nova_lite.notify import watch
from nova_lite.rpc import pins
from nova_lite.rpc import transport
from nova_lite.rpcapi import compute as compute_rpc
from nova_lite.rpcapi import conductor as conductor_rpc
from nova_lite.rpcapi import scheduler as scheduler_rpc
from nova_lite.rpcapi import super_conductor as super_rpc
from nova_lite.scheduler import manager as scheduler_manager
from nova_lite.superconductor import manager as super_module


def top(conf):
    """(API database, cells, top bus), what tells notifications, and what closes them."""
    api_db = engine.Database(conf.api_database.connection, limits=engine.limits(conf))
    cells = cells_module.Cells(conf, api_db)
    bus = transport.open_bus(conf, conf.transport_url)
    desk = _desk(conf, cells)
    api_db.watcher = watch.Watcher(conf, desk)
    cells.watch = lambda cell: watch.Watcher(conf, desk, cell)
    return api_db, cells, bus, desk, [api_db.dispose, cells.close, bus.cleanup, desk.close]


def _desk(conf, cells=None):
    return desk_module.Desk(conf, conf.transport_url, hub.of(conf.state_path), cells)


def super_conductor(conf):
    """The super-conductor's daemon."""
    api_db, cells, bus, desk, closing = top(conf)
    neighbours = neighbours_module.clients(conf)
    world = super_module.World(
        conf,
        api_db=api_db,
        cells=cells,
        scheduler=scheduler_rpc.SchedulerAPI(bus),
        clients=neighbours,
        notices=watch.Notices(desk),
    )
    manager = super_module.SuperConductor(conf, world, name=conf.host)
    return service.Daemon(
        'super-conductor',
        manager,
        threads=conf.rpc_threads,
        closing=closing,
        servers=[super_rpc.SuperConductorAPI.server(bus, conf.host, manager)],
    ).watch(
        {
            'database': databases.answers(api_db),
            'bus': checks.bus(super_rpc.SuperConductorAPI(bus)),
            'placement': checks.placement(neighbours.placement),
            'sweep': databases.saga_lag(api_db, conf.health.saga_lag_s),
        },
        [cloud.Sagas(api_db), cloud.Hosts(conf, api_db, cells)],
    )


def scheduler(conf):
    """The scheduler's daemon."""
    api_db, cells, bus, desk, closing = top(conf)
    found = placement.Placement(conf)
    manager = scheduler_manager.SchedulerManager(
        conf, cells, found, network.Network(conf), notices=watch.Notices(desk)
    )
    if conf.transport_url.startswith(transport.EMBEDDED):
        entrance = door.SchedulerDoor(manager, conf.state_path)
        entrance.open()
        closing.append(entrance.close)
    return service.Daemon(
        'scheduler',
        manager,
        threads=conf.rpc_threads,
        closing=closing,
        servers=[scheduler_rpc.SchedulerAPI.server(bus, conf.host, manager)],
    ).watch(
        {
            'database': databases.answers(api_db),
            'bus': checks.bus(scheduler_rpc.SchedulerAPI(bus)),
            'placement': checks.placement(found),
        }
    )


def cell_conductor(conf):
    """The daemon of a cell's conductor."""
    database = engine.Database(conf.database.connection, limits=engine.limits(conf))
    desk = _desk(conf)
    database.watcher = watch.Watcher(conf, desk)
    bus = transport.open_bus(conf, conf.transport_url)
    oldest = services.Oldest(database)
    manager = cell_conductor_module.CellConductor(
        conf,
        db=database,
        compute=compute_rpc.ComputeAPI(bus, oldest),
        clients=neighbours_module.clients(conf),
    )
    computes = pins.Pins(conf, compute_rpc.ComputeAPI.topic, oldest)
    return service.Daemon(
        f'conductor {conf.host}',
        manager,
        threads=conf.rpc_threads,
        closing=[database.dispose, bus.cleanup, desk.close],
        servers=[conductor_rpc.ConductorAPI.server(bus, conf.host, manager, callers=computes)],
    ).watch(
        {
            'database': databases.answers(database),
            'bus': checks.bus(conductor_rpc.ConductorAPI(bus)),
        }
    )
