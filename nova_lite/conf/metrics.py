"""[metrics]: what a host reports of itself, as a reason to choose it."""

from oslo_config import cfg

GROUP = 'metrics'
OPTS = [
    cfg.FloatOpt('weight_multiplier', default=1.0, help='Weight of the metrics.'),
    cfg.DictOpt(
        'weight_setting',
        default={},
        help='Metrics that count, each with a factor, as name:1.0. MetricsFilter refuses hosts '
        'that do not report all of them.',
    ),
    cfg.FloatOpt(
        'weight_of_unavailable',
        default=-10000.0,
        help='What a host counts for that does not report one of the metrics.',
    ),
]


def register(conf):
    """Register this module's options on `conf`."""
    conf.register_opts(OPTS, group=GROUP)


def list_opts():
    """(group, options) pairs for the sample file."""
    return [(GROUP, OPTS)]
