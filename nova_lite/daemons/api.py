"""The compute API, and the services of [api]proxies on its port."""

from oslo_config import cfg

from nova_lite import cells as cells_module
from nova_lite.api import application as wsgi
from nova_lite.clients import neighbours as neighbours_module
from nova_lite.daemons import monitor
from nova_lite.daemons import top
from nova_lite.monitoring import app as monitoring
from nova_lite.monitoring import checks
from nova_lite.monitoring import databases
from nova_lite.rpc import outbox
from nova_lite.rpcapi import compute as compute_rpc
from nova_lite.rpcapi import super_conductor as super_rpc
from nova_lite.wsgi import front
from nova_lite.wsgi import proxy


def make(conf: cfg.ConfigOpts, *, alone: bool = True) -> monitoring.Balanced:
    """Return the compute API as a WSGI callable.

    alone: whether the process ends with it, so that `close` need not close connections
    """
    api_db, cells, bus, notifier, closing = top.connect(conf)
    by_token = conf.api.auth_strategy == 'keystone'
    neighbours = neighbours_module.clients(conf, identity=by_token)
    casts = outbox.Outbox()

    def compute(cell: cells_module.Cell) -> compute_rpc.ComputeAPI:
        return compute_rpc.ComputeAPI(cell.bus, cell.oldest_compute, casts=casts.lane())

    application = wsgi.make_app(
        conf,
        api_db=api_db,
        cells=cells,
        clients=neighbours,
        super_conductor=super_rpc.SuperConductorAPI(bus, casts=casts.lane()),
        compute=compute,
    )
    return monitoring.Balanced(
        application,
        'api',
        {'database': databases.answers(api_db)},
        closing=[casts.close, *([notifier.close] if alone else reversed(closing))],
    )


def watched(app):
    """Return the service with the API's health checks, for `monitor`. app: nova_lite.api.app.App"""
    return monitor.Service(
        'api',
        {
            'database': databases.answers(app.api_db),
            'bus': checks.bus(app.super_conductor),
            'placement': checks.placement(app.placement),
        },
    )


def application(conf):
    """Return the WSGI callable for a separate process, with the services of [api]proxies."""
    compute = make(conf)
    monitor.serve(conf, [watched(compute.app)], workers=conf.api.workers)
    if not conf.api.proxies:
        return compute
    routes = proxy.services(conf.api.proxies, conf.api.threads)
    return front.Front(
        {**routes, '/compute': compute},
        keep=('/identity', '/image', '/network', '/volume', '/share'),
    )
