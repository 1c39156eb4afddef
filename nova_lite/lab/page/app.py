"""The live page over HTTP: in front of a cloud's services, on their port.

`/` is the page for a browser, and what the services answer for others. `/page/...` are its
parts, its data as JSON (events, hosts, servers and sagas), and in a lab its switches. All
else goes to the services.
"""

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
import functools
import http
import importlib.resources
import json
import pathlib
import typing
import urllib.parse

from oslo_log import log

from nova_lite import exception
from nova_lite import runtime
from nova_lite.api import faults
from nova_lite.lab.page import admission
from nova_lite.lab.page import details
from nova_lite.lab.page import feed as feed_module
from nova_lite.lab.page import lab

LOG = log.getLogger(__name__)

PREFIX = '/page/'
INDEX, EVENTS, MAP, WHY = 'index.html', 'events', 'map', 'why'
JSON = 'application/json'
METHODS = ('GET', 'HEAD')
HEADERS = (('Cache-Control', 'no-store'), ('Vary', 'Accept'), *admission.HEADERS)
# Whether there are switches; they are below it.
IS_OPEN, LAB = 'lab', 'lab/'
SWITCHES = tuple(f'{LAB}{name}' for name in lab.SWITCHES)
RESET = 'The cloud is being reset, or its reset failed: see `nova-lite status`.'
TYPES = {
    '.css': 'text/css; charset=utf-8',
    '.html': 'text/html; charset=utf-8',
    '.js': 'text/javascript; charset=utf-8',
    '.svg': 'image/svg+xml',
}
RETRY_AFTER_S = 2
# What lists may be asked for by.
LISTS = {'hosts': ('cell', 'zone', 'q'), 'servers': ('q', 'host')}
# Details that are read at the same time. More would be a load on the cloud.
READERS = 2
WAIT_S = 2.0

Environ: typing.TypeAlias = dict[str, typing.Any]
Json: typing.TypeAlias = dict[str, typing.Any]
Start: typing.TypeAlias = Callable[..., typing.Any]


class Answer(typing.NamedTuple):
    """data: the body; kind: its media type; more: headers besides those of each answer"""

    data: bytes
    kind: str
    status: http.HTTPStatus = http.HTTPStatus.OK
    more: tuple[tuple[str, str], ...] = ()


class _View(typing.NamedTuple):
    """places: of those who read details of the source"""

    source: details.Source
    feed: feed_module.Feed
    places: runtime.Semaphore


class Page:
    """The WSGI application. application: that of the services"""

    def __init__(self, application: Callable[[Environ, Start], Iterable[bytes]]) -> None:
        self._application = application
        self._files = files()
        self._seats = runtime.Semaphore(feed_module.MOST_VIEWERS)
        # None while the page is read-only.
        self.lab: lab.Lab | None = None
        # Of the daemons that run now; None while there are none.
        self._view: _View | None = None

    def renew(self, source: details.Source) -> None:
        """Show what `source` reads from now on. The former one must have ended."""
        self._view = _View(
            source, feed_module.Feed(source.document, self._seats), runtime.Semaphore(READERS)
        )

    def end(self) -> Callable[[], None]:
        """End all viewers, and answer 503 until `renew`.

        Return a function that closes the source.
        """
        view, self._view = self._view, None
        if view is None:
            return lambda: None
        view.feed.end()
        return functools.partial(_close, view)

    def __call__(self, environ: Environ, start_response: Start) -> Iterable[bytes]:
        """Answer a request."""
        path = environ.get('PATH_INFO', '')
        is_index = path in admission.ROOT and _wants_html(environ)
        if not (is_index or path.startswith(PREFIX)):
            return self._application(environ, start_response)
        name = INDEX if is_index else path.removeprefix(PREFIX)
        switches = self.lab if name in SWITCHES else None
        answer = _problem(environ, METHODS if switches is None else ('POST',))
        if answer is None and switches is not None:
            answer = _use(switches, name.removeprefix(LAB), environ)
        if answer is None:
            if name == EVENTS:
                return self._events(environ, start_response)
            answer = self._files.get(name) or self._details(name, environ)
        return send(environ, start_response, answer)

    def _events(self, environ: Environ, start_response: Start) -> Iterable[bytes]:
        view = self._view
        viewer = None if view is None else view.feed.watch()
        if viewer is None:
            text = RESET if view is None else f'{feed_module.MOST_VIEWERS} viewers are the most.'
            return send(environ, start_response, later(text))
        headers = [('Content-Type', 'text/event-stream'), ('Cache-Control', 'no-store')]
        try:
            start_response('200 OK', [*headers, *admission.HEADERS])
        except Exception:
            viewer.close()
            raise
        if environ['REQUEST_METHOD'] == 'HEAD':
            viewer.close()
            return []
        return viewer

    def _details(self, name: str, environ: Environ) -> Answer:
        if name == IS_OPEN:
            return Answer(json.dumps({'is_open': self.lab is not None}).encode(), JSON)
        view = self._view
        if view is None:
            return later(RESET)
        if not view.places.acquire(timeout=WAIT_S):
            return later('Too many requests for details are in progress.')
        try:
            found = _find(view.source, name, environ)
            # People read the others in a browser.
            text = json.dumps(found, indent=None if name == MAP else 1)
            return Answer(text.encode(), JSON)
        except exception.NovaLiteError as error:
            return refuse(http.HTTPStatus(faults.CODES[error.kind]), error.message)
        finally:
            view.places.release()


def _close(view: _View) -> None:
    """Close the source of a view that has ended, after the last reading from it."""
    view.feed.wait_ended()
    for _reader in range(READERS):
        view.places.acquire()
    view.source.close()


def _problem(environ: Environ, methods: tuple[str, ...]) -> Answer | None:
    """Return the refusal of a request, or None."""
    found = admission.problem(environ)
    if found is not None:
        LOG.info('A request for the live page was refused: %s', found)
        return refuse(http.HTTPStatus.FORBIDDEN, found)
    if environ['REQUEST_METHOD'] not in methods:
        text = f'The live page answers here to {" and ".join(methods)} alone.'
        return refuse(http.HTTPStatus.METHOD_NOT_ALLOWED, text, Allow=', '.join(methods))
    return None


def _use(switches: lab.Lab, name: str, environ: Environ) -> Answer:
    """Return the answer of a switch."""
    found = switches.problem(environ)
    if found is not None:
        LOG.warning('A switch of the live page was refused: %s', found)
        return refuse(http.HTTPStatus.FORBIDDEN, found)
    status, data = switches.use(name, environ)
    return Answer(data, JSON, status)


def _find(source: details.Source, name: str, environ: Environ) -> Json:
    """Return the details with a name. Raise NotFound, Invalid."""
    kind, _slash, key = name.partition('/')
    query = dict(urllib.parse.parse_qsl(environ.get('QUERY_STRING', '')))
    if any('\0' in value for value in (name, *query.values())):
        # PostgreSQL refuses it, with an error of its own.
        raise exception.Invalid(reason='a name or UUID cannot contain a null character')
    if name in LISTS:
        unknown = sorted(query.keys() - set(LISTS[name]))
        if unknown:
            raise exception.Invalid(
                reason=f'{name} takes {", ".join(LISTS[name])}, and not {", ".join(unknown)}'
            )
        return source.hosts(**query) if name == 'hosts' else source.servers(**query)
    if kind == 'servers' and key:
        return source.server(key)
    if name == MAP:
        return source.map()
    if kind == WHY and key:
        return source.why(key)
    if kind == 'sagas' and key:
        return source.saga(key)
    raise exception.NotFound(f'The live page has no {PREFIX}{name}.')


def _wants_html(environ: Environ) -> bool:
    """Return whether a browser asks: API clients accept anything, or JSON."""
    return any(
        part.partition(';')[0].strip().lower() == 'text/html'
        for part in environ.get('HTTP_ACCEPT', '').split(',')
    )


@functools.cache
def files() -> Mapping[str, Answer]:
    """Return {name: Answer} of the files of the page."""
    return {
        each.name: Answer(each.read_bytes(), kind)
        for each in importlib.resources.files(__package__).joinpath('static').iterdir()
        if (kind := TYPES.get(pathlib.PurePath(each.name).suffix))
    }


def refuse(status: http.HTTPStatus, text: str, **more: str) -> Answer:
    """Return an error. more: headers, with underscores in the place of hyphens"""
    headers = tuple((name.replace('_', '-'), value) for name, value in more.items())
    return Answer(json.dumps({'error': text}).encode(), JSON, status, headers)


def later(text: str) -> Answer:
    """Return the refusal of a request that may be repeated."""
    return refuse(http.HTTPStatus.SERVICE_UNAVAILABLE, text, Retry_After=str(RETRY_AFTER_S))


def send(
    environ: Environ,
    start_response: Start,
    answer: Answer,
    more: Iterable[tuple[str, str]] = HEADERS,
) -> Iterable[bytes]:
    """Send an answer. more: the headers that each answer has"""
    headers = [
        ('Content-Type', answer.kind),
        ('Content-Length', str(len(answer.data))),
        *more,
        *answer.more,
    ]
    start_response(f'{answer.status.value} {answer.status.phrase}', headers)
    return [] if environ['REQUEST_METHOD'] == 'HEAD' else [answer.data]
