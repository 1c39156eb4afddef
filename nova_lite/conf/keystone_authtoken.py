"""[keystone_authtoken]: how tokens are checked; keystonemiddleware's own options.

The credentials among them are also ours towards the other services, where those
have none of their own.
"""

import copy

from keystonemiddleware import auth_token

from nova_lite.conf import service_user

GROUP = 'keystone_authtoken'
# keystonemiddleware's own default is no limit: requests would wait for a Keystone that hangs.
TIMEOUT_S = 10


def _options():
    known = {}
    for _group, opts in auth_token.list_opts():
        known.update({opt.dest: copy.copy(opt) for opt in opts})
    known['http_connect_timeout'].default = TIMEOUT_S
    for opt in service_user.credentials():
        known.setdefault(opt.dest, copy.copy(opt))
    return list(known.values())


OPTS = _options()


def register(conf):
    """Register this module's options on `conf`."""
    conf.register_opts(OPTS, group=GROUP)


def list_opts():
    """Return (group, options) pairs for the sample file."""
    return [(GROUP, OPTS)]
