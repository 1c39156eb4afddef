"""Microversions of the volume API, and the project id that its paths may carry."""

import re

from nova_lite.simcloud import bodies
from nova_lite.simcloud import faults

HEADER = 'OpenStack-API-Version'
MINIMUM, MAXIMUM = 0, 71
PREFIX = '/volume/v3'
# First path segments that are collections and not a project's id.
COLLECTIONS = bodies.words(
    'volumes attachments snapshots types limits extensions os-quota-sets os-quota-class-sets'
    ' os-availability-zone os-services scheduler-stats'
)
_NUMBER = re.compile(r'3\.(0|[1-9][0-9]{0,3})')


def requested(header):
    """Return the minor version that a header requests, by default the oldest."""
    for part in (header or '').split(','):
        service, _, version = part.strip().partition(' ')
        if service != 'volume':
            continue
        if version == 'latest':
            return MAXIMUM
        match = _NUMBER.fullmatch(version)
        if match is None:
            raise faults.BadRequest(
                f'API Version String {version[:32]} is of invalid format. '
                f'Must be of format MajorNum.MinorNum.'
            )
        minor = int(match[1])
        if minor > MAXIMUM:
            raise faults.NotAcceptable(
                f'Version {version} is not supported by the API. Minimum is 3.{MINIMUM} and '
                f'maximum is 3.{MAXIMUM}.'
            )
        return minor
    return MINIMUM


class VersionHeaders:
    """Sets req.context.minor and removes the project id from the path."""

    def process_request(self, req, resp):
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


def require(req, minor):
    """Raise NotFound for a request that an older version does not know."""
    if req.context.minor < minor:
        raise faults.NotFound('The resource could not be found.')
