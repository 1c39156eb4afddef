"""[metrics]: the weights of the metrics that hosts report."""

from oslo_config import cfg
from oslo_config import types

GROUP = 'metrics'
OPTS = [
    cfg.FloatOpt(
        'weight_multiplier',
        default=1.0,
        help='Multiplier of the metrics weigher. Positive values prefer hosts with larger weighted '
        'metrics.',
    ),
    cfg.Opt(
        'weight_setting',
        type=types.Dict(value_type=types.Float(), key_value_separator='='),
        default={},
        help='Metrics that the metrics weigher uses, each with its factor, as name=1.0. MetricsFilter '
        'rejects hosts that do not report all these metrics.',
    ),
    cfg.BoolOpt(
        'required',
        default=True,
        help='Fail requests for a host while one of the hosts that pass the filters does not report all '
        'metrics in weight_setting; MetricsFilter rejects such hosts before. If false, they get the '
        'weight weight_of_unavailable.',
    ),
    cfg.FloatOpt(
        'weight_of_unavailable',
        default=-10000.0,
        help='Weight of a host that does not report one of the metrics, if they are not required.',
    ),
]
