"""[placement]: access to the placement service."""

from oslo_config import cfg

from nova_lite.conf import service_user

GROUP = 'placement'
OPTS = [
    *service_user.neighbour('placement'),
    cfg.IntOpt(
        'register_threads',
        default=4,
        min=1,
        max=64,
        help='Number of hosts that a compute process registers in placement at the same time. '
        'Placement on SQLite processes one at a time in any case.',
    ),
]
