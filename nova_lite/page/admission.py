"""Admission to the live page: browsers on this machine, from pages of the cloud itself.

The page has data of all projects and asks for no password. So it refuses what a page of
another site may have sent: a foreign Host (DNS rebinding), a foreign Origin, and requests
that the browser itself marks as coming from another site.
"""

import typing

from nova_lite.daemons import local_endpoint

POLICY = '; '.join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = (
    ('Content-Security-Policy', POLICY),
    ('Cross-Origin-Opener-Policy', 'same-origin'),
    ('Cross-Origin-Resource-Policy', 'same-origin'),
    ('Referrer-Policy', 'no-referrer'),
    ('X-Content-Type-Options', 'nosniff'),
    ('X-Frame-Options', 'DENY'),
)
# What a browser says of a request by the page itself, or typed by its user.
OURS = ('same-origin', 'none')
# Paths of the page itself.
ROOT = ('', '/')


def problem(environ: dict[str, typing.Any]) -> str | None:
    """Return why a request is refused, or None."""
    if not local_endpoint.LOOPBACK.fullmatch(environ.get('HTTP_HOST', '')):
        return 'The header Host must be an address of loopback.'
    if 'HTTP_ORIGIN' in environ and not has_own_origin(environ):
        return 'Requests of pages of another origin are refused.'
    # A link to the page is followed from anywhere. It is not shown inside another page, and its
    # parts are not linked to: a page of another site could take the places of all viewers.
    followed = (
        environ.get('PATH_INFO', '') in ROOT
        and environ.get('HTTP_SEC_FETCH_MODE') == 'navigate'
        and environ.get('HTTP_SEC_FETCH_DEST', 'document') == 'document'
    )
    if not followed and environ.get('HTTP_SEC_FETCH_SITE', 'none') not in OURS:
        return 'Requests of pages of another site are refused.'
    return None


def has_own_origin(environ: dict[str, typing.Any]) -> bool:
    """Return whether a request names the page itself as its Origin. Its Host was checked."""
    origin: str = environ.get('HTTP_ORIGIN', '')
    return origin.lower() == f'http://{environ["HTTP_HOST"]}'.lower()
