"""[health]: where a daemon tells how it is and what it measures."""

from oslo_config import cfg

GROUP = 'health'
OPTS = [
    cfg.StrOpt(
        'listen',
        default='127.0.0.1',
        help='Address of /healthcheck and /metrics. They are for operators: no token is asked for.',
    ),
    cfg.PortOpt(
        'port',
        help='Their port; each daemon of a machine needs its own. Of several workers each takes '
        'one, from this port on. Unset: they are not served.',
    ),
    cfg.IntOpt(
        'saga_lag_s',
        default=60,
        min=1,
        help='A super-conductor is not well when a saga waits this many seconds for anyone to '
        'take it up.',
    ),
]


def register(conf):
    """Register this module's options on `conf`."""
    conf.register_opts(OPTS, group=GROUP)


def list_opts():
    """(group, options) pairs for the sample file."""
    return [(GROUP, OPTS)]
