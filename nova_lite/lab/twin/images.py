"""The images of a twin: those of the servers, with the properties that filters and hosts read."""

import http
import typing

from nova_lite.lab.launcher.cloud_file import api as apis
from nova_lite.lab.launcher.cloud_file import images
from nova_lite.lab.twin import names as names_

Json: typing.TypeAlias = dict[str, typing.Any]
# An image for servers whose own image is gone or is not shown.
GENERIC = 'twin'
# Properties that filters and hosts read.
PROPERTIES = ('hw_', 'os_', 'trait:', 'img_', 'hypervisor_', 'vm_mode', 'architecture')


class Images:
    """Finds the images of servers. entries: those for the file; notes: what these lack"""

    def __init__(self, api: apis.Api, names: names_.Names) -> None:
        self._api, self._names = api, names
        self._known: dict[str, Json] = {}
        self._generic: Json = {'name': GENERIC}
        self.entries: list[Json] = [self._generic]
        self.notes: list[str] = []

    def name(self, row: Json) -> str:
        """Return the name of the image of a server. row: the server, as the API shows it"""
        return str(self._of(row)['name'])

    def properties(self, row: Json) -> dict[str, str]:
        """Return the properties of the image of a server. row: the server, as the API shows it"""
        return dict(self._of(row).get('properties', {}))

    def _of(self, row: Json) -> Json:
        if not row['image']:
            return self._generic
        image_id = row['image']['id']
        if image_id not in self._known:
            self._known[image_id] = self._read(image_id)
        return self._known[image_id]

    def _read(self, image_id: str) -> Json:
        try:
            image = self._api.call('image', 'GET', f'/v2/images/{image_id}')
        except apis.Refused as error:
            if error.kwargs['status'] not in (http.HTTPStatus.NOT_FOUND, http.HTTPStatus.FORBIDDEN):
                raise
            self.notes.append(f'the properties of image {image_id}, which is not shown')
            return self._generic
        properties = {
            key: str(value)
            for key, value in image.items()
            if key.startswith(PROPERTIES) and key not in images.STANDARD
        }
        entry: Json = {'name': self._names.of('image', image_id, image['name'] or '')}
        if properties:
            entry['properties'] = properties
        self.entries.append(entry)
        return entry
