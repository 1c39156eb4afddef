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


def name_of(url: sqlalchemy.URL) -> str:
    """Return the name of a database; for a file, without its suffix."""
    database = url.database or ''
    return os.path.splitext(os.path.basename(database))[0]


class Transactions:
    """Counts committed transactions. name: that of the database"""

    def __init__(self, name: str) -> None:
        of = functools.partial(metrics.TRANSACTIONS.labels, name)
        self._kinds = {False: of('read'), True: of('write')}

    def add(self, *, writes: bool) -> None:
        """Count one."""
        self._kinds[writes].inc()


def count(engine: sqlalchemy.Engine) -> Transactions:
    """Count the statements of an engine with its own dialect.

    Return the counter of transactions.
    """
    name = name_of(engine.url)
    counter = metrics.STATEMENTS.labels(name)
    for method in EXECUTE:
        counted = functools.partial(_counted, counter, getattr(engine.dialect, method))
        setattr(engine.dialect, method, counted)
    return Transactions(name)


def _counted(
    counter: prometheus_client.Counter, execute: Callable[..., typing.Any], *args: typing.Any
) -> typing.Any:
    counter.inc()
    return execute(*args)
