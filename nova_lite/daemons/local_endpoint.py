"""Local endpoints: HTTP services of an embedded cloud on loopback, for commands in other processes.

The buses of an embedded cloud are in its process, so `nova-lite why` cannot reach the scheduler by
RPC, and `nova-lite events` cannot read the notifications. Such a command sends a request to an
endpoint, which serves one kind of request. A request needs the key in the state directory, which
only the owner of the cloud can read. Requests that a web page may have sent are refused even with
the key: requests with an Origin, and requests to a host name that is not loopback.
"""

import abc
from collections.abc import Iterable
from collections.abc import Iterator
import contextlib
import hmac
import http
from http import client
import json
import os
import typing
import urllib.error
import urllib.parse
import urllib.request
import urllib.response
from wsgiref import types as wsgi

from oslo_log import log

from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite.daemons import local_requests
from nova_lite.daemons.wsgi import server
from nova_lite.scheduler import manager as scheduler_manager

LOG = log.getLogger(__name__)

KEY_HEADER = 'X-Endpoint-Key'
TIMEOUT_S = 60
# Ignores the proxies of the environment, which would receive the key.
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))

Answer: typing.TypeAlias = tuple[http.HTTPStatus, Iterable[bytes]]


class Place(typing.NamedTuple):
    """The URL of an endpoint, and the key that its requests need."""

    url: str
    key: str


def path_of(state_path: str, name: str = 'scheduler') -> str:
    """Return the path of the file with the URL and the key of an endpoint."""
    return os.path.join(state_path, 'run', f'{name}.json')


class LocalEndpoint(abc.ABC):
    """Serves the answers of a subclass to requests with the key. name: name of the file"""

    name = ''
    threads = 2

    def __init__(self, state_path: str) -> None:
        self._path = path_of(state_path, self.name)
        self._key = runtime.new_secret()
        self._server = server.InProcess(self, threads=self.threads)

    def open(self) -> None:
        """Start serving, and write the file with the URL and the key."""
        self._server.start()
        os.makedirs(os.path.dirname(self._path), mode=0o700, exist_ok=True)
        draft = f'{self._path}.new'
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), 'w') as file:
            json.dump(Place(self._server.url, self._key)._asdict(), file)
        os.replace(draft, self._path)

    def close(self) -> None:
        """Stop serving, and delete the file with the URL and the key."""
        with contextlib.suppress(FileNotFoundError), open(self._path) as file:
            # The file may be of an endpoint that was opened later.
            if json.load(file)['key'] == self._key:
                os.unlink(self._path)
        self._server.stop()

    def __call__(
        self, environ: wsgi.WSGIEnvironment, start_response: wsgi.StartResponse
    ) -> Iterable[bytes]:
        problem = self._problem(environ)
        if problem is None:
            status, body = self.answer(environ)
        else:
            status, body = as_json(http.HTTPStatus.FORBIDDEN, {'error': problem})
        start_response(f'{status.value} {status.phrase}', [('Content-Type', 'application/json')])
        return body

    def _problem(self, environ: wsgi.WSGIEnvironment) -> str | None:
        """Return why a request is refused, or None."""
        if 'HTTP_ORIGIN' in environ:
            return 'Requests of web pages are refused: remove the header Origin.'
        host = environ.get('HTTP_HOST', '')
        if not local_requests.LOOPBACK.fullmatch(host):
            return f'The header Host is {host}; it must be an address of loopback.'
        key = environ.get('HTTP_X_ENDPOINT_KEY', '')
        if not hmac.compare_digest(key.encode(), self._key.encode()):
            return f'The header {KEY_HEADER} is not the key in {self._path}.'
        return None

    @abc.abstractmethod
    def answer(self, environ: wsgi.WSGIEnvironment) -> Answer:
        """Return (status, pieces of the body) for a request."""


def as_json(status: http.HTTPStatus, values: object) -> Answer:
    """Return (status, pieces of the body) with `values` as JSON."""
    return status, [json.dumps(values).encode()]


class SchedulerEndpoint(LocalEndpoint):
    """Answers GET /why?server=UUID[&host=HOST] with the result of `manager.why`."""

    name = 'scheduler'

    def __init__(self, manager: scheduler_manager.SchedulerManager, state_path: str) -> None:
        super().__init__(state_path)
        self._manager = manager

    def answer(self, environ: wsgi.WSGIEnvironment) -> Answer:
        asked = dict(urllib.parse.parse_qsl(environ.get('QUERY_STRING', '')))
        if environ['PATH_INFO'] != '/why' or 'server' not in asked:
            return as_json(http.HTTPStatus.NOT_FOUND, {'error': 'use /why?server=UUID'})
        try:
            found = self._manager.why(context.admin(), asked['server'], asked.get('host'))
        except (exception.NotFound, exception.Invalid) as error:
            return as_json(http.HTTPStatus.NOT_FOUND, {'error': error.message})
        except exception.NovaLiteError as error:
            LOG.warning('Cannot answer the request %s of `nova-lite why`: %s', asked, error)
            return as_json(http.HTTPStatus.SERVICE_UNAVAILABLE, {'error': error.message})
        return as_json(http.HTTPStatus.OK, found)


def place_of(state_path: str, name: str) -> Place:
    """Return the Place of an endpoint. Raise Unavailable if the cloud is not up."""
    try:
        with open(path_of(state_path, name)) as file:
            return Place(**json.load(file))
    except FileNotFoundError as error:
        raise exception.Unavailable(
            service='The cloud', reason='it is not up. Start it with `nova-lite up`'
        ) from error


@contextlib.contextmanager
def send(
    place: Place, path: str, timeout_s: float, *, body: object = None
) -> Iterator[urllib.response.addinfourl]:
    """Send a request to an endpoint. Yield the answer, to be read within the block as JSON.

    Raise OSError, also if the answer is cut off in the block, or urllib's HTTPError.
    body: JSON value of a POST; None for a GET
    """
    headers, data = {KEY_HEADER: place.key}, None
    if body is not None:
        headers['Content-Type'], data = 'application/json', json.dumps(body).encode()
    request = urllib.request.Request(place.url + path, data=data, headers=headers)
    try:
        with _OPENER.open(request, timeout=timeout_s) as answer:
            yield answer
    except (client.HTTPException, ValueError) as error:
        # As after the end of a process, whose connections may also be reset.
        raise ConnectionResetError('its answer was cut off') from error


def ask(state_path: str, instance_uuid: str, host: str | None = None) -> dict[str, typing.Any]:
    """Return the result of SchedulerAPI.why in the embedded cloud of `state_path`.

    Raise Invalid with the scheduler's reason, Unavailable if the cloud is not up.
    """
    place = place_of(state_path, SchedulerEndpoint.name)
    asked = {'server': instance_uuid, **({'host': host} if host else {})}
    try:
        with send(place, f'/why?{urllib.parse.urlencode(asked)}', TIMEOUT_S) as answer:
            found: dict[str, typing.Any] = json.load(answer)
            return found
    except urllib.error.HTTPError as error:
        raise exception.Invalid(reason=json.load(error)['error']) from error
    except OSError as error:
        raise exception.Unavailable(service='The scheduler', reason=error) from error
