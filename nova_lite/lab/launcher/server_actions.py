"""Actions on servers from the live page, as requests to the API of the cloud."""

import http
import typing

from nova_lite.api import schema_parts
from nova_lite.lab.control import endpoint as endpoint_module
from nova_lite.lab.launcher import page_requests

NAME = {'type': 'string', 'minLength': 1, 'maxLength': 255}
HOST = {'type': 'string', 'maxLength': 255}
UUID = {'type': 'string', 'format': 'uuid'}
# {action: body of the request, or a function from the host to it}. host: None for any
BODIES: dict[str, typing.Any] = {
    'reboot': {'reboot': {'type': 'SOFT'}},
    'hard-reboot': {'reboot': {'type': 'HARD'}},
    'confirm': {'confirmResize': None},
    'revert': {'revertResize': None},
    'migrate': lambda host: {'migrate': {'host': host} if host else None},
    'live-migrate': lambda host: {'os-migrateLive': {'host': host, 'block_migration': 'auto'}},
    'evacuate': lambda host: {'evacuate': {'host': host} if host else {}},
}
# Of the live migration in progress.
ABORT, FORCE = 'abort', 'force-complete'
DELETE = 'delete'
ACT = schema_parts.whole(
    {'action': {'enum': [DELETE, ABORT, FORCE, *BODIES]}, 'server': UUID, 'host': HOST},
    required=['action', 'server'],
)
BOOT = schema_parts.whole(
    {'name': NAME, 'flavor': NAME, 'image': NAME, 'host': HOST},
    required=['name', 'flavor', 'image'],
)

Json: typing.TypeAlias = dict[str, typing.Any]


class ServerActions:
    """Acts on servers for the live page."""

    def __init__(self, requests: page_requests.PageRequests) -> None:
        self._requests = requests

    def add(self, endpoint: endpoint_module.Endpoint) -> None:
        """Add the requests to a control endpoint."""
        endpoint.add('POST', 'servers/act', lambda given: self._act(**given), schema=ACT)
        endpoint.add('POST', 'servers/boot', lambda given: self._boot(**given), schema=BOOT)
        endpoint.add('GET', 'servers/choices', lambda _none: self._choices())

    def _act(self, action: str, server: str, host: str = '') -> Json:
        path = f'/servers/{server}'
        if action == DELETE:
            return self._accepted('DELETE', path)
        if action in (ABORT, FORCE):
            moves = f'{path}/migrations'
            found = self._requests.compute('GET', moves).json()['migrations']
            if not found:
                raise page_requests.Refused(
                    http.HTTPStatus.CONFLICT, 'No live migration of the server is in progress.'
                )
            move = f'{moves}/{found[0]["id"]}'
            if action == ABORT:
                return self._accepted('DELETE', move)
            return self._accepted('POST', f'{move}/action', {'force_complete': None})
        body = BODIES[action]
        return self._accepted(
            'POST', f'{path}/action', body(host or None) if callable(body) else body
        )

    def _boot(self, name: str, flavor: str, image: str, host: str = '') -> Json:
        body = {
            'name': name,
            'flavorRef': self._id_of('flavor', flavor, self._flavors()),
            'imageRef': self._id_of('image', image, self._images()),
            'networks': 'auto',
            **({'host': host} if host else {}),
        }
        return self._accepted('POST', '/servers', {'server': body})

    def _choices(self) -> Json:
        names = {'flavors': self._flavors(), 'images': self._images()}
        return {key: sorted(each['name'] for each in found) for key, found in names.items()}

    def _flavors(self) -> list[Json]:
        found: list[Json] = self._requests.compute('GET', '/flavors').json()['flavors']
        return found

    def _images(self) -> list[Json]:
        answer = self._requests.send('image', 'GET', '/images', None)
        found: list[Json] = answer.json()['images']
        return [each for each in found if each['name']]

    def _id_of(self, what: str, name: str, found: list[Json]) -> str:
        ids = [each['id'] for each in found if each['name'] == name]
        if len(ids) != 1:
            count = f'{len(ids)} {what}s have' if ids else f'No {what} has'
            raise page_requests.Refused(http.HTTPStatus.BAD_REQUEST, f'{count} the name {name}.')
        return typing.cast(str, ids[0])

    def _accepted(self, method: str, path: str, body: Json | None = None) -> Json:
        answer = self._requests.compute(method, path, body)
        return {'request_id': answer.headers.get('x-openstack-request-id')}
