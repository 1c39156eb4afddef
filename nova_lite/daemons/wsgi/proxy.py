"""A WSGI application that forwards requests to another process over HTTP.

An image of any size needs no more memory than another body, because its data is forwarded in
pieces, in both directions. Other bodies are small, and read before a connection to the service is
taken, so that slow clients hold no connection. A body that is too large is refused before it is
read.

Services on one address share a limit of concurrent requests, so that a process that hangs leaves
threads for requests to others.
"""

import collections
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
import contextlib
import re
import socket
import typing
import urllib.parse
from wsgiref import types as wsgi

import falcon
import urllib3

from nova_lite import runtime
from nova_lite.daemons.wsgi import answers
from nova_lite.daemons.wsgi import slow_clients

PIECE_BYTES = slow_clients.PIECE_BYTES
BODY_LIMIT = 1024 * 1024
DATA_LIMIT = 64 * 1024**3
# Uploads of the image service.
DATA = re.compile(r'/image/v2/images/[^/]+/(file|stage)/?')
# Headers of one connection, which are not forwarded (RFC 9110, 7.6.1), and headers that urllib3
# and the server of this process write by themselves.
HOP_BY_HOP = frozenset(
    (
        'connection',
        'keep-alive',
        'proxy-authenticate',
        'proxy-authorization',
        'proxy-connection',
        'te',
        'trailer',
        'transfer-encoding',
        'upgrade',
    )
)
# Headers that the server of this process answers.
ANSWERED_HERE = frozenset(('expect',))
SAFE_IN_PATHS = "/:@!$&'()*+,;=~-._"
# Characters that are escaped in the first line of a request.
UNSENDABLE = re.compile('[^\x21-\x7e]')
# Carries the path and the query of a request past urllib3, which would encode them again. No
# header of HTTP/1 has such a name.
TARGET = ':path'
CONNECT_S, ANSWER_S = 5, 120
# Seconds that a request waits until another request to the same process ends.
PLACE_S = 0.5

Headers: typing.TypeAlias = Iterable[tuple[str, str]]
# None if the request has no body; an iterator for data of images.
Body: typing.TypeAlias = bytes | Iterator[bytes] | None


def services(urls: Mapping[str, str], threads: int) -> dict[str, wsgi.WSGIApplication]:
    """Return {prefix: Proxy} for {prefix: URL}. threads: number of the server's threads"""
    most = max(1, threads * 3 // 4)
    places: dict[str | None, runtime.Semaphore] = collections.defaultdict(
        lambda: runtime.Semaphore(most)
    )
    return {
        prefix: Proxy(url, places=places[urllib3.util.parse_url(url).netloc])
        for prefix, url in urls.items()
    }


class Proxy:
    """Forwards requests to the process at `url`, and returns its answers.

    connect_s:  timeout of the connection; timeout_s: maximum time between two pieces of an answer
    body_limit: maximum size of a body in bytes; data_limit: maximum size of an image's data
    places:     a Semaphore of concurrent requests to the process; None: no limit
    """

    def __init__(
        self,
        url: str,
        *,
        connect_s: float = CONNECT_S,
        timeout_s: float = ANSWER_S,
        body_limit: int = BODY_LIMIT,
        data_limit: int = DATA_LIMIT,
        places: runtime.Semaphore | None = None,
    ) -> None:
        self._body_limit, self._data_limit = body_limit, data_limit
        self._places = places
        self._base = (urllib3.util.parse_url(url).path or '').rstrip('/')
        self._pool = urllib3.connection_from_url(
            url,
            maxsize=32,
            timeout=urllib3.Timeout(connect=connect_s, read=timeout_s),
            retries=False,
        )
        self._pool.ConnectionCls = _literal(self._pool.ConnectionCls)

    def __call__(
        self, environ: wsgi.WSGIEnvironment, start_response: wsgi.StartResponse
    ) -> Iterable[bytes]:
        try:
            body, chunked = self._body(environ)
            with contextlib.ExitStack() as place:
                if self._places is not None:
                    _take(self._places)
                    place.callback(self._places.release)
                answer = self._send(environ, body, chunked)
                kept = place.pop_all()
        except falcon.HTTPError as error:
            return answers.refuse_with(start_response, error)
        passing = Passing(answer, kept)
        headers = _end_to_end(answer.headers.items(), answer.headers.get('Connection'))
        try:
            start_response(f'{answer.status} {answer.reason or "Unknown"}', headers)
        except Exception:
            passing.close()
            raise
        return passing

    def _body(self, environ: wsgi.WSGIEnvironment) -> tuple[Body, bool]:
        """Return (body for urllib3, whether its length is unknown). Raise falcon's 413 and 400."""
        chunked = 'chunked' in environ.get('HTTP_TRANSFER_ENCODING', '').lower()
        length = _length(environ)
        if not chunked and not length:
            return None, False
        path = environ.get('SCRIPT_NAME', '') + environ.get('PATH_INFO', '')
        is_data = environ['REQUEST_METHOD'] == 'PUT' and DATA.fullmatch(path) is not None
        limit = self._data_limit if is_data else self._body_limit
        if length > limit:
            raise _too_large(limit)
        pieces = _pieces(environ['wsgi.input'], None if chunked else length, limit)
        return (pieces, chunked) if is_data else (b''.join(pieces), False)

    def _send(
        self, environ: wsgi.WSGIEnvironment, body: Body, chunked: bool
    ) -> urllib3.BaseHTTPResponse:
        method = environ['REQUEST_METHOD']
        headers = {**_headers(environ), TARGET: _target(self._base, environ)}
        if isinstance(body, bytes):
            headers['Content-Length'] = str(len(body))
        elif body is not None and not chunked:
            headers['Content-Length'] = str(_length(environ))
        # The service may close a kept connection at the moment when it is used.
        tries = 2 if method in ('GET', 'HEAD') and body is None else 1
        while True:
            tries -= 1
            try:
                return self._pool.urlopen(
                    method,
                    '/',
                    body=body,
                    headers=headers,
                    chunked=chunked,
                    redirect=False,
                    preload_content=False,
                    decode_content=False,
                )
            except urllib3.exceptions.ProtocolError as error:
                if not tries:
                    raise _failed(error) from error
            except urllib3.exceptions.HTTPError as error:
                raise _failed(error) from error


class Passing:
    """The body of an answer, in pieces. `close` also closes `place`."""

    def __init__(self, answer: urllib3.BaseHTTPResponse, place: contextlib.ExitStack) -> None:
        self._answer, self._place = answer, place

    def __iter__(self) -> Iterator[bytes]:
        yield from self._answer.stream(PIECE_BYTES, decode_content=False)
        self._answer.release_conn()

    def close(self) -> None:
        """Close the connection, unless it was released after the last piece."""
        with self._place:
            self._answer.close()


def _literal(connections: type[typing.Any]) -> type[typing.Any]:
    """Return a class of connections, HTTP or HTTPS, that send TARGET unchanged."""

    class Connection(connections):  # type: ignore[misc]  # known only while the program runs
        def request(
            self,
            method: str,
            url: str,
            body: Body = None,
            headers: Mapping[str, str] | None = None,
            **options: typing.Any,
        ) -> None:
            headers = dict(headers or {})
            target = headers.pop(TARGET)
            super().request(method, target, body=body, headers=headers, **options)

    return Connection


def _take(places: runtime.Semaphore) -> None:
    """Acquire a place. Raise falcon's 503 if no place gets free in time."""
    if not places.acquire(timeout=PLACE_S):
        raise falcon.HTTPServiceUnavailable(
            description='Too many requests are waiting for the service.', retry_after=5
        )


def _target(base: str, environ: wsgi.WSGIEnvironment) -> str:
    """Return the path below `base`, the path of the service, and the query that was sent."""
    path = base + environ.get('SCRIPT_NAME', '') + environ.get('PATH_INFO', '')
    target = urllib.parse.quote(path.encode('latin-1'), safe=SAFE_IN_PATHS) or '/'
    if environ.get('QUERY_STRING'):
        target += '?' + UNSENDABLE.sub(_percent, environ['QUERY_STRING'])
    return target


def _percent(found: re.Match[str]) -> str:
    return f'%{ord(found.group()):02X}'


def _length(environ: wsgi.WSGIEnvironment) -> int:
    """Return the length that the request names, 0 if it names none. Raise falcon's 400."""
    text = environ.get('CONTENT_LENGTH') or '0'
    if not (text.isascii() and text.isdigit()):
        raise falcon.HTTPBadRequest(description='Content-Length is not a number.')
    return int(text)


def _pieces(stream: wsgi.InputStream, length: int | None, limit: int) -> Iterator[bytes]:
    """Yield the body in pieces. Raise falcon's 413 beyond `limit`. length: None if unknown"""
    left = limit + 1 if length is None else length
    while left:
        data = stream.read(min(left, PIECE_BYTES))
        if not data:
            break
        left -= len(data)
        if length is None and not left:
            raise _too_large(limit)
        yield data
    if length and left:
        raise falcon.HTTPBadRequest(description='The body is shorter than its Content-Length.')


def _headers(environ: wsgi.WSGIEnvironment) -> dict[str, str]:
    """Return the request's headers for the service."""
    found = [
        (name[5:].replace('_', '-').title(), value)
        for name, value in environ.items()
        if name.startswith('HTTP_')
    ]
    headers = {
        name: value
        for name, value in _end_to_end(found, environ.get('HTTP_CONNECTION'))
        if name.lower() not in ANSWERED_HERE
    }
    if environ.get('CONTENT_TYPE'):
        headers['Content-Type'] = environ['CONTENT_TYPE']
    return headers


def _end_to_end(headers: Headers, connection: str | None) -> list[tuple[str, str]]:
    """Return the headers without headers of one connection, such as those `connection` names."""
    named = {name.strip().lower() for name in (connection or '').split(',')}
    return [(name, value) for name, value in headers if name.lower() not in HOP_BY_HOP | named]


def _too_large(limit: int) -> falcon.HTTPError:
    return falcon.HTTPContentTooLarge(
        description=f'The body of the request is larger than {limit} bytes.'
    )


def _failed(error: urllib3.exceptions.HTTPError) -> falcon.HTTPError:
    """Return falcon's error: 503 if the request did not reach the service, otherwise 502 or 504."""
    if isinstance(
        error, urllib3.exceptions.NewConnectionError | urllib3.exceptions.ConnectTimeoutError
    ):
        return falcon.HTTPServiceUnavailable(description='The service does not answer.')
    if isinstance(error, urllib3.exceptions.ReadTimeoutError | socket.timeout):
        return falcon.HTTPGatewayTimeout(description='The service did not answer in time.')
    return falcon.HTTPBadGateway(description='The connection to the service broke.')
