"""Confirm a resize: the source forgets the server (reference/nova/moves 3.2 and 3.4).

Its first transaction is the pivot: what the source has dropped cannot come back. What
it fails to drop is left to its audit.
"""

from nova_lite import saga
from nova_lite import states
from nova_lite.db.cell import actions
from nova_lite.db.cell import instances
from nova_lite.db.cell import migrations
from nova_lite.moves import duties
from nova_lite.moves import move
from nova_lite.moves import neighbours
from nova_lite.moves import resized

BEGIN = 'record the request'
CLEAN = 'clean up at source'
EVENT = 'compute_confirm_resize'


class ConfirmResize(resized.Resized):
    """Before the deletion of the server as well: then that follows.

    arguments: 'delete': whether
    """

    kind = 'confirm-resize'

    def steps(self):
        last = ()
        if self.arguments.get('delete'):
            last = (saga.Step('delete the server', self.delete),)
        return (
            saga.Step(BEGIN, self.begin, undo=self.give_up, pivot=True),
            saga.Step(CLEAN, self.clean, attempts=move.PATIENCE, left=True),
            saga.Step(
                'drop source bindings',
                self.unbind,
                attempts=move.PATIENCE,
                left=True,
                clean=duties.bindings(self, lambda: self.began['source']['host']),
            ),
            saga.Step('release source allocation', self.drop_source),
            *self.source_record_steps(),
            saga.Step('record confirmation', self.record),
            *last,
        )

    def source_record_steps(self):
        """Return the steps that remove the source's records, where it has its own."""
        return ()

    def begun(self, connection, row):
        ends = self.ends(connection)
        actions.start_event(
            connection, self.instance_uuid, self.ctxt.request_id, EVENT, ends['source']['host']
        )
        return ends

    def clean(self):
        """confirm_resize: the source drops what it kept."""
        return self.ask(self.compute.confirm_resize, self.end('source', CLEAN))

    def unbind(self):
        """Also of a server that is to be deleted: that may fail."""
        row = self.read(instances.find, self.instance_uuid)
        gone = row is None or row.deleted
        if self.began['stays'] or gone or not row.network_info:
            return saga.Skipped()
        host = self.began['source']['host']
        neighbours.unbind(self.world, self.ctxt, row.network_info, host)
        return None

    def drop_source(self):
        self.world.placement.delete_allocations(self.ctxt, self.migration_uuid, force=True)

    def record(self):
        """The server is what it was before, with its new flavor."""
        self.write(self._record)

    def _record(self, connection):
        migrations.update(
            connection, self.migration_uuid, {'status': str(states.MigrationStatus.CONFIRMED)}
        )
        row = instances.held(connection, self.instance_uuid)
        if row is not None:
            values = {'old_flavor': None, 'new_flavor': None}
            if row.vm_state == states.VmState.RESIZED:
                off = row.power_state == states.PowerState.SHUTDOWN
                values['vm_state'] = str(states.VmState.STOPPED if off else states.VmState.ACTIVE)
            instances.update(connection, row.uuid, values)
        self.end_events(connection)

    def delete(self):
        """Go on with the deletion for which the resize was confirmed."""
        row = self.write(self._begin_delete)
        if row is not None and row.host is not None:
            self.compute.delete_instance(
                self.ctxt, host=row.host, instance=self.instance(row), block_devices=self.devices()
            )

    def _begin_delete(self, connection):
        row = instances.find(connection, self.instance_uuid)
        if row is None or row.deleted:
            return None
        if actions.find(connection, row.uuid, self.ctxt.request_id, 'delete') is None:
            actions.start(connection, self.ctxt, row.uuid, 'delete')
        return row
