"""[oslo_limit]: access to the limits in the identity service, for [quota]driver."""

from keystoneauth1 import loading
from oslo_config import cfg

from nova_lite.conf import service_user

GROUP = 'oslo_limit'
# Requests of users wait for the limits.
TIMEOUT_S = 10


def _options() -> list[cfg.Opt]:
    found = service_user.neighbour('identity')
    names = {opt.dest for opt in loading.get_session_conf_options()}
    session = [opt for opt in found if opt.dest in names]
    cfg.set_defaults(session, timeout=TIMEOUT_S)
    retries = [opt for opt in found if opt.dest == 'connect_retries']
    cfg.set_defaults(retries, connect_retries=1)
    return found


OPTS: list[cfg.Opt] = [
    *_options(),
    cfg.StrOpt(
        'endpoint_id',
        help='ID of the endpoint of the compute service in the identity service. Limits of its '
        'service and its region count. Without an ID, limits of the service with the type '
        'endpoint_service_type that name no region count.',
    ),
    cfg.StrOpt(
        'endpoint_service_type',
        default='compute',
        help='Type of the service whose limits count if endpoint_id is not set.',
    ),
]
