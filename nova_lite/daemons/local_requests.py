"""Distinguish requests of this machine's programs and of a service's own pages from others.

A service without a password refuses requests that a page of another site may have sent: those with
a foreign Host (DNS rebinding), a foreign Origin, and those that the browser marks as requests of
another site.
"""

import re
import typing

LOOPBACK = re.compile(r'(127(\.[0-9]{1,3}){3}|localhost|\[::1\])(:[0-9]+)?', re.IGNORECASE)
# Values with which a browser marks a request of the page itself, or of its user.
OURS = ('same-origin', 'none')

Environ: typing.TypeAlias = dict[str, typing.Any]


def problem(environ: Environ, *, is_followed: bool = False) -> str | None:
    """Return why a request is refused, or None. is_followed: whether its user followed a link"""
    if not LOOPBACK.fullmatch(environ.get('HTTP_HOST', '')):
        return 'The header Host must be an address of loopback.'
    if 'HTTP_ORIGIN' in environ and not has_own_origin(environ):
        return 'Requests of pages of another origin are refused.'
    if not is_followed and environ.get('HTTP_SEC_FETCH_SITE', 'none') not in OURS:
        return 'Requests of pages of another site are refused.'
    return None


def has_own_origin(environ: Environ) -> bool:
    """Return whether a request names the service itself as its Origin. Its Host was checked."""
    origin: str = environ.get('HTTP_ORIGIN', '')
    return origin.lower() == f'http://{environ["HTTP_HOST"]}'.lower()
