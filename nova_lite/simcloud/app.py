"""The WSGI application: five services on one port, with one database."""

import contextlib
import hashlib
import logging

import falcon
import sqlalchemy as sa

from nova_lite.dialects import full_disks
from nova_lite.simcloud import database as databases
from nova_lite.simcloud import external_events
from nova_lite.simcloud import faults
from nova_lite.simcloud import middleware
from nova_lite.simcloud import options as settings_module
from nova_lite.simcloud import routing
from nova_lite.simcloud import seed
from nova_lite.simcloud.identity import catalog as catalogs
from nova_lite.simcloud.identity import routes as identity
from nova_lite.simcloud.identity import tokens as token_store
from nova_lite.simcloud.image import routes as image
from nova_lite.simcloud.network import plugging
from nova_lite.simcloud.network import routes as network
from nova_lite.simcloud.share import routes as share
from nova_lite.simcloud.volume import routes as volume

LOG = logging.getLogger(__name__)


def fingerprint():
    """Return a text that is another one if tables or columns of the services are others."""
    names = sorted(
        f'{table.name}.{column.name}'
        for table in databases.METADATA.tables.values()
        for column in table.columns
    )
    return hashlib.sha256(' '.join(names).encode()).hexdigest()[:16]


class Application(falcon.App):
    """The WSGI callable. `close` stops its thread and closes its connections."""

    def __init__(self, db, events, **kwargs):
        self.router = routing.Router()
        super().__init__(router=self.router, **kwargs)
        self._db, self._parts = db, (events, db)

    def compile_routes(self):
        """Do now what the first request would wait for."""
        self.router.find('/')

    def end(self):
        """Refuse all changes, before another application takes over the database."""
        self._db.end()

    def close(self):
        """Stop what runs behind the requests."""
        for part in self._parts:
            part.close()


def _answer(req, resp, fault):
    media_type, text = faults.body_of(fault, getattr(req.context, 'service', None))
    resp.status = fault.status
    resp.content_type = media_type
    resp.text = text
    resp.set_headers(fault.headers)


def _on_fault(req, resp, fault, _params):
    _answer(req, resp, fault)


def _on_bad_value(req, resp, error, _params):
    # A value of the right type that the database cannot hold, such as NUL in a query.
    LOG.info('%s %s: %s', req.method, req.path, error)
    _answer(req, resp, faults.BadRequest('A value in the request cannot be stored.'))


def _on_database_error(req, resp, error, params):
    if not full_disks.is_full(error.orig):
        _on_error(req, resp, error, params)
        return
    LOG.error('%s %s failed: %s', req.method, req.path, error.orig)
    text = 'The disk of the service is full. Free space on it, and repeat the request.'
    _answer(req, resp, faults.Unavailable(text))


def _on_error(req, resp, error, _params):
    LOG.error('%s %s failed', req.method, req.path, exc_info=error)
    _answer(req, resp, faults.Fault('The server could not complete the request.'))


def _on_http_error(req, resp, error):
    _answer(req, resp, faults.of_status(error.status_code, error.description or error.title))


def _fill(db, settings):
    with contextlib.ExitStack() as undo:
        undo.callback(db.close)
        db.create_tables()
        seed.seed(db, settings)
        undo.pop_all()


def make_app(database, public_url, *, options=None, is_new=True):
    """Return the WSGI callable (an Application) with the five services.

    database: path of a SQLite file or an SQLAlchemy URL; what is missing there is created
    public_url: scheme, host and port as clients see them, for the catalog
    options: None, a dict or options.Options
    is_new: whether tables and contents may be missing
    """
    settings = settings_module.make(options)
    public_url = public_url.rstrip('/')
    db = databases.Database(database)
    if is_new:
        _fill(db, settings)
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
    notices = external_events.Silent()
    if settings.compute_events:
        notices = external_events.Events(db, tokens, catalog.compute_url)
    app = _bare(db, notices, middleware.Identify(tokens, catalog, settings, public_url))
    identity.add(app, db, tokens, catalog, password_cost=settings.password_cost)
    image.add(app, db)
    network.add(app, db, notices, plugging.make(db, settings.port_rules, notices))
    volume.add(app, db, notices)
    share.add(app, db)
    app.compile_routes()
    return app


def _bare(db, notices, identify):
    """Return an Application without routes."""
    app = Application(
        db, notices, middleware=[identify, volume.VersionHeaders(), share.VersionHeaders()]
    )
    app.req_options.strip_url_path_trailing_slash = True
    app.add_error_handler(Exception, _on_error)
    app.add_error_handler(sa.exc.DBAPIError, _on_database_error)
    app.add_error_handler(sa.exc.DataError, _on_bad_value)
    app.add_error_handler(faults.Fault, _on_fault)
    app.set_error_serializer(_on_http_error)
    return app
