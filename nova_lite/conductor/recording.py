"""Recording of the reports that many servers make at the same time.

Those of one method that wait are recorded in one transaction. If one of them is refused, each is
recorded by itself.
"""

from collections.abc import Callable
from collections.abc import Sequence
import typing

import sqlalchemy as sa

from nova_lite import context
from nova_lite.conductor import build_reports
from nova_lite.conductor import delete_reports
from nova_lite.db import joined
from nova_lite.db import transactions
from nova_lite.db.cell import fence
from nova_lite.rpc.methods import conductor as methods
from nova_lite.runtime import combine

# The context and the arguments of a report.
Call: typing.TypeAlias = tuple[context.RequestContext, methods.Json]
# Records reports in a transaction. Returns their results in order.
Recording: typing.TypeAlias = Callable[[sa.Connection, Sequence[Call]], list[typing.Any]]


def _one_by_one(function: Callable[..., typing.Any]) -> Recording:
    """Return a function that records reports, each with statements of its own."""

    def record(connection: sa.Connection, calls: Sequence[Call]) -> list[typing.Any]:
        return [function(connection, ctxt, **arguments) for ctxt, arguments in calls]

    return record


def _deletions(
    function: Callable[[sa.Connection, list[delete_reports.Report]], list[typing.Any]],
) -> Recording:
    """Return a function that records reports about deletions, all with the same statements."""

    def record(connection: sa.Connection, calls: Sequence[Call]) -> list[typing.Any]:
        return function(
            connection, [delete_reports.Report(ctxt, **arguments) for ctxt, arguments in calls]
        )

    return record


# How reports are recorded that many servers make at the same time, by their methods.
JOINED: dict[str, Recording] = {
    'build_started': _one_by_one(build_reports.start),
    'build_finished': _one_by_one(build_reports.finish),
    'delete_started': _deletions(delete_reports.start),
    'instance_deleted': _deletions(delete_reports.end),
}


class JoinedReports:
    """Reports of one method: those that wait are recorded in one transaction of the cell's `db`."""

    def __init__(self, db: transactions.Database, record: Recording) -> None:
        self._db, self._record = db, record
        self._combiner: combine.Combiner[Call, typing.Any] = combine.Combiner(
            self.write_all, joined.MOST
        )

    def write(self, ctxt: context.RequestContext, **arguments: typing.Any) -> typing.Any:
        """Record a report, which is refused if the caller's epoch is old. Return its result."""
        call = (ctxt, arguments)
        return self._combiner.call(call, lambda: self._write([call])[0])

    def write_all(self, calls: Sequence[Call]) -> list[typing.Any] | None:
        """Record reports. Return their results, or None, without an effect, if one is refused."""
        return joined.unless_refused(lambda: self._write(calls))

    def _write(self, calls: Sequence[Call]) -> list[typing.Any]:
        return self._db.write(_record_all, self._record, calls)


def _record_all(
    connection: sa.Connection, record: Recording, calls: Sequence[Call]
) -> list[typing.Any]:
    for ctxt, _arguments in calls:
        fence.check(connection, ctxt)
    return record(connection, calls)


def joined_by_kind(db: transactions.Database) -> dict[str, JoinedReports]:
    """Return {method: JoinedReports} of a cell."""
    return {kind: JoinedReports(db, record) for kind, record in JOINED.items()}
