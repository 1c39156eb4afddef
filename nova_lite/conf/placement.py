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


def register(conf: cfg.ConfigOpts) -> None:
    """Register this module's options on `conf`."""
    conf.register_opts(OPTS, group=GROUP)


def list_opts() -> list[tuple[str, list[cfg.Opt]]]:
    """Return (group, options) pairs for the sample file."""
    return [(GROUP, OPTS)]
