"""Compiled statements, shared by all engines of a process that speak the same dialect.

SQLAlchemy keeps them for each engine. A process of nova_lite has an engine for each cell, and an
embedded cloud several for each daemon, all with the same statements, whose compilation costs more
than their execution.
"""

import typing

import sqlalchemy as sa

from nova_lite.private_apis import sqlalchemy as internals

Key: typing.TypeAlias = tuple[typing.Any, ...]
# The properties on which a compiled statement depends besides the statement.
Kind: typing.TypeAlias = tuple[typing.Any, ...]

# Twice what SQLAlchemy keeps for one engine. IN lists of any length count as one statement.
MOST = 1000
# Plans of nova_lite.dialects.lean, of some 20 KiB at most, for each length of a list.
MOST_PLANS = 3000
_plans: dict[Kind, dict[Key, typing.Any]] = {}
_statements: internals.LRUCache[Key, typing.Any] = internals.LRUCache(MOST)


class Shared:
    """The `compiled_cache` of an engine: the statements of the process by its dialect."""

    def __init__(self, dialect: sa.Dialect) -> None:
        self._dialect = dialect
        self._kind: Kind | None = None
        self._plans: dict[Key, typing.Any] = {}

    def get(self, key: Key) -> typing.Any:
        return _statements.get(self._key(key))

    def __setitem__(self, key: Key, statement: typing.Any) -> None:
        _statements[self._key(key)] = statement

    def connected(self, *_connection: object) -> None:
        """Keep the kind of the dialect, whose last parts a connection has set."""
        self._kind = self._read_kind()
        self._plans = _plans.setdefault(self._kind, {})

    def plan(self, key: Key) -> typing.Any:
        """Return the plan of a statement, or None."""
        return self._plans.get(key)

    def add_plan(self, key: Key, plan: typing.Any) -> None:
        """Remember the plan of a statement."""
        if len(self._plans) >= MOST_PLANS:
            self._plans.clear()
        self._plans[key] = plan

    def _key(self, key: Key) -> Key:
        """SQLAlchemy's key, with the kind of the dialect in place of the engine's own."""
        return (self._kind or self._read_kind(), *key[1:])

    def _read_kind(self) -> Kind:
        dialect = self._dialect
        return (
            type(dialect),
            dialect.server_version_info,
            getattr(dialect, 'is_mariadb', None),
            internals.backslash_escapes(dialect),
            dialect.paramstyle,
            dialect.identifier_preparer.initial_quote,
        )


def share(engine: sa.Engine) -> None:
    """Make an engine use the compiled statements of the process."""
    shared = Shared(engine.dialect)
    engine.update_execution_options(compiled_cache=shared)
    sa.event.listen(engine.pool, 'connect', shared.connected)


def of(connection: sa.Connection) -> Shared | None:
    """Return the statements that a connection shares, if it does."""
    found = connection.get_execution_options().get('compiled_cache')
    return found if isinstance(found, Shared) else None
