"""Actions on servers from the live page, sent to the API of the cloud as its administrator.

The page has no token of the cloud: this process signs in with the clouds.yaml of the cloud, and the
API decides about each request as about those of other clients.
"""

from collections.abc import Callable
import http
import typing

from keystoneauth1 import exceptions as auth_exceptions
import openstack
from openstack import exceptions as sdk_exceptions
import requests

from nova_lite import exception
from nova_lite.api import faults
from nova_lite.api import schema_parts
from nova_lite.lab.control import endpoint as endpoint_module
from nova_lite.lab.launcher import client_connections

# Later, servers that were evacuated stay stopped.
VERSION = '2.90'
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
KINDS = {code: kind for kind, code in faults.CODES.items()}

Json: typing.TypeAlias = dict[str, typing.Any]
Connect: typing.TypeAlias = Callable[[str], openstack.connection.Connection]


class Refused(exception.NovaLiteError):
    """The API has refused a request: `kind` is that of the status of its answer."""

    msg = '%(reason)s'

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason=reason)
        self.kind = KINDS.get(status, 'unavailable' if status >= 500 else 'invalid')


class ServerActions:
    """Sends requests for the live page. clouds_yaml: the file with the administrator's password"""

    def __init__(self, clouds_yaml: str, connect: Connect = client_connections.connect) -> None:
        self._path, self._connect = clouds_yaml, connect
        self._connection: openstack.connection.Connection | None = None

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
            found = self._compute('GET', moves).json()['migrations']
            if not found:
                raise Refused(
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
        found: list[Json] = self._compute('GET', '/flavors').json()['flavors']
        return found

    def _images(self) -> list[Json]:
        answer = self._send('image', 'GET', '/images', None)
        found: list[Json] = answer.json()['images']
        return [each for each in found if each['name']]

    def _id_of(self, what: str, name: str, found: list[Json]) -> str:
        ids = [each['id'] for each in found if each['name'] == name]
        if len(ids) != 1:
            count = f'{len(ids)} {what}s have' if ids else f'No {what} has'
            raise Refused(http.HTTPStatus.BAD_REQUEST, f'{count} the name {name}.')
        return typing.cast(str, ids[0])

    def _accepted(self, method: str, path: str, body: Json | None = None) -> Json:
        answer = self._compute(method, path, body)
        return {'request_id': answer.headers.get('x-openstack-request-id')}

    def _compute(self, method: str, path: str, body: Json | None = None) -> requests.Response:
        return self._send('compute', method, path, body)

    def _send(self, service: str, method: str, path: str, body: Json | None) -> requests.Response:
        """Return the answer. Raise Refused, Unavailable."""
        if self._connection is None:
            self._connection = self._connect(self._path)
        version = VERSION if service == 'compute' else None
        try:
            answer: requests.Response = getattr(self._connection, service).request(
                path, method, json=body, microversion=version, raise_exc=False, connect_retries=0
            )
        except (auth_exceptions.ClientException, sdk_exceptions.SDKException) as error:
            raise exception.Unavailable(service='The API', reason=str(error)) from error
        if answer.status_code >= http.HTTPStatus.BAD_REQUEST:
            raise Refused(answer.status_code, _message(answer))
        return answer


def _message(answer: requests.Response) -> str:
    """Return the reason in an error answer."""
    try:
        (found,) = answer.json().values()
        return str(found['message'])
    except (ValueError, TypeError, KeyError, AttributeError):
        return f'The API answered with {answer.status_code} {answer.reason}.'
