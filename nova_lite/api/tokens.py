"""keystonemiddleware, whose headers for a token serve for some seconds.

It keeps what Keystone has said of a token, but reads it, looks for its end, and makes
some twenty headers and a catalog of it at each request.
"""

from collections.abc import Callable
from collections.abc import Iterable
import typing
from wsgiref import types as wsgi

from oslo_utils import timeutils

from nova_lite import runtime

# Puts keystonemiddleware around an application, with options of its own.
Protect: typing.TypeAlias = Callable[..., wsgi.WSGIApplication]

_WHOSE = (
    *('DOMAIN_ID', 'DOMAIN_NAME', 'IDENTITY_STATUS', 'IS_ADMIN_PROJECT', 'PROJECT_DOMAIN_ID'),
    *('PROJECT_DOMAIN_NAME', 'PROJECT_ID', 'PROJECT_NAME', 'ROLE', 'ROLES', 'SERVICE_CATALOG'),
    *('TENANT', 'TENANT_ID', 'TENANT_NAME', 'USER', 'USER_DOMAIN_ID', 'USER_DOMAIN_NAME'),
    *('USER_ID', 'USER_NAME'),
)
_WHOSE_SERVICE = (
    *('IDENTITY_STATUS', 'PROJECT_DOMAIN_ID', 'PROJECT_DOMAIN_NAME', 'PROJECT_ID', 'PROJECT_NAME'),
    *('DOMAIN_ID', 'DOMAIN_NAME', 'ROLES', 'USER_DOMAIN_ID', 'USER_DOMAIN_NAME', 'USER_ID'),
    *('USER_NAME',),
)
# The headers that say whose a valid token is, as they are named in the environment of a request.
# Those that a client has sent are removed.
HEADERS = frozenset(
    (
        'HTTP_OPENSTACK_SYSTEM_SCOPE',
        *(f'HTTP_X_{name}' for name in _WHOSE),
        *(f'HTTP_X_SERVICE_{name}' for name in _WHOSE_SERVICE),
    )
)
CONFIRMED = 'Confirmed'
# Divisor of [keystone_authtoken]token_cache_time: the headers serve for a tenth of it.
PART = 10
MOST_TOKENS = 500


class Checked:
    """A WSGI application that passes requests with a valid token to another application.

    protect: function of an application, and of options for it that keystonemiddleware is to have
        as texts, to its middleware around the application
    cache_s: seconds after which a token that was revoked is refused. Those of
        keystonemiddleware and those for which the headers serve are together as many
    """

    def __init__(
        self,
        application: wsgi.WSGIApplication,
        protect: Protect,
        *,
        cache_s: float,
    ) -> None:
        self._application = application
        self._kept_s = max(0, cache_s // PART)
        self._protected = protect(self._accepted, token_cache_time=str(cache_s - self._kept_s))
        # token -> (until when they serve, headers by their names in the environment)
        self._headers: dict[str, tuple[float, dict[str, typing.Any]]] = {}

    def __call__(
        self, environ: wsgi.WSGIEnvironment, start_response: wsgi.StartResponse
    ) -> Iterable[bytes]:
        until, headers = self._headers.get(environ.get('HTTP_X_AUTH_TOKEN', ''), (0, {}))
        # A service token may make an expired token valid.
        if runtime.monotonic() >= until or 'HTTP_X_SERVICE_TOKEN' in environ:
            return self._protected(environ, start_response)
        for name in HEADERS:
            environ.pop(name, None)
        environ.update(headers)
        return self._application(environ, start_response)

    def _accepted(
        self, environ: wsgi.WSGIEnvironment, start_response: wsgi.StartResponse
    ) -> Iterable[bytes]:
        """Keep the headers of a request that keystonemiddleware has let pass, if they may serve."""
        serve_s = min(self._kept_s, _valid_s(environ))
        if serve_s > 0:
            if len(self._headers) >= MOST_TOKENS:
                self._headers.clear()
            headers = {name: environ[name] for name in HEADERS if name in environ}
            until = runtime.monotonic() + serve_s
            self._headers[environ['HTTP_X_AUTH_TOKEN']] = (until, headers)
        return self._application(environ, start_response)


def _valid_s(environ: wsgi.WSGIEnvironment) -> float:
    """Return for how many seconds other requests with this token may get the same headers.

    0 if the token is bound to a client, or if its application credential may be used for some
    methods and paths alone.
    """
    passed = environ.get('HTTP_X_IDENTITY_STATUS') == CONFIRMED and environ.get('HTTP_X_USER_ID')
    alone = 'HTTP_X_AUTH_TOKEN' in environ and 'HTTP_X_SERVICE_TOKEN' not in environ
    token = environ.get('keystone.token_info', {}).get('token')
    if not passed or not alone or token is None:
        return 0
    credential = token.get('application_credential') or {}
    if credential.get('access_rules') is not None or token.get('bind'):
        return 0
    return (timeutils.parse_isotime(token['expires_at']) - runtime.now()).total_seconds()
