"""Microversions of a service: parsing of requested versions, and the version document."""

import re

from nova_lite.simcloud import bodies
from nova_lite.simcloud import faults
from nova_lite.simcloud import web

_NUMBER = re.compile(r'([0-9]+)\.(0|[1-9][0-9]{0,3})')


class Versions:
    """Versions MAJOR.0 to MAJOR.MAXIMUM of a service.

    service: its name in URLs and media types
    updated: value of `updated` in the version document
    media: version number in the media type
    """

    minimum = 0

    def __init__(self, service: str, major: int, maximum: int, *, updated: str, media: int) -> None:
        self.service, self.major, self.maximum = service, major, maximum
        self._updated, self._media = updated, media

    def minor(self, version: str) -> int:
        """Return the minor number of a version. Raise BadRequest or NotAcceptable."""
        if version == 'latest':
            return self.maximum
        match = _NUMBER.fullmatch(version)
        if match is None or match[1] != str(self.major):
            raise faults.BadRequest(
                f'API Version String {version[:32]} is of invalid format. '
                f'Must be of format MajorNum.MinorNum.'
            )
        minor = int(match[2])
        if minor > self.maximum:
            raise faults.NotAcceptable(
                f'Version {version} is not supported by the API. Minimum is '
                f'{self.major}.{self.minimum} and maximum is {self.major}.{self.maximum}.'
            )
        return minor

    def document(self, req: web.Request) -> dict[str, list[bodies.Json]]:
        """Return the version document of the service."""
        media = f'application/vnd.openstack.{self.service}+json;version={self._media}'
        path = f'/{self.service}/v{self.major}/'
        current = {
            'id': f'v{self.major}.0',
            'status': 'CURRENT',
            'updated': self._updated,
            'version': f'{self.major}.{self.maximum}',
            'min_version': f'{self.major}.{self.minimum}',
            'links': [{'rel': 'self', 'href': f'{req.context.public_url}{path}'}],
            'media-types': [{'base': 'application/json', 'type': media}],
        }
        return {'versions': [current]}


def require(req: web.Request, minor: int) -> None:
    """Raise NotFound if the request asks for an older microversion than `minor`."""
    if req.context.minor < minor:
        raise faults.NotFound('The resource could not be found.')
