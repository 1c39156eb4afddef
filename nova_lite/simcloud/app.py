"""The WSGI application: five services on one port, with one database."""

from collections.abc import Iterable
from collections.abc import Mapping
import contextlib
import functools
import hashlib
import logging
import typing
from wsgiref import types as wsgi

import falcon
from falcon import routing as falcon_routing
import sqlalchemy as sa

from nova_lite.dialects import full_disks
from nova_lite.simcloud import database as databases
from nova_lite.simcloud import external_events
from nova_lite.simcloud import faults
from nova_lite.simcloud import middleware
from nova_lite.simcloud import options as settings_module
from nova_lite.simcloud import routing
from nova_lite.simcloud import seed
from nova_lite.simcloud import web
from nova_lite.simcloud.identity import catalog as catalogs
from nova_lite.simcloud.identity import lockout
from nova_lite.simcloud.identity import routes as identity
from nova_lite.simcloud.identity import tokens as token_store
from nova_lite.simcloud.image import routes as image
from nova_lite.simcloud.network import plugging
from nova_lite.simcloud.network import routes as network
from nova_lite.simcloud.share import routes as share
from nova_lite.simcloud.volume import routes as volume

# The user that sends events, and its project.
EVENT_SENDER = ('neutron', 'service')
# What SQLite says of about a thousand conditions.
TOO_LARGE = 'Expression tree is too large'
Params: typing.TypeAlias = dict[str, typing.Any]

LOG = logging.getLogger(__name__)


def fingerprint() -> str:
    """Return a hash of the names of all tables and columns of the services."""
    names = sorted(
        f'{table.name}.{column.name}'
        for table in databases.METADATA.tables.values()
        for column in table.columns
    )
    return hashlib.sha256(' '.join(names).encode()).hexdigest()[:16]


class Application:
    """The WSGI callable of the services, with their database and their sender of events."""

    def __init__(
        self,
        answer: routing.App,
        router: routing.Router,
        db: databases.Database,
        events: external_events.Sender,
    ) -> None:
        self.router = router
        self.answer, self._db, self._events = answer, db, events

    def __call__(
        self, environ: wsgi.WSGIEnvironment, start_response: wsgi.StartResponse
    ) -> Iterable[bytes]:
        return self.answer(environ, start_response)

    def end(self) -> None:
        """Refuse all changes, before another application takes over the database."""
        self._db.end()

    def close(self) -> None:
        """Stop the threads that send events, and close the connections to the database."""
        self._events.close()
        self._db.close()


def _answer(req: web.Request, resp: falcon.Response, fault: faults.Fault) -> None:
    media_type, text = faults.body_of(fault, getattr(req.context, 'service', None))
    resp.status = fault.status
    resp.content_type = media_type
    resp.text = text
    resp.set_headers(fault.headers)


def _on_fault(
    req: web.Request, resp: falcon.Response, fault: faults.Fault, _params: Params
) -> None:
    _answer(req, resp, fault)


def _on_bad_value(
    req: web.Request, resp: falcon.Response, error: sa.exc.DataError, _params: Params
) -> None:
    # A value of the right type that the database cannot store, such as NUL in a query.
    LOG.info('%s %s: %s', req.method, req.path, error)
    _answer(req, resp, faults.BadRequest('A value in the request cannot be stored.'))


def _on_database_error(
    req: web.Request, resp: falcon.Response, error: sa.exc.DBAPIError, params: Params
) -> None:
    if TOO_LARGE in str(error.orig):
        LOG.info('%s %s: %s', req.method, req.path, error.orig)
        _answer(req, resp, faults.BadRequest('The request has too many filters. Use fewer.'))
        return
    if error.orig is None or not full_disks.is_full(error.orig):
        _on_error(req, resp, error, params)
        return
    LOG.error('%s %s failed: %s', req.method, req.path, error.orig)
    text = 'The disk of the service is full. Free space on it, and repeat the request.'
    _answer(req, resp, faults.Unavailable(text))


def _on_error(req: web.Request, resp: falcon.Response, error: Exception, _params: Params) -> None:
    LOG.error('%s %s failed', req.method, req.path, exc_info=error)
    _answer(req, resp, faults.Fault('The server could not complete the request.'))


def _on_http_error(req: web.Request, resp: falcon.Response, error: falcon.HTTPError) -> None:
    _answer(req, resp, faults.of_status(error.status_code, error.description or error.title))


def _open(database: str, settings: settings_module.Options, is_new: bool) -> databases.Database:
    """Return a database. is_new: whether tables and contents may be missing"""
    db = databases.Database(database)
    if is_new:
        with contextlib.ExitStack() as undo:
            undo.callback(db.close)
            db.create_tables()
            seed.seed(db, settings)
            undo.pop_all()
    return db


def make_app(
    database: str,
    public_url: str,
    *,
    options: settings_module.Options | Mapping[str, typing.Any] | None = None,
    is_new: bool = True,
) -> Application:
    """Return the WSGI callable (an Application) with the five services.

    database: path of a SQLite file or an SQLAlchemy URL; missing tables are created there
    public_url: scheme, host and port as clients see them, for the catalog
    options: an options.Options or its fields; None: the defaults
    is_new: whether tables and contents may be missing
    """
    settings = settings_module.make(options)
    public_url = public_url.rstrip('/')
    db = _open(database, settings, is_new)
    catalog = catalogs.Catalog(
        public_url,
        region=settings.region,
        endpoints=settings.endpoints,
        internal_url=settings.internal_url,
    )
    tokens = token_store.Tokens(
        db,
        catalog,
        lifetime_s=settings.token_lifetime_s,
        expired_window_s=settings.expired_window_s,
    )
    notices: external_events.Sender = external_events.Silent()
    if settings.compute_events:
        identity_of = functools.partial(tokens.headers_of, *EVENT_SENDER)
        notices = external_events.Events(catalog.compute_url, identity_of)
    router = routing.Router()
    identify = middleware.Identify(tokens, catalog, settings, public_url=public_url, routes=router)
    app = _bare(router, identify)
    passwords = lockout.Passwords(
        db, settings.lockout_failure_attempts, settings.lockout_duration_s
    )
    identity.add(
        app, db, tokens, catalog, password_cost=settings.password_cost, passwords=passwords
    )
    image.add(app, db)
    network.add(app, db, notices, plugging.make(db, settings.port_rules, notices))
    volume.add(app, db, notices)
    share.add(app, db)
    # Compiled now, not while the first request waits.
    router.find('/')
    return Application(app, router, db, notices)


def _bare(router: routing.Router, identify: middleware.Identify) -> routing.App:
    """Return the falcon application without routes."""
    # Falcon takes any object with the methods of its router.
    routes = typing.cast(falcon_routing.CompiledRouter, router)
    app: routing.App = falcon.App(
        request_type=web.Request,
        response_type=falcon.Response,
        middleware=[identify, volume.VersionHeaders(), share.VersionHeaders()],
        router=routes,
    )
    app.req_options.strip_url_path_trailing_slash = True
    app.add_error_handler(Exception, _on_error)
    app.add_error_handler(sa.exc.DBAPIError, _on_database_error)
    app.add_error_handler(sa.exc.DataError, _on_bad_value)
    app.add_error_handler(faults.Fault, _on_fault)
    app.set_error_serializer(_on_http_error)
    return app
