"""Nova's databases by their URLs, opened so that they cannot be changed."""

from collections.abc import Callable
import os
import typing
import urllib.parse

import sqlalchemy as sa

from nova_lite import cells
from nova_lite import exception

# Statements that make all transactions of a connection read-only.
READ_ONLY = {
    'mysql': 'SET SESSION TRANSACTION READ ONLY',
    'mariadb': 'SET SESSION TRANSACTION READ ONLY',
    'postgresql': 'SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY',
}
# The drivers that are installed with nova_lite.
DRIVERS = {'mysql': 'mysql+pymysql', 'postgresql': 'postgresql+psycopg'}
# Parameters of a URL that name programs of SQLAlchemy, such as DevStack's counter of queries.
PLUGINS = ('plugin',)
# Seconds without an answer after which a server is considered down.
CONNECT_S = 10
T = typing.TypeVar('T')


class BadUrl(exception.Invalid):
    msg = '%(where)s: %(reason)s'


def resolve(template: str, base: str, where: str) -> str:
    """Return the URL of a cell mapping with its variables replaced by parts of the base URL.

    The variables are those of nova's documentation, "Template URLs in Cell Mappings".
    base: [database]connection; where: names the mapping in errors
    """
    if '{' not in template:
        return template
    if not base:
        reason = 'its URL has variables, for which [database]connection is needed'
        raise BadUrl(where=where, reason=reason)
    try:
        return cells.fill(template, base)
    except cells.TEMPLATE_ERRORS as error:
        # The text of the error may have a part of a password.
        reason = (
            'its URL with variables is malformed, or has others than those of nova, or '
            '[database]connection is malformed'
        )
        raise BadUrl(where=where, reason=reason) from error


class Database:
    """A database that is only read. name: for messages, without secrets"""

    def __init__(self, url: str, name: str) -> None:
        self.name = name
        try:
            parsed = sa.make_url(url).difference_update_query(PLUGINS)
            self._engine = _engine(parsed, name)
        except (sa.exc.ArgumentError, ImportError, ValueError) as error:
            # The text of the error may have the password.
            reason = 'its URL is malformed, or names a driver that is not installed'
            raise BadUrl(where=name, reason=reason) from error

    def read(self, function: Callable[[sa.Connection], T]) -> T:
        """Return the result of a transaction, a function of a connection. Raise Unavailable."""
        try:
            with self._connected() as connection:
                return function(connection)
        except sa.exc.DBAPIError as error:
            reason = ' '.join(str(error.orig).split())
            raise exception.Unavailable(service=self.name, reason=reason) from error

    def _connected(self) -> sa.Connection:
        try:
            return self._engine.connect()
        except (AttributeError, OSError, RuntimeError, TypeError, ValueError) as error:
            # The driver checks the parameters of the URL only when it connects.
            names = ', '.join(sorted(self._engine.url.query)) or 'none'
            reason = f'its driver cannot use its URL. Check the parameters of the URL: {names}'
            raise BadUrl(where=self.name, reason=reason) from error

    def close(self) -> None:
        """Close the connections."""
        self._engine.dispose()


def _engine(url: sa.URL, name: str) -> sa.Engine:
    kind = url.get_backend_name()
    if kind == 'sqlite':
        return _sqlite(url, name)
    if kind not in READ_ONLY:
        raise BadUrl(where=name, reason=f'its URL has the unknown scheme {url.drivername}')
    engine = sa.create_engine(
        url.set(drivername=DRIVERS.get(kind, DRIVERS['mysql'])),
        connect_args={'connect_timeout': CONNECT_S},
        isolation_level='REPEATABLE READ',
        hide_parameters=True,
    )

    @sa.event.listens_for(engine, 'connect')
    def forbid_changes(dbapi_connection: typing.Any, _record: object) -> None:
        cursor = dbapi_connection.cursor()
        cursor.execute(READ_ONLY[kind])
        cursor.close()
        dbapi_connection.commit()

    return engine


def _sqlite(url: sa.URL, name: str) -> sa.Engine:
    path = os.path.abspath(url.database or '')
    if not os.path.isfile(path):
        raise BadUrl(where=name, reason=f'{path} is no file. Correct the connection')
    file = f'file:{urllib.parse.quote(path)}'
    return sa.create_engine(
        url.set(database=file, drivername='sqlite', query={'mode': 'ro', 'uri': 'true'})
    )
