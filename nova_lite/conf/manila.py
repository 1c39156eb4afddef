"""[manila]: access to the shared file system service."""

from oslo_config import cfg

from nova_lite.conf import service_user

GROUP = 'manila'
OPTS = [
    *service_user.neighbour('shared-file-system'),
    cfg.IntOpt(
        'share_apply_policy_timeout',
        default=10,
        min=0,
        help='Seconds to wait until the access rule of a host is active. If the rule is not active '
        'by then, the attachment of the share fails. With 0 it must be active at once.',
    ),
]
