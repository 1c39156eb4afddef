"""Compiled statements, shared by all engines of a process that speak the same dialect.

SQLAlchemy keeps them for each engine. A process here has an engine for each cell, and an
embedded cloud some for each daemon as well, all with the same statements: to compile
them costs more than to execute them.
"""

import typing

import sqlalchemy as sa

from nova_lite.private_apis import sqlalchemy as internals

# Twice what SQLAlchemy keeps for one engine. IN lists of any length count as one statement.
MOST = 1000
_statements: internals.LRUCache[tuple[typing.Any, ...], typing.Any] = internals.LRUCache(MOST)


class Shared:
    """The `compiled_cache` of an engine: the statements of the process by its dialect."""

    def __init__(self, dialect: sa.Dialect) -> None:
        self._dialect = dialect

    def _key(self, key: tuple[typing.Any, ...]) -> tuple[typing.Any, ...]:
        """SQLAlchemy's key, with the kind of the dialect in place of the engine's own."""
        dialect = self._dialect
        # The first connection sets some of these from what the server tells.
        kind = (
            type(dialect),
            dialect.server_version_info,
            getattr(dialect, 'is_mariadb', None),
            internals.backslash_escapes(dialect),
            dialect.paramstyle,
            dialect.identifier_preparer.initial_quote,
        )
        return (kind, *key[1:])

    def get(self, key: tuple[typing.Any, ...]) -> typing.Any:
        return _statements.get(self._key(key))

    def __setitem__(self, key: tuple[typing.Any, ...], statement: typing.Any) -> None:
        _statements[self._key(key)] = statement


def share(engine: sa.Engine) -> None:
    """Make an engine use the compiled statements of the process."""
    engine.update_execution_options(compiled_cache=Shared(engine.dialect))
