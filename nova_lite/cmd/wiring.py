"""From a configuration to a daemon: which manager, on which bus, with which clients."""

import types

from oslo_log import log

from nova_lite import cells as cells_module
from nova_lite import service
from nova_lite.api import app as api_app
from nova_lite.clients import identity
from nova_lite.clients import image
from nova_lite.clients import network
from nova_lite.clients import placement
from nova_lite.clients import volume
from nova_lite.cmd import door
from nova_lite.cmd import monitor
from nova_lite.compute import manager as compute_manager
from nova_lite.conductor import cell as cell_conductor_module
from nova_lite.conductor import super as super_module
from nova_lite.db import engine
from nova_lite.db.cell import services
from nova_lite.monitoring import app as monitoring
from nova_lite.monitoring import checks
from nova_lite.monitoring import cloud
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
from nova_lite.virt.sim import driver as sim_driver

LOG = log.getLogger(__name__)


def clients(conf):
    """Clients of all neighbour services."""
    return types.SimpleNamespace(
        image=image.Image(conf),
        network=network.Network(conf),
        volume=volume.Volume(conf),
        placement=placement.Placement(conf),
    )


def _top(conf):
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


def api(conf):
    """The compute API as a WSGI callable."""
    api_db, cells, bus, desk, _closing = _top(conf)
    neighbours = clients(conf)
    if conf.api.auth_strategy == 'keystone':
        neighbours.identity = identity.Identity(conf)
    application = api_app.make_app(
        conf,
        api_db=api_db,
        cells=cells,
        clients=neighbours,
        super_conductor=super_rpc.SuperConductorAPI(bus),
    )
    return monitoring.Balanced(
        application, 'api', {'database': checks.database(api_db)}, closing=[desk.close]
    )


def watched_api(app):
    """What the compute API needs, for `monitor`. app: nova_lite.api.app.App"""
    return monitor.Service(
        'api',
        {
            'database': checks.database(app.api_db),
            'bus': checks.bus(app.super_conductor),
            'placement': checks.placement(app.placement),
        },
    )


def super_conductor(conf):
    """The super-conductor's daemon."""
    api_db, cells, bus, desk, closing = _top(conf)
    neighbours = clients(conf)
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
            'database': checks.database(api_db),
            'bus': checks.bus(super_rpc.SuperConductorAPI(bus)),
            'placement': checks.placement(neighbours.placement),
            'sweep': checks.saga_lag(api_db, conf.health.saga_lag_s),
        },
        [cloud.Sagas(api_db), cloud.Hosts(conf, api_db, cells)],
    )


def scheduler(conf):
    """The scheduler's daemon."""
    api_db, cells, bus, desk, closing = _top(conf)
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
            'database': checks.database(api_db),
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
        conf, db=database, compute=compute_rpc.ComputeAPI(bus, oldest), clients=clients(conf)
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
            'database': checks.database(database),
            'bus': checks.bus(conductor_rpc.ConductorAPI(bus)),
        }
    )


def compute(conf):
    """The daemon of a compute process with all its hosts."""
    hosts = expand(conf.compute.hosts) or [conf.host]
    bus = transport.open_bus(conf, conf.transport_url)
    driver = sim_driver.SimDriver(
        f'{conf.state_path.rstrip("/")}/guests.sqlite',
        hosts,
        conf.compute.profile,
        speed=conf.compute.speed,
    )
    neighbours = clients(conf)
    manager = compute_manager.ComputeManager(
        conf,
        hosts=hosts,
        driver=driver,
        conductor=conductor_rpc.ConductorAPI(bus),
        neighbours=neighbours,
    )
    return service.Daemon(
        f'compute {conf.host}',
        manager,
        threads=conf.rpc_threads,
        closing=[driver.close, bus.cleanup],
        reloading=[lambda: driver.reload(conf.compute.profile)],
        servers=[compute_rpc.ComputeAPI.server(bus, hosts, manager)],
    ).watch(
        {
            'bus': checks.bus(compute_rpc.ComputeAPI(bus), hosts[0]),
            'conductor': checks.bus(conductor_rpc.ConductorAPI(bus)),
            'placement': checks.placement(neighbours.placement),
        }
    )


def expand(patterns):
    """Host names from a list in which NAME[1-20] counts."""
    names = []
    for pattern in patterns:
        if not pattern.endswith(']') or '[' not in pattern:
            names.append(pattern)
            continue
        stem, _, numbers = pattern[:-1].partition('[')
        first, _, last = numbers.partition('-')
        names.extend(f'{stem}{number}' for number in range(int(first), int(last) + 1))
    return names


KINDS = {
    'super-conductor': super_conductor,
    'scheduler': scheduler,
    'cell-conductor': cell_conductor,
    'compute': compute,
}
