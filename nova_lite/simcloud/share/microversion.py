"""Microversions of the shared file system API."""

import re

from nova_lite.simcloud import faults

HEADER = 'X-OpenStack-Manila-API-Version'
MINIMUM, MAXIMUM = 0, 98
PREFIX = '/share/v2'
# Resource locks, and access rules that are locked.
LOCKS, LOCKED_RULES = 81, 82
_NUMBER = re.compile(r'2\.(0|[1-9][0-9]{0,3})')


def requested(header):
    """Return the minor version that a header requests, by default the oldest."""
    if header is None:
        return MINIMUM
    if header.strip() == 'latest':
        return MAXIMUM
    match = _NUMBER.fullmatch(header.strip())
    if match is None:
        raise faults.BadRequest(
            f'API Version String {header[:32]} is of invalid format. '
            f'Must be of format MajorNum.MinorNum.'
        )
    minor = int(match[1])
    if minor > MAXIMUM:
        raise faults.NotAcceptable(
            f'Version {header[:32]} is not supported by the API. Minimum is 2.{MINIMUM} and '
            f'maximum is 2.{MAXIMUM}.'
        )
    return minor


class VersionHeaders:
    """Sets req.context.minor."""

    def process_request(self, req, resp):
        if req.path != PREFIX and not req.path.startswith(f'{PREFIX}/'):
            return
        minor = requested(req.get_header(HEADER))
        req.context.minor = minor
        resp.set_header(HEADER, f'2.{minor}')
        resp.append_header('Vary', HEADER)


def require(req, minor):
    """Raise NotFound for a request that an older version does not know."""
    if req.context.minor < minor:
        raise faults.NotFound('The resource could not be found.')
