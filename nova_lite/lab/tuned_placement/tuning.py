"""All changes of a tuned placement."""

from collections.abc import Mapping
import typing
from wsgiref import types as wsgi

from oslo_config import cfg
from placement import auth
import sqlalchemy
from sqlalchemy import pool

from nova_lite.api import tokens
from nova_lite.dialects import compiled
from nova_lite.dialects import execute
from nova_lite.dialects import sqlite_pool
from nova_lite.lab.private_apis import placement_requests
from nova_lite.lab.private_apis import placement_statements
from nova_lite.lab.tuned_placement import names
from nova_lite.lab.tuned_placement import reused

LIBRARY = placement_requests.LIBRARY
# One for the process: an application that takes over from another finds its schemas compiled.
VALIDATION = reused.CompiledValidation()


class Tuning:
    """Implements `nova_lite.daemons.wsgi.placement.Tuning`. atomic: see `tuned_placement.of`"""

    # Transactions are parts of the transaction of their request. There are no greenlets.
    engine_options: Mapping[str, typing.Any] = {
        'flush_on_subtransaction': True,
        'thread_checkin': False,
    }

    def __init__(self, *, atomic: bool) -> None:
        self._atomic = atomic
        # (object, name of its attribute, the value that placement gave it)
        self._own: list[tuple[typing.Any, str, typing.Any]] = []

    def apply(self) -> None:
        """Replace functions and names of placement's modules."""
        for owner, name, value in (
            *placement_requests.changes(VALIDATION, reused.KnownAliases()),
            *placement_statements.changes(execute),
        ):
            self._own.append((owner, name, getattr(owner, name)))
            setattr(owner, name, value)

    def undo(self) -> None:
        """Give placement's modules their own functions and names back."""
        while self._own:
            setattr(*self._own.pop())

    def connect(self, engine: sqlalchemy.Engine) -> None:
        """Make an engine pool its connections, in WAL mode, and share compiled statements.

        oslo.db opens a connection for each transaction, and a claim has six transactions. WAL with
        synchronous=NORMAL loses nothing when the process is killed.
        """
        compiled.share(engine)
        args, options = engine.dialect.create_connect_args(engine.url)

        def connect() -> typing.Any:
            connection: typing.Any = engine.dialect.connect(*args, **options)
            connection.isolation_level = None  # oslo.db emits the BEGIN
            connection.execute('PRAGMA journal_mode = WAL')
            connection.execute('PRAGMA synchronous = NORMAL')
            return connection

        engine.dispose()
        engine.pool = pool.QueuePool(connect, use_lifo=True, dialect=engine.dialect)
        sqlite_pool.close_rested(engine.pool)

    def around(self, application: wsgi.WSGIApplication) -> wsgi.WSGIApplication:
        """Return an application whose requests share names, and are a transaction each."""
        return names.SharedNames(application, atomic=self._atomic)

    def check_tokens(
        self, application: wsgi.WSGIApplication, conf: cfg.ConfigOpts
    ) -> wsgi.WSGIApplication:
        """Return what checks tokens, whose headers serve for some seconds."""

        def protect(inner: wsgi.WSGIApplication, **options: typing.Any) -> wsgi.WSGIApplication:
            made: wsgi.WSGIApplication
            made = auth.filter_factory({}, oslo_config_config=conf, **options)(inner)
            return made

        seconds = conf.keystone_authtoken.token_cache_time
        return tokens.Checked(application, protect, cache_s=seconds)
