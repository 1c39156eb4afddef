"""The real placement under its prefix, with its own database."""

from oslo_config import cfg

from nova_lite.conf import placement_server
from nova_lite.daemons import monitor
from nova_lite.daemons.monitoring import databases
from nova_lite.daemons.wsgi import front
from nova_lite.daemons.wsgi import placement
from nova_lite.db import transactions

TOKEN_OPTIONS = (
    'auth_type',
    'auth_url',
    'username',
    'password',
    'project_name',
    'user_domain_id',
    'project_domain_id',
    'www_authenticate_uri',
    'cafile',
    'certfile',
    'keyfile',
    'insecure',
)


def application(conf: cfg.ConfigOpts) -> front.Front:
    """Return the WSGI callable of placement, under its prefix."""
    options = conf.placement_server
    keystone = None
    if options.auth_strategy == 'keystone':
        keystone = {name: conf.keystone_authtoken[name] for name in TOKEN_OPTIONS}
    service = placement.make_app(
        options.connection,
        auth_strategy=options.auth_strategy,
        keystone=keystone,
        threads=options.threads,
    )
    # The endpoint comes last: its threads would keep a worker alive whose application fails.
    database = transactions.Database(options.connection, threads=1)
    watched = monitor.Service('placement', {'database': databases.answers(database)})
    monitor.serve(conf, [watched], workers=placement_server.workers(conf))
    return front.Front({'/placement': service})
