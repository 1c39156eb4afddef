"""Timeouts of the drivers for connecting to a database server and for its answers.

Connections to a server that is paused, or whose machine is lost, stay open without an answer.
PyMySQL has timeouts for that. libpq has one only for connecting, and psycopg adds none, so
`postgresql` has connections with a timeout.

A process of ours that is paused in a transaction keeps its locks. The server ends such a
transaction after the same time. MySQL cannot do that.
"""

import importlib
import typing

import sqlalchemy as sa

# Query parameter of a URL: seconds to wait for each answer. The name is PyMySQL's.
ANSWER = 'read_timeout'
# Query parameter of a URL: the statement that PyMySQL executes first.
FIRST = 'init_command'
# Of MariaDB.
IDLE = 'idle_transaction_timeout'
# Only MariaDB executes the text in this comment.
_END_IDLE = 'SET @nova_lite = 0 /*M!100300 , ' + IDLE + ' = %s */'


class Limits(typing.NamedTuple):
    """Timeouts in seconds: of a connection; of a statement, and between two of a transaction."""

    connect_s: int
    answer_s: int


def options(url: sa.URL, limits: Limits) -> dict[str, str]:
    """Return the options of a URL (sqlalchemy's) for these Limits, as its query."""
    answer_s, connect_s = str(limits.answer_s), str(limits.connect_s)
    if url.get_driver_name() == 'pymysql':
        return {
            'connect_timeout': connect_s,
            ANSWER: answer_s,
            'write_timeout': answer_s,
            FIRST: _END_IDLE % answer_s,
        }
    if url.get_driver_name() == 'psycopg':
        return {
            'connect_timeout': connect_s,
            ANSWER: answer_s,
            'tcp_user_timeout': str(limits.answer_s * 1000),
            'keepalives_idle': answer_s,
            'options': f'-c statement_timeout={limits.answer_s}s '
            f'-c idle_in_transaction_session_timeout={limits.answer_s}s',
        }
    return {}


def end_idle(engine: sa.Engine, limits: Limits) -> None:
    """Make MariaDB end idle transactions of an engine whose URL names another first statement.

    Unless that statement concerns the timeout itself.
    """
    if engine.dialect.driver != 'pymysql' or IDLE in str(engine.url.query.get(FIRST)).lower():
        return

    @sa.event.listens_for(engine, 'connect')
    def limit(connection: typing.Any, _record: object) -> None:
        with connection.cursor() as cursor:
            cursor.execute(_END_IDLE % limits.answer_s)


@sa.event.listens_for(sa.Engine, 'do_connect')
def _connect(
    dialect: sa.Dialect, _record: object, args: list[typing.Any], options: dict[str, typing.Any]
) -> typing.Any:
    """Connect as SQLAlchemy would, with our class if the URL has a timeout."""
    if dialect.driver != 'psycopg' or ANSWER not in options:
        return None
    answer_s = float(options.pop(ANSWER))
    # Clouds without PostgreSQL do not need its driver.
    postgresql = importlib.import_module('nova_lite.db.postgresql')
    connection = postgresql.Connection.connect(*args, **options)
    connection.answer_s = answer_s
    return connection
