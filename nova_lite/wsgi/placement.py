"""The real openstack-placement as a WSGI application.

Placement keeps its engine, its policy and its known traits in module globals, so a process serves
one placement at a time; a later `make_app` replaces an earlier application. This module assembles
the middleware instead of `placement.deploy`, because SQLite needs two further layers in the
middle, see `serial`.
"""

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
import functools
import typing
from wsgiref import types as wsgi

import jsonschema
from keystoneauth1 import loading
from keystonemiddleware import opts as authtoken
from microversion_parse import middleware as versions
from oslo_config import cfg
from oslo_db.sqlalchemy import enginefacade
from oslo_middleware import http_proxy_to_wsgi
from placement import auth
from placement import conf as options
from placement import db_api
from placement import deploy
from placement import fault_wrap
from placement import handler
from placement import microversion
from placement import policy
from placement import requestlog
from placement import util
import sqlalchemy

from nova_lite.api import tokens
from nova_lite.conf import keystone_authtoken
from nova_lite.db import rested
from nova_lite.db import transactions
from nova_lite.dialects import compiled
from nova_lite.dialects import lean
from nova_lite.dialects import mariadb
from nova_lite.dialects import mariadb_url
from nova_lite.dialects import sqlite_pool
from nova_lite.private_apis import placement as internals
from nova_lite.private_apis import placement_statements
from nova_lite.private_apis import sqlalchemy as sqlalchemy_internals
from nova_lite.wsgi import serial
from nova_lite.wsgi import whole

AUTH_STRATEGIES = {'keystone': 'keystone', 'noauth': 'noauth2', 'noauth2': 'noauth2'}
# Connections in the pool beyond two for each thread.
SPARE_CONNECTIONS = 4

Schema: typing.TypeAlias = Mapping[str, typing.Any]


class Application:
    """The WSGI application of placement on an SQLite file, which can be reset."""

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        self._conf = conf
        self.renew()

    def __call__(
        self, environ: wsgi.WSGIEnvironment, start_response: wsgi.StartResponse
    ) -> Iterable[bytes]:
        return self._application(environ, start_response)

    def end(self) -> None:
        """Wait for the request in progress. All other requests are refused until `renew`."""
        self._serial.end()

    def renew(self, *, atomic: bool = True) -> None:
        """Forget valid tokens and the names of traits and resource classes, and serve again.

        atomic: see `serial.Alone`
        """
        alone = functools.partial(serial.Alone, atomic=atomic)
        self._serial = serial.Serial(_handler(self._conf, alone))
        self._application = _with_users(self._conf, self._serial)


class Rooted:
    """Serves the root of the application also without a trailing slash."""

    def __init__(self, application: wsgi.WSGIApplication) -> None:
        self.application = application

    def __call__(
        self, environ: wsgi.WSGIEnvironment, start_response: wsgi.StartResponse
    ) -> Iterable[bytes]:
        environ['PATH_INFO'] = environ['PATH_INFO'] or '/'
        return self.application(environ, start_response)


class CompiledValidation:
    """The part of jsonschema that placement uses, with compiled schemas.

    `jsonschema.validate` checks the schema itself at every call, which is a
    third of the time of a claim. Placement's schemas are module constants.
    """

    ValidationError = jsonschema.ValidationError
    FormatChecker = jsonschema.FormatChecker

    def __init__(self) -> None:
        # By id of the schema. The pair holds the schema, so that ids stay unique.
        self.validators: dict[int, tuple[Schema, jsonschema.Draft202012Validator]] = {}

    def validate(
        self,
        instance: object,
        schema: Schema,
        format_checker: jsonschema.FormatChecker | None = None,
    ) -> None:
        """Raise the ValidationError that `jsonschema.validate` would raise."""
        known = self.validators.get(id(schema))
        if known is None:
            jsonschema.Draft202012Validator.check_schema(schema)
            validator = jsonschema.Draft202012Validator(schema, format_checker=format_checker)
            known = self.validators[id(schema)] = (schema, validator)
        error = jsonschema.exceptions.best_match(known[1].iter_errors(instance))
        if error is not None:
            raise error


# One for the process: an application that takes over from another finds its schemas compiled.
VALIDATION = CompiledValidation()


class KnownAliases:
    """The part of SQLAlchemy that placement uses, with cached aliases of tables.

    Placement makes aliases at every call, and the copies of the columns of tables take a fifth of
    the time of a request. An alias does not change once it has its columns.
    """

    def __getattr__(self, name: str) -> typing.Any:
        return getattr(sqlalchemy, name)

    @staticmethod
    @functools.cache
    def alias(table: sqlalchemy.Table, name: str) -> sqlalchemy.FromClause:
        made = sqlalchemy.alias(table, name=name)
        # Makes the columns now, before other threads share the alias.
        made.c.keys()
        return made


def make_app(
    database_url: str,
    *,
    auth_strategy: str = 'keystone',
    keystone: Mapping[str, object] | None = None,
    threads: int = 16,
    sync: bool = True,
    files: Iterable[str] = (),
) -> wsgi.WSGIApplication:
    """Return the placement application.

    database_url:  SQLAlchemy URL; SQLite only with one process
    auth_strategy: keystone, or noauth where the token `admin` is an administrator
    keystone:      options of [keystone_authtoken] by name: auth_url, username, …
    threads:       number of threads that serve placement; sizes the pool of connections
    sync:          whether to bring the schema up to date; of several processes, only one should
    files:         configuration files to read before these arguments are applied
    """
    conf = make_conf(database_url, auth_strategy, keystone=keystone or {}, files=files)
    size_pool(conf, threads)
    use(conf)
    internals.forget_synced()
    conf.set_override('sync_on_startup', sync, group='placement_database')
    deploy.update_database(conf)
    if sqlalchemy.make_url(database_url).get_backend_name() == 'sqlite':
        return Application(conf)
    return assemble(conf)


def use(conf: cfg.ConfigOpts) -> None:
    """Configure placement's modules with the options of `conf` and their database."""
    internals.use_validation(VALIDATION)
    internals.use_sqlalchemy(KnownAliases())
    internals.know_resource_classes()
    placement_statements.use(lean)
    use_database(conf)
    policy.reset()
    policy.init(conf)


def make_conf(
    database_url: str,
    auth_strategy: str,
    *,
    keystone: Mapping[str, object],
    files: Iterable[str] = (),
) -> cfg.ConfigOpts:
    """Return placement's own options. No file is read but `files`."""
    conf = cfg.ConfigOpts()
    options.register_opts(conf)
    conf.set_override('connection', database_url, group='placement_database')
    conf([], project='placement', default_config_files=list(files), default_config_dirs=[])
    for group, opts in authtoken.list_auth_token_opts():
        conf.register_opts(opts, group=group)
    conf.register_opts(loading.get_auth_plugin_conf_options('password'), 'keystone_authtoken')
    conf.set_default('http_connect_timeout', keystone_authtoken.TIMEOUT_S, 'keystone_authtoken')
    conf.set_default('service_type', 'placement', 'keystone_authtoken')
    conf.set_override('auth_strategy', AUTH_STRATEGIES[auth_strategy], group='api')
    for name, value in keystone.items():
        conf.set_override(name, value, group='keystone_authtoken')
    return conf


def size_pool(conf: cfg.ConfigOpts, threads: int) -> None:
    """Set the sizes of the connection pool that the configuration files leave open.

    A claim that lost a race reads providers on a second connection while it holds its first
    connection. With fewer than two connections for each thread, threads that each hold one
    connection would wait for each other until the pool times out.
    """
    sizes = {'max_pool_size': threads, 'max_overflow': threads + SPARE_CONNECTIONS}
    for name, size in sizes.items():
        if conf.placement_database[name] is None:
            conf.set_override(name, size, group='placement_database')


def assemble(conf: cfg.ConfigOpts) -> wsgi.WSGIApplication:
    """Return placement inside its middleware, in the order of `placement.deploy`.

    The lock of an `Application` lies within authentication: the check of a token asks Keystone,
    which in the embedded mode may need the threads that wait for the lock.
    """
    return _with_users(conf, _handler(conf, lambda inner: whole.Whole(inner, whole.PARTS)))


def _handler(conf: cfg.ConfigOpts, around: Callable[[whole.Inner], whole.Inner]) -> whole.Inner:
    """Return the application without authentication.

    around: puts the innermost middleware around an application
    """
    application = handler.PlacementHandler(config=conf)
    application = versions.MicroversionMiddleware(
        application,
        microversion.SERVICE_TYPE,
        microversion.VERSIONS,
        json_error_formatter=util.json_error_formatter,
    )
    handled: whole.Inner = fault_wrap.FaultWrapper(around(application))
    return handled


def _with_users(conf: cfg.ConfigOpts, inner: whole.Inner) -> wsgi.WSGIApplication:
    application = auth.PlacementKeystoneContext(inner)
    if conf.api.auth_strategy == 'noauth2':
        application = auth.NoAuthMiddleware(application)
    else:
        application = tokens.Checked(
            application,
            lambda inner, **options: auth.filter_factory({}, oslo_config_config=conf, **options)(
                inner
            ),
            cache_s=conf.keystone_authtoken.token_cache_time,
        )
    application = requestlog.RequestLog(application)
    conf.register_opts(http_proxy_to_wsgi.OPTS, 'oslo_middleware')
    if conf.oslo_middleware.enable_proxy_headers_parsing:
        application = http_proxy_to_wsgi.HTTPProxyToWSGI(application, conf)
    return Rooted(application)


def use_database(conf: cfg.ConfigOpts) -> None:
    """Make placement use the database of `conf` instead of the one that it used before."""
    settings = dict(conf.placement_database)
    del settings['sync_on_startup']
    url = mariadb_url.completed(sqlalchemy.make_url(settings['connection']))
    settings['connection'] = url.render_as_string(hide_password=False)
    manager = enginefacade.transaction_context()
    # Within `whole.Whole` transactions are parts of a larger transaction. There are no greenlets.
    manager.configure(flush_on_subtransaction=True, thread_checkin=False, **settings)
    db_api.placement_context_manager.dispose_pool()
    db_api.placement_context_manager.patch_factory(manager)
    engine = db_api.get_placement_engine()
    compiled.share(engine)
    mariadb.use(engine)
    if engine.dialect.name == 'sqlite':
        keep_connections(engine)
    else:
        spare_messages(engine)
        set_isolation(engine)
    if engine.dialect.driver == 'psycopg':
        give_row_ids(engine)


def spare_messages(engine: sqlalchemy.Engine) -> None:
    """Make the engine send a server nothing but statements and the ends of transactions.

    oslo.db's engine tries each connection before each use, and its pool rolls the connection back
    after each use. Placement ends each transaction itself; a connection on which that failed is
    not used again. The connection that was used last is used next, as by
    `nova_lite.db.transactions`.
    """
    sqlalchemy_internals.trust_connections(engine)
    sqlalchemy_internals.use_last_first(engine)
    rested.try_first(engine)

    def doubt(context: sqlalchemy.ExceptionContext) -> None:
        if context.statement is None and context.connection is not None:
            context.is_disconnect, context.invalidate_pool_on_disconnect = True, False

    # Called before oslo.db's function, which raises.
    sqlalchemy.event.listen(engine, 'handle_error', doubt, insert=True)


def set_isolation(engine: sqlalchemy.Engine) -> None:
    """Set the isolation level of each connection, also if its URL sets another level.

    A claim of a new consumer first deletes allocations that do not exist: at MariaDB's default
    level two such claims lock each other's gap, and placement must repeat one claim. Generations
    guard all other requests.
    """

    @sqlalchemy.event.listens_for(engine, 'connect')
    def connect(connection: typing.Any, _record: object) -> None:
        engine.dialect.set_isolation_level(connection, transactions.ISOLATION)

    engine.dispose()


def keep_connections(engine: sqlalchemy.Engine) -> None:
    """Make an SQLite engine pool its connections, in WAL mode.

    oslo.db opens a connection for each transaction, and a claim has six transactions. WAL with
    synchronous=NORMAL loses nothing when the process is killed.
    """
    args, kwargs = engine.dialect.create_connect_args(engine.url)

    def connect() -> typing.Any:
        connection = engine.dialect.connect(*args, **kwargs)
        connection.isolation_level = None  # oslo.db emits the BEGIN
        connection.execute('PRAGMA journal_mode = WAL')
        connection.execute('PRAGMA synchronous = NORMAL')
        return connection

    engine.dispose()
    engine.pool = sqlite_pool.Pool(connect, dialect=engine.dialect)


@functools.cache
def _with_row_ids(cursors: type) -> type:
    """Return a class of cursors with the attribute lastrowid, which placement reads.

    Placement does not use its value. psycopg 2 had the attribute; PostgreSQL no longer has such
    ids.
    """
    return type('Cursor', (cursors,), {'lastrowid': None})


def give_row_ids(engine: sqlalchemy.Engine) -> None:
    """Enable placement to write allocations through psycopg 3."""

    @sqlalchemy.event.listens_for(engine, 'connect')
    def connect(connection: typing.Any, _record: object) -> None:
        connection.cursor_factory = _with_row_ids(connection.cursor_factory)

    engine.dispose()
