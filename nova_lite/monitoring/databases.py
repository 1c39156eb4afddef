"""Health checks of daemons that have a database."""

import functools

import sqlalchemy as sa

from nova_lite import exception
from nova_lite.db.api import sagas


def answers(found):
    """Whether a Database answers."""
    return functools.partial(found.read, _one)


def _one(connection):
    connection.execute(sa.text('SELECT 1'))


def saga_lag(api_db, limit_s):
    """Whether sagas that are due are taken up."""

    def check():
        lag = api_db.read(sagas.lag_s)
        if lag > limit_s:
            raise exception.Unavailable(
                service='The sweep',
                reason=f'no super-conductor has picked up a saga that has been due for {lag:.0f} s',
            )

    return check
