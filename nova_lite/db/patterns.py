"""Regular expressions in queries: each database has its own idea of them."""

import contextlib

from oslo_db import exception as db_exception
import sqlalchemy as sa

from nova_lite import exception

POSTGRESQL = '2201B'
MARIADB = 1139


class BadPattern(exception.Invalid):
    msg = 'A filter is not a valid regular expression.'


@contextlib.contextmanager
def refused():
    """Raise BadPattern when a database does not understand a pattern of the query."""
    try:
        yield
    except (db_exception.DBError, sa.exc.OperationalError) as error:
        # oslo.db lets some errors through as they are.
        inner = getattr(error, 'inner_exception', error)
        if not _is_of_pattern(getattr(inner, 'orig', inner)):
            raise
        raise BadPattern() from error


def _is_of_pattern(error):
    return getattr(error, 'sqlstate', None) == POSTGRESQL or error.args[:1] == (MARIADB,)
