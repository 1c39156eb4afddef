"""The super-conductor's daemon."""

from oslo_config import cfg

from nova_lite.clients import neighbours as neighbours_module
from nova_lite.daemons import lifetime
from nova_lite.daemons import top
from nova_lite.daemons.monitoring import checks
from nova_lite.daemons.monitoring import cloud
from nova_lite.daemons.monitoring import databases
from nova_lite.daemons.monitoring import sweep
from nova_lite.rpc.methods import scheduler as scheduler_rpc
from nova_lite.rpc.methods import super_conductor as super_rpc
from nova_lite.superconductor import manager as super_module
from nova_lite.superconductor import world as super_world


def make(conf: cfg.ConfigOpts) -> lifetime.Daemon[super_module.SuperConductor]:
    """Return the daemon for a configuration."""
    above = top.connect(conf)
    neighbours = neighbours_module.clients(conf)
    world = super_world.World(
        conf,
        api_db=above.api_db,
        cells=above.cells,
        scheduler=scheduler_rpc.SchedulerAPI(above.bus),
        clients=neighbours,
        notices=above.notices,
    )
    manager = super_module.SuperConductor(conf, world, name=conf.host)
    return lifetime.Daemon(
        'super-conductor',
        manager,
        threads=conf.rpc_threads,
        closing=above.closing,
        servers=[super_rpc.SuperConductorAPI.server(above.bus, conf.host, manager)],
    ).watch(
        {
            'database': databases.answers(above.api_db),
            'bus': checks.bus(super_rpc.SuperConductorAPI(above.bus)),
            'placement': checks.placement(neighbours.placement),
            'sweep': sweep.lag(above.api_db, conf.health.saga_lag_s),
        },
        [cloud.Sagas(above.api_db), cloud.Hosts(conf, above.api_db, above.cells)],
    )
