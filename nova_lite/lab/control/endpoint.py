"""The control endpoint: changes of a running cloud that its users cannot request.

The endpoint is local: it listens on loopback, on a separate port. So it also answers while all
threads of the APIs are busy. Only the process of `nova-lite up` opens it, never a daemon that a
service manager starts.
"""

from collections.abc import Callable
from collections.abc import Mapping
import http
import json
import typing
import urllib.parse
from wsgiref import types as wsgi

from oslo_log import log

from nova_lite import exception
from nova_lite.api import faults
from nova_lite.api import schema as schemas
from nova_lite.api import schema_parts
from nova_lite.daemons import local_endpoint
from nova_lite.lab.console import messages

LOG = log.getLogger(__name__)

PREFIX = '/control/'
MAX_BODY = 1 << 20
NO_ARGUMENTS = schema_parts.whole({})

# The arguments of a request, or its answer.
Json: typing.TypeAlias = dict[str, typing.Any]
# A function from the arguments of a request to the value that answers it, as JSON.
Handler: typing.TypeAlias = Callable[[Json], object]


class NoSuchPath(exception.NotFound):
    msg = '%(method)s %(path)s does not exist. Use one of: %(known)s.'


class NotJson(exception.NovaLiteError):
    kind = 'media_type'
    msg = 'The Content-Type of a request with a body must be application/json, not %(found)s.'


class TooLarge(exception.NovaLiteError):
    kind = 'too_large'
    msg = f'The body must have at most {MAX_BODY} bytes.'


class Endpoint(local_endpoint.LocalEndpoint):
    """Calls the handler of METHOD /control/NAME. Add all handlers before `open`.

    lacking: why paths of other clouds do not exist; None if this cloud has all
    unable: {ability that `abilities` names: why the cloud lacks it}, for GET /control/abilities
    """

    name = 'control'
    threads = 4

    def __init__(
        self,
        state_path: str,
        *,
        lacking: str | None = None,
        unable: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(state_path)
        self._lacking = lacking
        self._handlers: dict[tuple[str, str], tuple[Handler, schemas.Schema]] = {}
        self.add('GET', 'abilities', lambda _arguments: {'lacking': dict(unable or {})})

    def add(
        self, method: str, name: str, handler: Handler, *, schema: schemas.Source = NO_ARGUMENTS
    ) -> None:
        """Answer METHOD /control/NAME with the result of handler(arguments), as JSON.

        arguments: from the JSON body; of a GET from the query string, as strings
        schema: JSON schema of the arguments
        The kind of an error that the handler raises decides the status: `api.faults.CODES`.
        """
        compiled = schemas.Schema(schema, place='argument')
        self._handlers[method, PREFIX + name] = handler, compiled

    def answer(self, environ: wsgi.WSGIEnvironment) -> local_endpoint.Answer:
        method, path = environ['REQUEST_METHOD'], environ.get('PATH_INFO', '')
        try:
            found = self._call(method, path, environ)
        except exception.NovaLiteError as error:
            status = http.HTTPStatus(faults.CODES[error.kind])
            LOG.info('Control request %s %s was refused: %s', method, path, error)
            return local_endpoint.as_json(status, {'error': messages.of(error)})
        except Exception as error:
            LOG.exception('Unexpected error in control request %s %s', method, path)
            text = f'Unexpected {type(error).__name__}. The log of the cloud has its traceback.'
            return local_endpoint.as_json(http.HTTPStatus.INTERNAL_SERVER_ERROR, {'error': text})
        return local_endpoint.as_json(http.HTTPStatus.OK, found)

    def _call(self, method: str, path: str, environ: wsgi.WSGIEnvironment) -> object:
        if (method, path) not in self._handlers:
            if self._lacking is not None:
                raise exception.NotImplementedHere(reason=self._lacking)
            known = ', '.join(' '.join(key) for key in sorted(self._handlers))
            raise NoSuchPath(method=method, path=path, known=known)
        handler, schema = self._handlers[method, path]
        arguments = _query(environ) if method == 'GET' else _body(environ)
        schema.check(arguments)
        if method != 'GET':
            LOG.info('Control request %s %s: %s', method, path, arguments)
        return handler(arguments)


def _query(environ: wsgi.WSGIEnvironment) -> Json:
    return dict(urllib.parse.parse_qsl(environ.get('QUERY_STRING', ''), keep_blank_values=True))


def _body(environ: wsgi.WSGIEnvironment) -> Json:
    """Return the JSON object in the body of a request, {} without a body."""
    raw = environ['wsgi.input'].read(MAX_BODY + 1)
    if len(raw) > MAX_BODY:
        raise TooLarge()
    if not raw:
        return {}
    kind = environ.get('CONTENT_TYPE', '').partition(';')[0].strip().lower()
    if kind != 'application/json':
        raise NotJson(found=kind or 'nothing')
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise exception.Invalid(reason=f'the body is not JSON: {error}') from error
    if not isinstance(found, dict):
        raise exception.Invalid(reason='the body must be a JSON object')
    return found
