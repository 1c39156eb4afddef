"""Distinguish requests of this machine and of a service's own pages from foreign requests.

A service without a password refuses requests that a page of another site may have sent: requests
with a foreign Host (DNS rebinding) or a foreign Origin, and requests that the browser marks as
requests of another site.
"""

import re
from wsgiref import types as wsgi

LOOPBACK = re.compile(r'(127(\.[0-9]{1,3}){3}|localhost|\[::1\])(:[0-9]+)?', re.IGNORECASE)
# Values with which a browser marks a request of the page itself, or of its user.
OURS = ('same-origin', 'none')


def problem(environ: wsgi.WSGIEnvironment, *, is_followed: bool = False) -> str | None:
    """Return why a request is refused, or None. is_followed: whether its user followed a link"""
    if not LOOPBACK.fullmatch(environ.get('HTTP_HOST', '')):
        return 'The header Host must be an address of loopback.'
    if 'HTTP_ORIGIN' in environ and not has_own_origin(environ):
        return 'Requests of pages of another origin are refused.'
    if not is_followed and environ.get('HTTP_SEC_FETCH_SITE', 'none') not in OURS:
        return 'Requests of pages of another site are refused.'
    return None


def has_own_origin(environ: wsgi.WSGIEnvironment) -> bool:
    """Return whether a request, whose Host was checked, names the service itself as its Origin."""
    origin: str = environ.get('HTTP_ORIGIN', '')
    return origin.lower() == f'http://{environ["HTTP_HOST"]}'.lower()
