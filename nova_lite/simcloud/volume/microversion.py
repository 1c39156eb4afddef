"""Microversions of the volume API, and the project id that its paths may carry."""

import falcon

from nova_lite.simcloud import bodies
from nova_lite.simcloud import faults
from nova_lite.simcloud import microversions
from nova_lite.simcloud import web

HEADER = 'OpenStack-API-Version'
VERSIONS = microversions.Versions('volume', 3, 71, updated='2023-08-31T00:00:00Z', media=3)
PREFIX = '/volume/v3'
# First segments of paths that are collections and not the id of a project.
COLLECTIONS = bodies.words(
    'volumes attachments snapshots types limits extensions os-quota-sets os-quota-class-sets'
    ' os-availability-zone os-services scheduler-stats group_types qos-specs os-volume-transfer'
    ' volume-transfers backups groups group_snapshots'
)
# Microversions that added collections.
SINCE = {
    'group_types': 11,
    'groups': 13,
    'group_snapshots': 14,
    'attachments': 27,
    'volume-transfers': 55,
}


def requested(header: str | None) -> int:
    """Return the minor version that a header requests; None: the oldest."""
    for part in (header or '').split(','):
        service, _, version = part.strip().partition(' ')
        if service == VERSIONS.service:
            return VERSIONS.minor(version)
    return VERSIONS.minimum


class VersionHeaders:
    """Middleware that sets req.context.minor and removes the project id from the path."""

    def process_request(self, req: web.Request, resp: falcon.Response) -> None:
        if not req.path.startswith(PREFIX):
            return
        minor = requested(req.get_header(HEADER))
        req.context.minor = minor
        resp.set_header(HEADER, f'volume 3.{minor}')
        resp.append_header('Vary', HEADER)
        first, _, rest = req.path.removeprefix(PREFIX).lstrip('/').partition('/')
        if rest and first not in COLLECTIONS:
            if first != req.context.caller.project_id:
                raise faults.BadRequest('Malformed request url')
            req.path = f'{PREFIX}/{rest}'
            first = rest.partition('/')[0]
        microversions.require(req, SINCE.get(first, 0))
