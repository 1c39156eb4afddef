"""The viewer of consoles of simulated guests, at the URLs that the compute API returns.

Simulated guests have no display. The viewer shows the log of a guest to who has the token of its
console. It may be shown inside another page, as Horizon does.
"""

from collections.abc import Callable
from collections.abc import Iterable
import http
import json
import typing
import urllib.parse
from wsgiref import types as wsgi

from nova_lite import exception
from nova_lite import runtime
from nova_lite.api import faults
from nova_lite.lab.page import admission
from nova_lite.lab.page import app

PREFIX, LOG = '/console/', 'log'
# As the pages of the proxies of noVNC and of SPICE are called.
VNC, SPICE = 'vnc_auto.html', 'spice_auto.html'
# {name below PREFIX: file of the page}
FILES = {
    VNC: 'console.html',
    SPICE: 'console.html',
    **{name: name for name in ('console.js', 'icon.svg', 'page.css')},
}
POLICY = admission.POLICY.replace("frame-ancestors 'none'", 'frame-ancestors *')
HEADERS = (
    ('Cache-Control', 'no-store'),
    ('Content-Security-Policy', POLICY),
    ('Referrer-Policy', 'no-referrer'),
    ('X-Content-Type-Options', 'nosniff'),
)
# Logs that are read at the same time. Each needs a second thread of the server, for the API.
READERS = 2
WAIT_S = 2.0

# A function from the token of a console to {server, output}.
Read: typing.TypeAlias = Callable[[str], dict[str, typing.Any]]


class Console:
    """The WSGI application, in front of others. read: raises NotFound, Unavailable"""

    def __init__(self, application: wsgi.WSGIApplication, read: Read) -> None:
        self._application, self._read = application, read
        self._places = runtime.Semaphore(READERS)

    def __call__(
        self, environ: wsgi.WSGIEnvironment, start_response: wsgi.StartResponse
    ) -> Iterable[bytes]:
        path = environ.get('PATH_INFO', '')
        if not path.startswith(PREFIX):
            return self._application(environ, start_response)
        answer = self._answer(path.removeprefix(PREFIX), environ)
        return app.send(environ, start_response, answer, HEADERS)

    def _answer(self, name: str, environ: wsgi.WSGIEnvironment) -> app.Answer:
        if environ['REQUEST_METHOD'] not in app.METHODS:
            allowed = ' and '.join(app.METHODS)
            status = http.HTTPStatus.METHOD_NOT_ALLOWED
            return app.refuse(
                status, f'Consoles answer to {allowed} alone.', Allow=', '.join(app.METHODS)
            )
        if name in FILES:
            return app.files()[FILES[name]]
        if name != LOG:
            return app.refuse(http.HTTPStatus.NOT_FOUND, f'There is no {PREFIX}{name}.')
        if not self._places.acquire(timeout=WAIT_S):
            return app.later('Too many consoles are read at the same time.')
        try:
            query = dict(urllib.parse.parse_qsl(environ.get('QUERY_STRING', '')))
            found = self._read(query.get('token', ''))
            return app.Answer(json.dumps(found).encode(), app.JSON)
        except exception.NovaLiteError as error:
            return app.refuse(http.HTTPStatus(faults.CODES[error.kind]), error.message)
        finally:
            self._places.release()
