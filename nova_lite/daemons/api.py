"""The compute API, and the services of [api]proxies on its port."""

from wsgiref import types as wsgi

from oslo_config import cfg

from nova_lite import cells as cells_module
from nova_lite import exception
from nova_lite.api import app as api_app
from nova_lite.api import application as api_application
from nova_lite.clients import neighbours as neighbours_module
from nova_lite.conf import quota
from nova_lite.daemons import monitor
from nova_lite.daemons import top
from nova_lite.daemons.monitoring import app as monitoring
from nova_lite.daemons.monitoring import checks
from nova_lite.daemons.monitoring import databases
from nova_lite.daemons.wsgi import front
from nova_lite.daemons.wsgi import proxy
from nova_lite.rpc import outbox
from nova_lite.rpc.methods import compute as compute_rpc
from nova_lite.rpc.methods import super_conductor as super_rpc


def make(conf: cfg.ConfigOpts, *, alone: bool = True) -> monitoring.Balanced:
    """Return the compute API as a WSGI callable.

    alone: whether the process ends with the API, so that `close` need not close connections
    """
    above = top.connect(conf)
    by_token = conf.api.auth_strategy == 'keystone'
    if conf.quota.driver == quota.UNIFIED and not by_token:
        raise exception.Invalid(
            f'[quota]driver = {quota.UNIFIED} needs [api]auth_strategy = keystone.'
        )
    neighbours = neighbours_module.clients(conf, identity=by_token)
    casts = outbox.Outbox()

    def compute(cell: cells_module.Cell) -> compute_rpc.ComputeAPI:
        return compute_rpc.ComputeAPI(cell.bus, cell.oldest_compute, casts=casts.lane())

    application = api_application.make_app(
        conf,
        api_db=above.api_db,
        cells=above.cells,
        clients=neighbours,
        super_conductor=super_rpc.SuperConductorAPI(above.bus, casts=casts.lane()),
        compute=compute,
    )
    return monitoring.Balanced(
        application,
        'api',
        {'database': databases.answers(above.api_db)},
        closing=[casts.close, *([above.notifier.close] if alone else reversed(above.closing))],
    )


def watched(app: api_app.App) -> monitor.Service:
    """Return the service with the API's health checks, for `monitor.serve`."""
    return monitor.Service(
        'api',
        {
            'database': databases.answers(app.api_db),
            'bus': checks.bus(app.super_conductor),
            'placement': checks.placement(app.placement),
        },
    )


def application(conf: cfg.ConfigOpts) -> wsgi.WSGIApplication:
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
