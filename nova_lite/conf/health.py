"""[health]: the HTTP endpoint for the health and the metrics of a daemon."""

from oslo_config import cfg

GROUP = 'health'
OPTS = [
    cfg.StrOpt(
        'listen',
        default='127.0.0.1',
        help='Address on which /healthcheck and /metrics are served, and by compute daemons /libvirt, '
        '/ceilometer and /node. The first two of these show names and ids of the servers of users. No '
        'page requires a token; restrict the address to operators.',
    ),
    cfg.PortOpt(
        'port',
        help='Port of /healthcheck and /metrics, and of /libvirt, /ceilometer and /node of compute daemons; '
        'see listen. Each daemon on a machine needs its own. With several workers, each uses the first '
        'free port from this one on. Unset: they are not served.',
    ),
    cfg.IntOpt(
        'saga_lag_s',
        default=60,
        min=1,
        help='Maximum number of seconds that a saga may be due without being picked up. When it is '
        'exceeded, /healthcheck of the super-conductors reports a failure.',
    ),
]
