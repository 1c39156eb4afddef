"""Services of dynamic vendor data, as one daemon asks them.

[api]vendordata_dynamic_connect_timeout bounds the connection to each address of a service and the
handshake of TLS. [api]vendordata_dynamic_read_timeout bounds the request, the head and the body of
the answer together: then the connection is shut down, however the service sends.

A URL may contain a password, so errors have the name of a service without its URL.
"""

import base64
from collections.abc import Iterator
import contextlib
from http import client
import json
import socket
import ssl
import typing
import urllib.parse

from keystoneauth1 import exceptions
from keystoneauth1 import plugin
from keystoneauth1 import session
from oslo_config import cfg

from nova_lite import exception
from nova_lite import runtime
from nova_lite.clients import auth
from nova_lite.clients import connections
from nova_lite.objects import base

AUTH = 'vendordata_dynamic_auth'
# Bytes of an answer that are read.
LIMIT = 1 << 20
SAFE_IN_PATHS = "/%:=&?~#+!$,;'@()*[]"


class Url(typing.NamedTuple):
    """The parts of a service's URL. headers: with the user and the password in the URL"""

    tls: bool
    host: str
    port: int | None
    path: str
    headers: dict[str, str]

    @classmethod
    def parse(cls, text: str) -> typing.Optional['Url']:
        """Return the parts of an HTTP URL, or None if it is not one."""
        if any(each.isspace() or not each.isprintable() for each in text):
            return None
        try:
            found = urllib.parse.urlsplit(text)
            port = found.port
        except ValueError:
            return None
        if found.scheme not in ('http', 'https') or not found.hostname:
            return None
        path = urllib.parse.quote(found.path or '/', SAFE_IN_PATHS)
        if found.query:
            path += '?' + urllib.parse.quote(found.query, SAFE_IN_PATHS)
        headers = {}
        if found.username is not None:
            pair = urllib.parse.unquote(f'{found.username}:{found.password or ""}')
            headers['Authorization'] = f'Basic {base64.b64encode(pair.encode()).decode()}'
        return cls(found.scheme == 'https', found.hostname, port, path, headers)


class Services:
    """The services as a daemon asks them, with one token for all requests.

    most: number of requests for vendor data that may ask services at a time; None: no limit
    """

    def __init__(self, conf: cfg.ConfigOpts, *, most: int | None = None) -> None:
        self._conf = conf
        self._places = None if most is None else runtime.Semaphore(most)
        self._lock = runtime.Lock()
        self._login: tuple[plugin.BaseAuthPlugin, session.Session] | None = None

    @contextlib.contextmanager
    def place(self) -> Iterator[None]:
        """Hold one of the places. Raise Unavailable if all are taken."""
        if self._places is None:
            yield
            return
        if not self._places.acquire(blocking=False):
            raise exception.Unavailable(
                service='vendor data', reason='too many requests wait for its services'
            )
        try:
            yield
        finally:
            self._places.release()

    def ask(self, name: str, url: Url, told: base.Data) -> object:
        """Return the answer of a service. Raise Unavailable.

        told: the facts of a server that the service receives
        """
        try:
            raw = self._post(url, json.dumps(told).encode())
            found = json.loads(raw) if raw else {}
            # A value that can be read may be nested too deeply to be written.
            json.dumps(found)
        except (
            client.HTTPException,
            exceptions.ClientException,
            exception.Unavailable,
            OSError,
            RecursionError,
            ValueError,
        ) as error:
            raise exception.Unavailable(service=f'vendor data {name}', reason=error) from error
        return found

    def _post(self, url: Url, body: bytes) -> bytes:
        """Return the body of an answer. Raise ValueError if it is an error, too large or slow."""
        headers = {**self._headers(), **url.headers}
        timeout_s = self._conf.api.vendordata_dynamic_read_timeout
        with contextlib.closing(self._connection(url)) as connection:
            connection.connect()
            with _Deadline(connection.sock, timeout_s) as deadline:
                try:
                    connection.request('POST', url.path, body, headers)
                    status, raw = _answer(connection.getresponse())
                except (client.HTTPException, OSError, ValueError) as error:
                    deadline.check(error)
                    raise
                deadline.check(None)
        if status == 401:
            self._forget_token()
        if status >= 300:
            raise ValueError(f'status {status}')
        return raw

    def _connection(self, url: Url) -> client.HTTPConnection:
        timeout_s = self._conf.api.vendordata_dynamic_connect_timeout
        if not url.tls:
            return client.HTTPConnection(url.host, url.port, timeout=timeout_s)
        authorities = self._conf.api.vendordata_dynamic_ssl_certfile or None
        return client.HTTPSConnection(
            url.host,
            url.port,
            timeout=timeout_s,
            context=ssl.create_default_context(cafile=authorities),
        )

    def _headers(self) -> dict[str, str]:
        """Return headers, with a token if the operator has configured credentials for this."""
        headers = {
            'Accept': 'application/json',
            'Content-Type': 'application/json',
            'User-Agent': 'nova-lite',
        }
        if not self._conf[AUTH].auth_type:
            return headers
        with self._lock:
            if self._login is None:
                ours = auth.Credentials(self._conf).of(AUTH)
                self._login = ours, connections.open_session(self._conf[AUTH], ours)
            ours, opened = self._login
        return {**headers, 'X-Auth-Token': ours.get_token(opened) or ''}

    def _forget_token(self) -> None:
        """Get another token for the next request."""
        if self._login is not None:
            self._login[0].invalidate()


def _answer(answer: client.HTTPResponse) -> tuple[int, bytes]:
    """Return the status of an answer and its body. Raise ValueError if the body is not whole."""
    if answer.status >= 300:
        return answer.status, b''
    raw, length = answer.read(LIMIT + 1), answer.getheader('Content-Length') or ''
    if len(raw) > LIMIT:
        raise ValueError(f'the answer has more than {LIMIT} bytes')
    if length.isdecimal() and len(raw) < int(length):
        raise ValueError('the answer is incomplete')
    return answer.status, raw


class _Deadline:
    """Shuts a connection down after a time, which wakes the thread that reads from it."""

    def __init__(self, connected: socket.socket, seconds: float) -> None:
        self._socket, self._seconds = connected, seconds
        self._done, self._passed = runtime.Event(), False

    def __enter__(self) -> '_Deadline':
        self._socket.settimeout(self._seconds)
        self._watcher = runtime.spawn(self._watch)
        return self

    def __exit__(self, *_error: object) -> None:
        self._done.set()
        self._watcher.join()

    def _watch(self) -> None:
        if runtime.wait(self._done, self._seconds):
            return
        self._passed = True
        # The service may have closed the connection just before.
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def check(self, error: Exception | None) -> None:
        """Raise ValueError if the time has passed. error: what the reader found then"""
        if self._passed:
            raise ValueError(f'the answer takes more than {self._seconds} s') from error
