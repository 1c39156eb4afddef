"""The WSGI application: routes from the registry, errors to answers, request ids."""

from collections.abc import Iterable
from collections.abc import Mapping
import functools
import typing
import urllib.parse
from wsgiref import types as wsgi

import falcon
from falcon import routing
from oslo_config import cfg
from oslo_log import log

from nova_lite import cells as deployment
from nova_lite import metrics
from nova_lite import runtime
from nova_lite.api import app as state
from nova_lite.api import authentication
from nova_lite.api import dispatch
from nova_lite.api import faults
from nova_lite.api import microversion
from nova_lite.api import operation
from nova_lite.api import proxy_headers
from nova_lite.api import request_log
from nova_lite.api import version_documents
from nova_lite.clients import neighbours
from nova_lite.db import transactions
from nova_lite.rpc.methods import super_conductor as super_rpc

LOG = log.getLogger(__name__)

# URL prefix, id of its version document, whether it is served as v2.0 was.
ROOTS = (('/v2.1', 'v2.1', False), ('/v2', 'v2.0', True))
REQUEST_ID_HEADERS = ('X-OpenStack-Request-ID', 'X-Compute-Request-ID')


def make_app(
    conf: cfg.ConfigOpts,
    *,
    api_db: transactions.Database,
    cells: deployment.Cells,
    clients: neighbours.Neighbours,
    super_conductor: super_rpc.SuperConductorAPI,
    compute: state.Compute | None = None,
) -> 'Application':
    """Return the compute API as a WSGI callable; its `app.App` is its attribute `app`.

    compute: function from a Cell to a ComputeAPI client; default: on its bus
    """
    app = state.App(
        conf,
        api_db=api_db,
        cells=cells,
        clients=clients,
        super_conductor=super_conductor,
        compute=compute,
    )
    return Application(app)


class Application:
    """The outermost WSGI callable: sets request ids, checks tokens, then dispatches."""

    def __init__(self, app: state.App) -> None:
        self.app = app
        inner = authentication.protect(app.conf, _falcon(app), version_documents.is_open)
        self._inner = proxy_headers.apply(app.conf, _preflight(inner))

    def __call__(
        self, environ: wsgi.WSGIEnvironment, start_response: wsgi.StartResponse
    ) -> Iterable[bytes]:
        request_id = authentication.new_request_id(environ)
        started = runtime.monotonic()

        def start(
            status: str, headers: list[tuple[str, str]], exc_info: typing.Any = None
        ) -> typing.Any:
            headers = [*headers, *((name, request_id) for name in REQUEST_ID_HEADERS)]
            LOG.info(
                '%s "%s %s" status: %s time: %.4f',
                request_id,
                environ['REQUEST_METHOD'],
                urllib.parse.quote(request_log.path_of(environ), encoding='latin-1'),
                status[:3],
                runtime.monotonic() - started,
            )
            return start_response(status, headers, exc_info)

        try:
            return self._inner(environ, start)
        except Exception:
            # What follows is the server's 500; falcon has answered what its handlers raised.
            LOG.exception('%s: the request failed while its token was checked', request_id)
            raise


def _preflight(application: wsgi.WSGIApplication) -> wsgi.WSGIApplication:
    """Return the application, with the answers of nova's filter for CORS without allowed origins.

    It asks the API, and hides the operations that the API refuses.
    """

    def answer(
        environ: wsgi.WSGIEnvironment, start_response: wsgi.StartResponse
    ) -> Iterable[bytes]:
        is_document = environ.get('PATH_INFO', '') in version_documents.PATHS
        if environ['REQUEST_METHOD'] != 'OPTIONS' or is_document:
            return application(environ, start_response)
        start_response('200 OK', [('Content-Type', 'text/html'), ('Content-Length', '0')])
        return []

    return answer


# In quotes: the class of falcon 4.1.0 takes no types.
def _falcon(app: state.App) -> 'falcon.App[falcon.Request, falcon.Response]':
    """Return the falcon application with every operation's route."""
    inner = falcon.App(middleware=[_Caller(app)], router=router())
    inner.req_options.keep_blank_qs_values = True
    inner.req_options.auto_parse_qs_csv = False
    errors = _Errors(app)
    inner.add_error_handler(Exception, errors)
    inner.add_error_handler(falcon.HTTPError, errors)
    return inner


@functools.cache
def router() -> routing.CompiledRouter:
    """Return the routes. All applications of a process share them: they take long to make."""
    made = routing.CompiledRouter()
    by_path: dict[str, list[operation.Operation]] = {}
    for each in operation.load_all():
        by_path.setdefault(each.path, []).append(each)
    endpoints = {path: dispatch.Endpoint(operations) for path, operations in by_path.items()}
    _inherit_methods(endpoints)
    for prefix, name, _legacy in ROOTS:
        for root in (prefix, prefix + '/'):
            made.add_route(root, version_documents.Document(name))
        made.add_route(prefix + '/{project_id}/', version_documents.ProjectDocument(name))
        for path, endpoint in endpoints.items():
            made.add_route(prefix + path, endpoint)
            made.add_route(prefix + '/{project_id}' + path, endpoint)
    # Compiled now, not while the first request waits.
    made.add_route('/', version_documents.Document(), compile=True)
    return made


def _inherit_methods(endpoints: Mapping[str, dispatch.Endpoint]) -> None:
    """Route `PUT /servers/detail` to `PUT /servers/{id}`: each of nova's routes has a method."""
    by_parent = {}
    for path, endpoint in endpoints.items():
        parent, _slash, last = path.rpartition('/')
        if last.startswith('{'):
            by_parent[parent] = (last.strip('{}'), endpoint)
    for path, endpoint in endpoints.items():
        parent, _slash, last = path.rpartition('/')
        if parent in by_parent and not last.startswith('{'):
            name, other = by_parent[parent]
            endpoint.inherit(other, **{name: last})


class _Caller:
    """Falcon middleware: the application, caller and microversion in each request's context."""

    def __init__(self, app: state.App) -> None:
        self._app = app

    def process_request(self, http: falcon.Request, _response: falcon.Response) -> None:
        http.context.app = self._app
        http.context.started = runtime.monotonic()
        http.context.version = None
        http.context.operation = None
        # Like nova's routes, which take a line break at the end for the end of a line.
        if http.path.endswith('\n') and not http.path.endswith('/\n'):
            http.path = http.path[:-1]
        path = http.path
        http.context.legacy = path.startswith('/v2/')
        if not version_documents.is_open(http.env):
            http.context.ctxt = authentication.context_of(
                self._app.conf, http.env, self._app.policy
            )

    def process_resource(
        self,
        http: falcon.Request,
        response: falcon.Response,
        resource: object,
        params: Mapping[str, str],
    ) -> None:
        """Choose the version of a request that has a route.

        Nova routes by path and method together, and no part of a path is empty.
        """
        if not hasattr(resource, f'on_{http.method.lower()}') or not all(params.values()):
            raise faults.NoRoute()
        if http.context.legacy:
            http.context.version = microversion.MINIMUM
        elif f'{http.path}/'.startswith('/v2.1/'):
            http.context.version = _negotiate(http, response)
            dispatch.version_headers(response, http.context.version)

    def process_response(
        self, http: falcon.Request, response: falcon.Response, _resource: object, _succeeded: bool
    ) -> None:
        chosen = http.context.operation
        labels = {'operation': str(chosen or 'none'), 'code': str(response.status_code)}
        seconds = runtime.monotonic() - http.context.started
        metrics.API.labels(**labels).observe(seconds)
        if self._app.request_log is not None:
            self._app.request_log.write(http, response, seconds)


def _negotiate(http: falcon.Request, response: falcon.Response) -> microversion.Version:
    """Return the requested version. The answer to a refused version has the version headers too."""
    given = {
        name: value
        for name in (microversion.HEADER, microversion.LEGACY_HEADER)
        if (value := http.get_header(name)) is not None
    }
    try:
        return microversion.negotiate(given)
    except microversion.NotAcceptable as error:
        dispatch.version_headers(response, error.kwargs['version'])
        raise


class _Errors:
    """Answers requests whose handling has raised an error."""

    def __init__(self, app: state.App) -> None:
        self._app = app

    def __call__(
        self,
        http: falcon.Request,
        response: falcon.Response,
        error: Exception,
        _params: Mapping[str, str],
    ) -> None:
        if _is_no_version(http, error):
            version_documents.choices(self._app.conf, http, response)
            return
        if isinstance(error, falcon.HTTPRouteNotFound):
            error = faults.NoRoute()
        code, message = faults.describe(error)
        chosen = http.context.operation
        if dispatch.undeclared(chosen, error, code):
            LOG.warning('Operation %s answered with the undeclared status %s', chosen, code)
            self._app.undeclared.append((str(chosen), code))
        response.status = code
        retry_after_s = getattr(error, 'retry_after_s', None)
        if retry_after_s is not None:
            response.set_header('Retry-After', str(retry_after_s))
        if isinstance(error, faults.NoRoute):
            answer = faults.unrouted(http.env)
            response.content_type, response.data = answer.headers['Content-Type'], answer.body
        else:
            response.content_type = faults.MEDIA
            response.data = faults.body_of(code, message).encode()
        response.text = None


def _is_no_version(http: falcon.Request, error: Exception) -> bool:
    return isinstance(error, falcon.HTTPRouteNotFound) and not http.path.startswith(
        ('/v2/', '/v2.1/')
    )
