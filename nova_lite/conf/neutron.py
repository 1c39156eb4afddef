"""[neutron]: how we reach the network service."""

from oslo_config import cfg

from nova_lite.conf import service_user

GROUP = 'neutron'
OPTS = [
    *service_user.neighbour('network'),
    cfg.IntOpt(
        'network_cache_seconds',
        default=30,
        min=0,
        help='Seconds for which names, MTUs and subnets of networks are used again '
        'when addresses of servers are put together.',
    ),
    cfg.IntOpt(
        'extension_sync_interval',
        default=600,
        min=0,
        help="Seconds for which the list of the network service's extensions is used again.",
    ),
    cfg.StrOpt(
        'ovs_bridge', default='br-int', help='Bridge that ports of type ovs are plugged into.'
    ),
]


def register(conf):
    """Register this module's options on `conf`."""
    conf.register_opts(OPTS, group=GROUP)


def list_opts():
    """(group, options) pairs for the sample file."""
    return [(GROUP, OPTS)]
