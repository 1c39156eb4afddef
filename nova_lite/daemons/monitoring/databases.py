"""Health checks of daemons that have a database."""

import functools

import sqlalchemy as sa

from nova_lite.daemons.monitoring import health
from nova_lite.db import transactions


def answers(found: transactions.Database) -> health.Check:
    """Return a check that queries a Database."""
    return functools.partial(found.read, _one)


def _one(connection: sa.Connection) -> None:
    connection.execute(sa.text('SELECT 1'))
