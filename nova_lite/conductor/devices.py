"""What the sagas that attach and detach devices share.

A server is in one saga at a time, so none moves while a device of it changes. Its task
state stays as it is, as in nova, and so does its vm state, whatever goes wrong.
Source: reference/cells-and-rpc 4.1, reference/api-surface 2.3.
"""

from nova_lite import exception
from nova_lite.conductor import cell_builds
from nova_lite.conductor import move
from nova_lite.db.cell import actions
from nova_lite.db.cell import instances
from nova_lite.db.cell import services

# Key of Saga.data: what the answer of the API waits for has come about.
ACCEPTED = 'accepted'
# Arguments that name volumes.
VOLUMES = ('volume_id', 'old_volume_id')


class DeviceSaga(move.Move):
    """Base. event: what the host does; local_event: the same without a host"""

    event = None
    local_event = None

    # ---- step: begin ----

    def begun(self, connection, row):
        if cell_builds.is_gone(row):
            raise exception.InstanceNotFound(instance_id=self.instance_uuid)
        found = self.found(connection, row)
        event = self.event if row.host else self.local_event
        self._tell_volumes(connection)
        actions.start_event(connection, row.uuid, self.ctxt.request_id, event, row.host)
        return {'host': row.host, **found}

    def end_events(self, connection, *, error=None):
        self._tell_volumes(connection)
        super().end_events(connection, error=error)

    def _tell_volumes(self, connection):
        """Notifications of what this transaction records name the volumes."""
        facts = {name: self.arguments.get(name) for name in VOLUMES}
        actions.tell_of(connection, self.instance_uuid, **facts)

    def found(self, connection, row):
        """What else a kind remembers of what it found."""
        return {}

    @property
    def began(self):
        """What `begun` returned."""
        return self.data[self.steps()[0].name]

    @property
    def not_undone(self):
        """What could not be undone does not break the server."""
        return {}

    def _free(self, connection, row):
        """There is no task to clear, and the event tells what failed."""

    # ---- the host ----

    def current(self):
        """The server's row; raises InstanceNotFound when it is deleted or about to be."""
        row = self.row()
        if cell_builds.is_gone(row):
            raise exception.InstanceNotFound(instance_id=self.instance_uuid)
        return row

    def require_up(self, host):
        """Raise ServiceIsDown unless the host's compute service is up."""
        if not self.is_up(host):
            raise exception.ServiceIsDown(binary=services.COMPUTE, host=host)

    def ask_host(self, method, step, **arguments):
        """Ask the server's host for a step; None for a server that is on no host."""
        if self.began['host'] is None:
            return None
        row = self.current()
        self.require_up(row.host)
        return self.ask(
            method,
            {
                'host': row.host,
                'instance': self.instance(row),
                'key': self.key(step),
                **arguments,
            },
        )

    def undo_at_host(self, method, step, **arguments):
        """As `ask_host`, for an undo: of a server that is gone there is nothing to undo."""
        if cell_builds.is_gone(self.read(instances.find, self.instance_uuid)):
            return None
        return self.ask_host(method, f'undo {step}', **arguments)

    def finish(self, change):
        """One transaction: `change(connection, row)`, and the end of the event."""
        self.write(self._finish, change)

    def _finish(self, connection, change):
        row = instances.lock(connection, self.instance_uuid)
        if cell_builds.is_gone(row):
            raise exception.InstanceNotFound(instance_id=self.instance_uuid)
        change(connection, row)
        self.end_events(connection)
