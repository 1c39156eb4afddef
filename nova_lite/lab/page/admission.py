"""Admission to the live page: browsers on this machine, from pages of the cloud itself.

The page has data of all projects and asks for no password. So it refuses what a page of
another site may have sent: a foreign Host (DNS rebinding), a foreign Origin, and requests
that the browser itself marks as coming from another site.
"""

import typing

from nova_lite.daemons import local_requests

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
# Paths of the page itself.
ROOT = ('', '/')


def problem(environ: dict[str, typing.Any]) -> str | None:
    """Return why a request is refused, or None."""
    # A link to the page is followed from anywhere. It is not shown inside another page, and its
    # parts are not linked to: a page of another site could take the places of all viewers.
    followed = (
        environ.get('PATH_INFO', '') in ROOT
        and environ.get('HTTP_SEC_FETCH_MODE') == 'navigate'
        and environ.get('HTTP_SEC_FETCH_DEST', 'document') == 'document'
    )
    found: str | None = local_requests.problem(environ, is_followed=followed)
    return found
