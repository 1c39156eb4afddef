"""The real openstack-placement as a WSGI application.

Nothing of placement is replaced. Over a database server the application is the one that
`placement.deploy.loadapp` returns. Over SQLite the same middleware is put together here in the same
order, because one more is needed in the middle, see `serial`. An embedded cloud may ask for
changes on top, see `nova_lite.lab.tuned_placement`.

Placement keeps its engine, its policy and its known traits in module globals, so a process serves
one placement at a time; a later `make_app` replaces an earlier one.
"""

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
import functools
import typing
from wsgiref import types as wsgi

from keystoneauth1 import loading
from keystonemiddleware import opts as authtoken
from microversion_parse import middleware as versions
from oslo_config import cfg
from oslo_db.sqlalchemy import enginefacade
import oslo_middleware
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

from nova_lite.conf import keystone_authtoken
from nova_lite.daemons.wsgi import serial
from nova_lite.dialects import mariadb_url
from nova_lite.private_apis import placement as internals

# {(group, option of placement): default here}. A query for six of eight GPUs of one host has 20,160
# candidates, all of which placement would make before it cuts their list. It makes candidates of
# all hosts by turns, so that each host has some.
BOUNDS = {
    ('placement', 'max_allocation_candidates'): 10_000,
    ('placement', 'allocation_candidates_generation_strategy'): 'breadth-first',
    ('workarounds', 'optimize_for_wide_provider_trees'): True,
}
AUTH_STRATEGIES = {'keystone': 'keystone', 'noauth': 'noauth2', 'noauth2': 'noauth2'}
# Connections in the pool beyond two for each thread.
SPARE_CONNECTIONS = 4


class Tuning(typing.Protocol):
    """Changes of placement over SQLite in one process.

    engine_options: for `enginefacade`, beside those of placement's configuration
    """

    engine_options: Mapping[str, typing.Any]

    def apply(self) -> None:
        """Change placement's modules."""
        ...

    def undo(self) -> None:
        """Give placement's modules their own functions back."""
        ...

    def connect(self, engine: sqlalchemy.Engine) -> None:
        """Change the connections of placement's engine, which has made none yet."""
        ...

    def around(self, application: wsgi.WSGIApplication) -> wsgi.WSGIApplication:
        """Return a middleware around placement's own application, within the lock."""
        ...

    def check_tokens(
        self, application: wsgi.WSGIApplication, conf: cfg.ConfigOpts
    ) -> wsgi.WSGIApplication:
        """Return an application inside the layer that checks tokens."""
        ...


class Application:
    """The WSGI application of placement over an SQLite file, which can be reset."""

    def __init__(self, conf: cfg.ConfigOpts, tuning: Tuning | None = None) -> None:
        self._conf, self._tuning = conf, tuning
        self.renew()

    def __call__(
        self, environ: wsgi.WSGIEnvironment, start_response: wsgi.StartResponse
    ) -> Iterable[bytes]:
        return self._application(environ, start_response)

    def end(self) -> None:
        """Wait for the request in progress. All other requests are refused until `renew`."""
        self._serial.end()

    def renew(self) -> None:
        """Forget valid tokens, and what `tuning` keeps of the database, and serve again."""
        around = _nothing if self._tuning is None else self._tuning.around
        check = _check_tokens if self._tuning is None else self._tuning.check_tokens
        self._serial = serial.Serial(fault_wrap.FaultWrapper(around(_versioned(self._conf))))
        self._application = _outer(_with_users(self._serial, self._conf, check))


class Rooted:
    """Serves the root of the application also without a trailing slash."""

    def __init__(self, application: wsgi.WSGIApplication) -> None:
        self.application = application

    def __call__(
        self, environ: wsgi.WSGIEnvironment, start_response: wsgi.StartResponse
    ) -> Iterable[bytes]:
        environ['PATH_INFO'] = environ['PATH_INFO'] or '/'
        return self.application(environ, start_response)


def make_app(
    database_url: str,
    *,
    auth_strategy: str = 'keystone',
    keystone: Mapping[str, typing.Any] | None = None,
    threads: int = 16,
    sync: bool = True,
    tuning: Tuning | None = None,
) -> typing.Any:
    """Return the placement application.

    database_url:  SQLAlchemy URL; SQLite only with one process
    auth_strategy: keystone, or noauth where the token `admin` is an administrator
    keystone:      options of [keystone_authtoken] by name: auth_url, username, …
    threads:       number of threads that serve placement; sizes the pool of connections
    sync:          whether to bring the schema up to date; of several processes, only one should
    tuning:        changes of placement, over SQLite only; None for none
    """
    is_sqlite = sqlalchemy.make_url(database_url).get_backend_name() == 'sqlite'
    if tuning is not None and not is_sqlite:
        raise ValueError('placement is tuned over SQLite only')
    conf = make_conf(database_url, auth_strategy, keystone=keystone or {})
    size_pool(conf, threads)
    use(conf, tuning)
    internals.forget_synced()
    conf.set_override('sync_on_startup', sync, group='placement_database')
    if not is_sqlite:
        return Rooted(deploy.loadapp(conf))
    deploy.update_database(conf)
    return Application(conf, tuning)


# Of the application that this process serves.
_in_use: list[Tuning] = []


def use(conf: cfg.ConfigOpts, tuning: Tuning | None = None) -> None:
    """Configure placement's modules with the options of `conf` and their database.

    The changes of a former application of this process are undone.
    """
    while _in_use:
        _in_use.pop().undo()
    if tuning is not None:
        _in_use.append(tuning)
        tuning.apply()
    use_database(conf, tuning)
    policy.reset()
    policy.init(conf)


def make_conf(
    database_url: str, auth_strategy: str, *, keystone: Mapping[str, typing.Any]
) -> cfg.ConfigOpts:
    """Return placement's own options, with nothing read from its usual places."""
    conf = cfg.ConfigOpts()
    options.register_opts(conf)
    conf.set_override('connection', database_url, group='placement_database')
    for (group, name), value in BOUNDS.items():
        # A former release of placement has no such options.
        if group in conf and name in conf[group]:
            conf.set_default(name, value, group=group)
    # An SQLite file is of no use to another process, and survives that this one is killed.
    conf.set_default('sqlite_synchronous', False, group='placement_database')
    conf([], project='placement', default_config_files=[], default_config_dirs=[])
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


def use_database(conf: cfg.ConfigOpts, tuning: Tuning | None = None) -> None:
    """Make placement use the database of `conf` instead of the one that it used before."""
    settings = dict(conf.placement_database)
    del settings['sync_on_startup']
    url = mariadb_url.completed(sqlalchemy.make_url(settings['connection']))
    settings['connection'] = url.render_as_string(hide_password=False)
    if tuning is not None:
        settings |= tuning.engine_options
    manager = enginefacade.transaction_context()
    manager.configure(**settings)
    db_api.placement_context_manager.dispose_pool()
    db_api.placement_context_manager.patch_factory(manager)
    engine = db_api.get_placement_engine()
    if engine.dialect.driver == 'psycopg':
        give_row_ids(engine)
    if tuning is not None:
        tuning.connect(engine)


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


# ---- the middleware of `placement.deploy`, from the inside out ----


def _versioned(conf: cfg.ConfigOpts) -> wsgi.WSGIApplication:
    return versions.MicroversionMiddleware(
        handler.PlacementHandler(config=conf),
        microversion.SERVICE_TYPE,
        microversion.VERSIONS,
        json_error_formatter=util.json_error_formatter,
    )


def _with_users(
    application: wsgi.WSGIApplication,
    conf: cfg.ConfigOpts,
    check: Callable[[wsgi.WSGIApplication, cfg.ConfigOpts], wsgi.WSGIApplication],
) -> wsgi.WSGIApplication:
    """Return an application inside the layers that find the user of a request.

    Placement asks Keystone about a token, and in an embedded cloud the threads that could answer
    may wait for the lock.
    """
    application = auth.PlacementKeystoneContext(application)
    if conf.api.auth_strategy == 'noauth2':
        found: wsgi.WSGIApplication = auth.NoAuthMiddleware(application)
        return found
    return check(application, conf)


def _outer(application: wsgi.WSGIApplication) -> wsgi.WSGIApplication:
    return Rooted(oslo_middleware.HTTPProxyToWSGI(requestlog.RequestLog(application)))


def _check_tokens(application: wsgi.WSGIApplication, conf: cfg.ConfigOpts) -> wsgi.WSGIApplication:
    checked: wsgi.WSGIApplication
    checked = auth.filter_factory({}, oslo_config_config=conf)(application)
    return checked


def _nothing(application: wsgi.WSGIApplication) -> wsgi.WSGIApplication:
    return application
