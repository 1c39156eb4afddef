"""Trigger a crash dump: send a non-maskable interrupt to the guest.

The server keeps its states. If the guest crashes, the power audit of its host finds it. This
is a saga because the server has no task by which a host could find a lost request.
"""

import sqlalchemy as sa

from nova_lite import saga
from nova_lite.db import rows
from nova_lite.moves import asking
from nova_lite.moves import move
from nova_lite.moves import places
from nova_lite.objects import instance as instance_objects

TRIGGER = 'interrupt-guest'
EVENT = 'compute_trigger_crash_dump'


class CrashDump(move.Move[saga.Data | None]):
    """Interrupt a guest. The saga has no arguments and cannot undo the interrupt."""

    kind = 'crash-dump'
    first = saga.Result('record-request', saga.Data)

    def steps(self) -> saga.Steps:
        return (
            self.beginning(),
            places.SOURCE_HOST.step(TRIGGER, self.trigger, calls=('trigger_crash_dump',)),
            places.SOURCE_RECORDS.step('end-action', self.end, pivot=True),
        )

    def record_begin(self, connection: sa.Connection, row: rows.Row | None) -> None:
        row = self.scope.require_there(row)
        self.events.start(connection, EVENT, row.host)

    def trigger(self) -> asking.Reply:
        """Interrupt the guest. Raise ServiceIsDown at once if its host is down."""
        row = self.scope.require_there(self.scope.row())
        self.scope.here.require_up_or_fail(row.host)
        ask, key = self.scope.compute.trigger_crash_dump, self.key(TRIGGER)
        instance = instance_objects.Instance.from_row(row)
        return asking.ask(self.scope, ask, host=row.host, instance=instance, key=key)

    def end(self) -> None:
        self.scope.write(self.events.end_all)
