"""Microversions of the shared file system API."""

import falcon

from nova_lite.simcloud import microversions
from nova_lite.simcloud import web

HEADER = 'X-OpenStack-Manila-API-Version'
VERSIONS = microversions.Versions('share', 2, 98, updated='2015-08-27T11:33:21Z', media=1)
PREFIX = '/share/v2'
# Microversions that added resource locks, and access rules with locks.
LOCKS, LOCKED_RULES = 81, 82


def requested(header: str | None) -> int:
    """Return the minor version that a header requests; None: the oldest."""
    return VERSIONS.minimum if header is None else VERSIONS.minor(header.strip())


class VersionHeaders:
    """Middleware that sets req.context.minor."""

    def process_request(self, req: web.Request, resp: falcon.Response) -> None:
        if req.path != PREFIX and not req.path.startswith(f'{PREFIX}/'):
            return
        minor = requested(req.get_header(HEADER))
        req.context.minor = minor
        resp.set_header(HEADER, f'2.{minor}')
        resp.append_header('Vary', HEADER)
