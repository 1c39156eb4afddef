"""The scheduler's daemon."""

from oslo_config import cfg

from nova_lite.clients import auth
from nova_lite.clients import network
from nova_lite.clients import placement
from nova_lite.daemons import lifetime
from nova_lite.daemons import local_endpoint
from nova_lite.daemons import top
from nova_lite.daemons.monitoring import checks
from nova_lite.daemons.monitoring import databases
from nova_lite.rpc import transport
from nova_lite.rpc.methods import scheduler as scheduler_rpc
from nova_lite.scheduler import manager as scheduler_manager


def make(conf: cfg.ConfigOpts) -> lifetime.Daemon[object]:
    """Return the daemon for a configuration."""
    above = top.connect(conf)
    credentials = auth.Credentials(conf)
    found = placement.Placement(credentials)
    manager = scheduler_manager.SchedulerManager(
        conf, above.cells, found, network.Network(credentials), notices=above.notices
    )
    if conf.transport_url.startswith(transport.EMBEDDED):
        endpoint = local_endpoint.SchedulerEndpoint(manager, conf.state_path)
        endpoint.open()
        above.closing.append(endpoint.close)
    return lifetime.Daemon(
        'scheduler',
        manager,
        threads=conf.rpc_threads,
        closing=above.closing,
        servers=[scheduler_rpc.SchedulerAPI.server(above.bus, conf.host, manager)],
    ).watch(
        {
            'database': databases.answers(above.api_db),
            'bus': checks.bus(scheduler_rpc.SchedulerAPI(above.bus)),
            'placement': checks.placement(found),
        }
    )
