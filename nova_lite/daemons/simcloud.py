"""The simulated neighbour services in one process."""

import typing
from wsgiref import types as wsgi

from oslo_config import cfg

from nova_lite.daemons import monitor
from nova_lite.daemons.monitoring import databases
from nova_lite.db import transactions
from nova_lite.simcloud import app
from nova_lite.virt.sim import profile


def options_of(conf: cfg.ConfigOpts) -> dict[str, typing.Any]:
    """Return the fields of simcloud.options.Options for a configuration."""
    options = conf.simcloud
    return {
        'auth': options.auth_strategy,
        'compute_events': True,
        'internal_url': options.internal_url,
        'urls_by_request': options.urls_by_request,
        'port_rules': profile.port_rules_of(options.profile, options.speed),
        'admin_password': options.admin_password,
        'demo_password': options.demo_password,
        'service_password': options.service_password,
        'lockout_failure_attempts': options.lockout_failure_attempts,
        'lockout_duration_s': options.lockout_duration,
    }


def application(conf: cfg.ConfigOpts) -> wsgi.WSGIApplication:
    """Return the simulated services for a configuration."""
    options = conf.simcloud
    services: wsgi.WSGIApplication = app.make_app(
        options.connection, options.public_url, options=options_of(conf)
    )
    # The endpoint comes last: its threads would keep a worker alive whose application fails.
    database = transactions.Database(options.connection, threads=1)
    watched = monitor.Service('simcloud', {'database': databases.answers(database)})
    monitor.serve(conf, [watched], workers=options.workers)
    return services
