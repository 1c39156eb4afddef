"""Health checks of daemons that have a database."""

import functools

import sqlalchemy as sa


def answers(found):
    """Return a check that queries a Database."""
    return functools.partial(found.read, _one)


def _one(connection):
    connection.execute(sa.text('SELECT 1'))
