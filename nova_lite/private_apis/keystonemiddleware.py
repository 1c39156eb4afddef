"""Undocumented names of keystonemiddleware that we use."""

import typing

from keystonemiddleware.auth_token import _request

from nova_lite.private_apis import guard

LIBRARY = guard.Library('keystonemiddleware', lowest='10.12', newest='13.0.1')

LIBRARY.has(_request._AuthTokenRequest, '_all_auth_headers', '_SYSTEM_SCOPE_HEADER')


def _names() -> typing.Iterator[str]:
    yield _request._AuthTokenRequest._SYSTEM_SCOPE_HEADER
    yield from _request._AuthTokenRequest.blank('/')._all_auth_headers()


# The headers that say whose a valid token is, as they are named in the environment of a request.
# Those that a client has sent are removed.
HEADERS = frozenset('HTTP_' + name.upper().replace('-', '_') for name in _names())
