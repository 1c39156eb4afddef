"""[neutron]: access to the network service."""

from oslo_config import cfg

from nova_lite.conf import service_user

GROUP = 'neutron'
OPTS = [
    *service_user.neighbour('network'),
    cfg.IntOpt(
        'network_cache_seconds',
        default=30,
        min=0,
        help='Seconds for which names, MTUs and subnets of networks are cached for the addresses of '
        'servers.',
    ),
    cfg.IntOpt(
        'extension_sync_interval',
        default=600,
        min=0,
        help='Seconds for which the list of extensions of the network service is cached.',
    ),
    cfg.StrOpt(
        'ovs_bridge', default='br-int', help='Name of the bridge for ports of the type ovs.'
    ),
    cfg.StrOpt(
        'default_floating_pool',
        default='nova',
        help='Name or ID of the external network from which POST /os-floating-ips (up to '
        'microversion 2.35) takes an address when the request names no pool.',
    ),
    cfg.BoolOpt(
        'service_metadata_proxy',
        default=False,
        help='Identify servers by the headers that the metadata proxy of the network service adds '
        'to requests for metadata. If false, the metadata service answers requests about servers '
        'with 404.',
    ),
    cfg.StrOpt(
        'metadata_proxy_shared_secret',
        default='',
        secret=True,
        help='Secret with which the metadata proxy signs the id of a server. Required with '
        'service_metadata_proxy; the same value belongs in the configuration of the proxy.',
    ),
]
