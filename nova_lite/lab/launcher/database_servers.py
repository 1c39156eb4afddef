"""Databases on a server of MariaDB, MySQL or PostgreSQL: create, list and drop them."""

from collections.abc import Iterator
import contextlib

import sqlalchemy as sa

from nova_lite import exception
from nova_lite.lab.launcher import lacking

# MariaDB's error codes for an unknown user, a wrong password, or a machine that is not allowed.
DENIED = (1044, 1045, 1130, 1698)
GRANTS = {
    'postgresql': ("CREATE ROLE user LOGIN CREATEDB PASSWORD 'password'",),
    'mysql': (
        "CREATE USER 'user'@'%' IDENTIFIED BY 'password'",
        "GRANT ALL ON `nova\\_lite\\_%`.* TO 'user'@'%'",
    ),
}


class Rejected(lacking.Lacking):
    """A database server rejects the credentials, or a statement.

    reason: the same for a command without the option --db
    """

    def __init__(self, url: sa.URL, reason: object) -> None:
        user = url.username or ''
        self.reason = f'The server rejects the credentials: {reason}'
        statements = GRANTS.get(url.get_backend_name(), GRANTS['mysql'])
        super().__init__(
            f'--db: the server rejects the credentials: {reason}',
            'Correct the URL, or create the user with',
            [each.replace('user', user) for each in statements],
        )


@contextlib.contextmanager
def connected(url: str) -> Iterator[sa.Connection]:
    """Connect to a server. Raise Rejected, or Unavailable if it does not answer."""
    found = sa.make_url(url)
    is_postgresql = found.get_backend_name() == 'postgresql'
    found = sa.URL.create(
        found.drivername,
        username=found.username,
        password=found.password,
        host=found.host,
        port=found.port,
        database='postgres' if is_postgresql else None,
        query=found.query,
    )
    server = sa.create_engine(found, isolation_level='AUTOCOMMIT')
    try:
        with server.connect() as connection:
            yield connection
    except sa.exc.OperationalError as error:
        if _refused(error.orig):
            raise Rejected(found, error.orig and error.orig.args[-1]) from None
        raise exception.Unavailable(service='The database server', reason=error.orig) from error
    finally:
        server.dispose()


def names(connection: sa.Connection) -> set[str]:
    """Return the names of all databases of a server."""
    if connection.engine.dialect.name == 'postgresql':
        return set(connection.scalars(sa.text('SELECT datname FROM pg_database')))
    return set(sa.inspect(connection).get_schema_names())


def create(connection: sa.Connection, name: str) -> None:
    """Create a database."""
    connection.execute(sa.text(f'CREATE DATABASE {_quoted(connection, name)}'))


def drop(connection: sa.Connection, name: str) -> None:
    """Drop a database."""
    connection.execute(sa.text(f'DROP DATABASE {_quoted(connection, name)}'))


def drop_all(url: str, prefix: str) -> list[str]:
    """Drop the databases whose names begin with a prefix. Return their names.

    url: of one of the databases, or of the server. Raise Rejected, Unavailable
    """
    with connected(url) as connection:
        found = sorted(name for name in names(connection) if name.startswith(prefix))
        for name in found:
            drop(connection, name)
    return found


def _quoted(connection: sa.Connection, name: str) -> str:
    return connection.engine.dialect.identifier_preparer.quote(name)


def _refused(error: BaseException | None) -> bool:
    # psycopg has no codes for errors of a connection.
    code = error.args[0] if error is not None and error.args else None
    return code in DENIED or 'authentication failed' in str(error)
