"""Compiled statements of SQLite, shared by all engines of a process.

SQLAlchemy keeps them for each engine. An embedded cloud has several engines for each daemon, all
with the same statements, whose compilation costs more than their execution. What a statement of a
database server is compiled to depends on settings of the server, so its engines share nothing.
"""

import typing

import sqlalchemy as sa

from nova_lite import runtime

# The key of a statement begins with the dialect of its engine. One that does not is left as it is.
Key: typing.TypeAlias = tuple[typing.Any, ...]
# The properties on which a compiled statement depends besides the statement.
Kind: typing.TypeAlias = tuple[typing.Any, ...]

# Twice what SQLAlchemy keeps for one engine. IN lists of any length count as one statement.
MOST = 1000
_statements: dict[Key, typing.Any] = {}
_lock = runtime.Lock()


class Shared:
    """The `compiled_cache` of an engine: the statements of the process by its dialect."""

    def __init__(self, dialect: sa.Dialect) -> None:
        self._dialect = dialect
        self._kind: Kind | None = None

    def get(self, key: Key) -> typing.Any:
        return _statements.get(self._key(key))

    def __setitem__(self, key: Key, statement: typing.Any) -> None:
        with _lock:
            if len(_statements) >= MOST:
                del _statements[next(iter(_statements))]
            _statements[self._key(key)] = statement

    def connected(self, *_connection: object) -> None:
        """Keep the kind of the dialect, whose last parts a connection has set."""
        self._kind = self._read_kind()

    def _key(self, key: Key) -> Key:
        """Return SQLAlchemy's key, with the kind of the dialect in place of the engine's own."""
        if key[0] is not self._dialect:
            return key
        return (self._kind or self._read_kind(), *key[1:])

    def _read_kind(self) -> Kind:
        dialect = self._dialect
        return (
            type(dialect),
            dialect.server_version_info,
            dialect.paramstyle,
            dialect.identifier_preparer.initial_quote,
        )


def share(engine: sa.Engine) -> None:
    """Make an engine use the compiled statements of the process, if its database is SQLite."""
    if engine.dialect.name == 'sqlite':
        shared = Shared(engine.dialect)
        engine.update_execution_options(compiled_cache=shared)
        sa.event.listen(engine.pool, 'connect', shared.connected)
