"""[keystone_authtoken]: keystonemiddleware's own options, for the checks of tokens.

The credentials in this group are also used with other services whose groups have none.
"""

import copy
import importlib.util

from keystonemiddleware import auth_token
from oslo_config import cfg

from nova_lite.conf import service_user

GROUP = 'keystone_authtoken'
# keystonemiddleware's default is no limit: requests would wait for a Keystone that hangs.
TIMEOUT_S = 10


# The module with which keystonemiddleware uses memcached, and its package.
CLIENTS = {
    'memcache': 'python-memcached (pip install nova-lite[memcached])',
    'bmemcached': 'python-binary-memcached',
}


def _options() -> list[cfg.Opt]:
    known: dict[str, cfg.Opt] = {}
    for _group, opts in auth_token.list_opts():
        known.update({opt.dest: copy.copy(opt) for opt in opts})
    known['http_connect_timeout'].default = TIMEOUT_S
    # Without this a token with access rules would be refused.
    known['service_type'].default = 'compute'
    for opt in service_user.credentials():
        known.setdefault(opt.dest, copy.copy(opt))
    return list(known.values())


OPTS = _options()


def check(conf: cfg.ConfigOpts) -> None:
    """Raise ValueError if tokens are to be cached in memcached and its client is missing.

    keystonemiddleware would notice that only at the first request, and fail at each request.
    """
    options = conf[GROUP]
    if not options.memcached_servers:
        return
    secured = options.memcache_sasl_enabled or options.memcache_tls_enabled
    name = 'bmemcached' if secured else 'memcache'
    if importlib.util.find_spec(name) is None:
        raise ValueError(
            f'[{GROUP}]memcached_servers is set, but the Python module {name} is not installed. '
            f'Install {CLIENTS[name]}, or unset the option.'
        )
