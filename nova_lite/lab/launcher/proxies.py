"""Variables with which requests to a cloud of this machine use no proxy."""

from collections.abc import Iterable
import os
import urllib.request

LOOPBACK = ('127.0.0.1', 'localhost', '::1')
# Programs read one of the two variables.
EXEMPT = ('no_proxy', 'NO_PROXY')


def exempt(hosts: Iterable[str] = LOOPBACK) -> dict[str, str]:
    """Return {variable: value} with which programs use no proxy for hosts.

    Return {} if the environment has no proxies.
    """
    if not {'http', 'https', 'all'} & set(urllib.request.getproxies_environment()):
        return {}
    listed = ','.join(os.environ.get(name, '') for name in EXEMPT).split(',')
    found = [each.strip() for each in listed if each.strip()]
    return dict.fromkeys(EXEMPT, ','.join(dict.fromkeys([*found, *hosts])))
