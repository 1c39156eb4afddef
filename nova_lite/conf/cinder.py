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
