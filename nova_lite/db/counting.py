"""Counters of the transactions and statements of a database, for the metrics of the process.

SQLAlchemy's events could count statements as well, but an engine with events runs all of
them for each statement.
"""

from collections.abc import Callable
import functools
import os
import typing

import prometheus_client
import sqlalchemy

from nova_lite import metrics

EXECUTE = ('do_execute', 'do_execute_no_params', 'do_executemany')


def name_of(url: str) -> str:
    """Return the name of a database by its SQLAlchemy URL; of a file without its suffix."""
    database = sqlalchemy.make_url(url).database or ''
    return os.path.splitext(os.path.basename(database))[0]


class Transactions:
    """Counts committed transactions. url: SQLAlchemy's, of the database"""

    def __init__(self, url: str) -> None:
        of = functools.partial(metrics.TRANSACTIONS.labels, name_of(url))
        self._kinds = {False: of('read'), True: of('write')}

    def add(self, *, writes: bool) -> None:
        """Count one."""
        self._kinds[writes].inc()


def count_statements(engine: sqlalchemy.Engine, url: str) -> None:
    """Count what an engine executes. Its dialect is its own."""
    counter = metrics.STATEMENTS.labels(name_of(url))
    for name in EXECUTE:
        counted = functools.partial(_counted, counter, getattr(engine.dialect, name))
        setattr(engine.dialect, name, counted)


def _counted(
    counter: prometheus_client.Counter, execute: Callable[..., typing.Any], *args: typing.Any
) -> typing.Any:
    counter.inc()
    return execute(*args)
