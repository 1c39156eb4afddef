"""[service_user]: our own identity, and the common options of the neighbours' groups.

A neighbour's group without `auth_type` uses the credentials of this group.
"""

import copy

from keystoneauth1 import loading
from oslo_config import cfg

_ADAPTER = (
    'service_type',
    'region_name',
    'valid_interfaces',
    'endpoint_override',
    'connect_retries',
    'connect_retry_delay',
)
_SESSION = ('cafile', 'certfile', 'keyfile', 'insecure', 'timeout')


def credentials() -> list[cfg.Opt]:
    """Return the options of our credentials: those of keystoneauth1's `password`, all optional.

    An option that keystoneauth1 requires would be required at parsing, even if the credentials of
    another group or another auth_type are used.
    """
    found = []
    for opt in (
        *loading.get_auth_common_conf_options(),
        *loading.get_auth_plugin_conf_options('password'),
    ):
        opt = copy.copy(opt)
        opt.required = False
        found.append(opt)
    return found


def neighbour(service_type: str) -> list[cfg.Opt]:
    """Return the options of a service that is called by REST."""
    adapter = [
        opt
        for opt in loading.get_adapter_conf_options(include_deprecated=False)
        if opt.dest in _ADAPTER
    ]
    session = [opt for opt in loading.get_session_conf_options() if opt.dest in _SESSION]
    cfg.set_defaults(
        adapter,
        service_type=service_type,
        connect_retries=5,
        connect_retry_delay=0.2,
        valid_interfaces=['internal', 'public'],
    )
    cfg.set_defaults(session, timeout=60)
    return [
        *credentials(),
        *adapter,
        *session,
        cfg.IntOpt(
            'pool_size',
            default=32,
            min=1,
            help='Maximum number of idle connections that a process keeps open to the service.',
        ),
    ]


GROUP = 'service_user'
OPTS = [
    *credentials(),
    cfg.BoolOpt(
        'send_service_user_token',
        default=True,
        help="Send a service token together with the user's token, so that a long operation can "
        "continue after the user's token has expired. Without auth_type no service token is sent."
        ' Requests to Cinder in the name of nova-lite also carry a service token, with the '
        'credentials of [cinder] if [service_user] has no auth_type: since CVE-2023-2088, Cinder '
        'deletes attachments of servers only for requests with a service token that has the role '
        'service.',
    ),
]
