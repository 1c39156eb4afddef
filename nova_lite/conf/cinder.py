"""[cinder]: access to the volume service."""

from oslo_config import cfg

from nova_lite.conf import service_user

GROUP = 'cinder'
OPTS = [
    *service_user.neighbour('block-storage'),
    cfg.BoolOpt(
        'cross_az_attach',
        default=True,
        help='Allow servers to use volumes of another availability zone.',
    ),
]


def register(conf: cfg.ConfigOpts) -> None:
    """Register this module's options on `conf`."""
    conf.register_opts(OPTS, group=GROUP)


def list_opts() -> list[tuple[str, list[cfg.Opt]]]:
    """Return (group, options) pairs for the sample file."""
    return [(GROUP, OPTS)]
