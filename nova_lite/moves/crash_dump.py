"""Trigger a crash dump: a non-maskable interrupt for the guest, as the last way to learn from it.

The server keeps its states. A guest that crashes of it is found by the power audit of its host.
It is a saga since the server has no task meanwhile by which a host could find a lost request.
"""

from nova_lite import saga
from nova_lite.moves import move
from nova_lite.moves import places
from nova_lite.moves import steps

TRIGGER = 'interrupt the guest'
EVENT = 'compute_trigger_crash_dump'


class CrashDump(move.Move[saga.Data]):
    """It has no arguments. The interrupt cannot be taken back."""

    kind = 'crash-dump'
    first = saga.Result('record the request', saga.Data)

    def steps(self):
        return (
            steps.begin(self),
            places.SOURCE_HOST.step(TRIGGER, self.trigger, calls=('trigger_crash_dump',)),
            places.SOURCE_RECORDS.step('end the action', self.end, pivot=True),
        )

    def begun(self, connection, row):
        self.require_there(row)
        self.events.start(connection, EVENT, row.host)

    def trigger(self):
        """trigger_crash_dump. Raises ServiceIsDown; it does not wait for a host that is down."""
        row = self.require_there(self.row())
        self.here.require_up(row.host)
        ask, key = self.compute.trigger_crash_dump, self.key(TRIGGER)
        return self.ask(ask, host=row.host, instance=self.instance(row), key=key)

    def end(self):
        self.write(self.events.end_all)
