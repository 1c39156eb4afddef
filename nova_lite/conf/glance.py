"""[glance]: access to the image service."""

from oslo_config import cfg

from nova_lite.conf import service_user

GROUP = 'glance'
OPTS = [
    *service_user.neighbour('image'),
    cfg.FloatOpt(
        'image_cache_seconds',
        default=0,
        min=0,
        help='Seconds for which the metadata of an image is cached. With a value above 0, a change of '
        'an image property takes effect after at most this time. 0 disables the cache.',
    ),
]
