"""Requests of this machine's programs and of a service's own pages, told from others.

A service that asks for no password refuses what a page of another site may have sent: a foreign
Host (DNS rebinding), a foreign Origin, and requests that the browser itself marks as coming from
another site.
"""

import re
import typing

LOOPBACK = re.compile(r'(127(\.[0-9]{1,3}){3}|localhost|\[::1\])(:[0-9]+)?', re.IGNORECASE)
# What a browser says of a request by the page itself, or typed by its user.
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
