"""Revert a resize: the server is on the source again as it was (reference/nova/moves 3.3).

The destination's guest goes first, so that it never runs twice. While it is there the
server stays in VERIFY_RESIZE if something fails; once it is gone there is only forward.
A server that is deleted meanwhile has nothing given back: the same steps clean up.
What is different after a move between cells is `cross_cell_revert`'s.
"""

from nova_lite import saga
from nova_lite import states
from nova_lite import transitions
from nova_lite.db.cell import children
from nova_lite.db.cell import instances
from nova_lite.db.cell import migrations
from nova_lite.moves import asking
from nova_lite.moves import duties
from nova_lite.moves import move
from nova_lite.moves import move_records
from nova_lite.moves import neighbours
from nova_lite.moves import part
from nova_lite.moves import places
from nova_lite.moves import resized
from nova_lite.moves import steps
from nova_lite.moves.parts import cross_cell_revert
from nova_lite.moves.parts import ports
from nova_lite.moves.parts import volumes

Status = states.MigrationStatus

RESERVE = 'reserve volumes for source'
ACTIVATE = 'activate source bindings'
DESTROY = 'destroy on destination'
FINISH = 'finish revert on source'
DROP = 'drop destination'
DEST_EVENT = 'compute_revert_resize'
SOURCE_EVENT = 'compute_finish_revert_resize'
STOP_EVENT = 'compute_stop_instance'


class RevertResize(move.Move):
    """From VERIFY_RESIZE back to the source.

    What cannot be undone of the first steps is cleaned up later, see `duties`: the server can
    be confirmed or reverted meanwhile, as it could not in ERROR.
    """

    kind, also = 'revert-resize', ('cross-cell-revert',)
    harmless = (RESERVE, ACTIVATE, cross_cell_revert.SHOW)
    tasks = transitions.REVERT_RESIZE.tasks

    def steps(self):
        if resized.crosses(self):
            return self.crossing.steps()
        return (
            self.beginning(),
            self.volumes.step(),
            self.ports.plugging(ACTIVATE),
            self.destroying(attempts=places.PATIENCE),
            places.SOURCE_RECORDS.step(
                'switch the record to source', self.switch, pivot=True, attempts=saga.FOREVER
            ),
            *self.returning(),
        )

    def beginning(self):
        """The first step."""
        return steps.begin(self, at=places.DEST_RECORDS, calls=('discard_guest',))

    def destroying(self, **options):
        """The step that removes the destination's guest. options: of saga.Step"""
        calls = ('revert_resize',)
        return places.DEST_HOST.step(DESTROY, self.destroy, calls=calls, **options)

    def returning(self):
        """The steps that follow when the destination's guest is gone."""
        return (
            places.SOURCE_HOST.patient(
                FINISH, self.finish, calls=('discard_guest', 'restore_guest')
            ),
            places.PLACEMENT.step('give allocations back', self.release),
            places.NETWORK.patient(
                DROP, self.drop_dest, clean=saga.Clean(self.drop_dest_late, alone=True)
            ),
            steps.save_spec(self),
            places.SOURCE_RECORDS.step('record the revert', self.record),
        )

    # ---- the two ends ----

    @property
    def crossing(self):
        """What is different when the source is in another cell."""
        return cross_cell_revert.Crossing(self)

    @property
    def source_side(self):
        """The cell to which the server returns."""
        return resized.source_side(self)

    def find(self):
        return self.crossing.find() if resized.crosses(self) else super().find()

    # ---- while the destination has the guest ----

    def begun(self, connection, row):
        ends = resized.ends(connection, self.migration_uuid)
        self.start_event(connection, DEST_EVENT, ends['dest']['host'])
        flavor = row and (row.old_flavor or row.flavor)
        return {**ends, 'flavor': flavor}

    def undone(self, connection, row):
        if resized.crosses(self):
            instances.seal(connection, self.instance_uuid, False)
        if row is None:
            values = {'status': str(Status.ERROR)}
            migrations.update(connection, self.migration_uuid, values)
        else:
            super().undone(connection, row)

    def give_up(self):
        """Also for a server that is deleted: nobody else knows of what the source keeps."""
        super().give_up()
        if not self.is_gone():
            return None
        self.world.placement.delete_allocations(self.ctxt, self.migration_uuid, force=True)
        return self.crossing.give_up() if resized.crosses(self) else None

    @property
    def ports(self):
        """The ports, which go from the destination back to the source."""
        return ports.Ports(
            self,
            source=lambda: self.began['dest']['host'],
            dest=lambda: self.began['source']['host'],
            stays=lambda: self.began['stays'],
        )

    @property
    def volumes(self):
        """The volumes; attachments are made for the source."""
        return volumes.Volumes(
            self,
            RESERVE,
            needless=lambda: self.began['stays'],
            devices=lambda: [] if self.is_gone() else self.devices(),
        )

    def destroy(self):
        """revert_resize: the destination removes the guest."""
        return self.ask(self.compute.revert_resize, resized.asked(self, 'dest', DESTROY))

    # ---- only forward ----

    def switch(self):
        """From here on the server is the source's; nobody runs it."""
        self._switch(resized.zone(self, self.began['source']['host']))

    @part.transaction
    def _switch(self, connection, zone):
        row, source = instances.find(connection, self.instance_uuid), self.began['source']
        if not instances.is_gone(row):
            values = {
                **source,
                'availability_zone': zone,
                **move_records.flavor_columns(self.began['flavor']),
            }
            if self.data.get(ACTIVATE):
                values['network_info'] = self.data[ACTIVATE]
            instances.update(connection, row.uuid, values)
            move_records.change_devices(connection, self.volumes.reserved, None)
        self.end_event(connection, DEST_EVENT, self.began['dest']['host'])
        self.start_event(connection, SOURCE_EVENT, source['host'])

    def finish(self):
        """finish_revert_resize: the source has the guest again, as it was."""
        row, side, found = self.find(), self.source_side, None
        if not instances.is_gone(row):
            found = self._restore(side.compute, row, side.devices(row.uuid))
            if isinstance(found, saga.Pending):
                return found
        if self.is_gone():
            discard = resized.asked(self, 'source', f'{FINISH}/discard')
            return self.ask(side.compute.discard_guest, discard)
        return found

    def _restore(self, compute, row, devices):
        """The guest of a row is as it was, with the devices that its server has by now.

        The source can reach the volumes once the destination does not.
        """
        self.volumes.end_former()
        was_on = self.began['vm_state'] == states.VmState.ACTIVE
        end = resized.asked(self, 'source', FINISH)
        asking.require_heard(self, end['host'])
        return asking.answer(
            compute.restore_guest(
                self.ctxt,
                host=end['host'],
                instance=self.instance(row),
                block_devices=devices,
                arrival={
                    'node': end['node'],
                    'move': end['move'],
                    'power_on': was_on and row.task_state in self.tasks,
                    'key': end['key'],
                },
            )
        )

    def drop_dest(self):
        """The ports' bindings and the attachments that the destination had."""
        row = self.find()
        if self.began['stays']:
            return
        if not instances.is_gone(row):
            host = self.began['dest']['host']
            neighbours.unbind(self.world, self.ctxt, row.network_info, host)
        self.volumes.end_former()

    def drop_dest_late(self):
        """As `drop_dest`, once the server may have moved on."""
        if not self.began['stays']:
            duties.drop_bindings(self, self.began['dest']['host'])
            self.volumes.end_former()

    def save_spec(self):
        flavor = self.began['flavor']
        if flavor:
            self.write_api(move_records.save_flavor, self.instance_uuid, flavor)

    def record(self):
        """The server is what it was before; in error if the source failed it."""
        self.source_side.write(self._record)

    def _record(self, connection):
        failure = self.left.get(FINISH)
        status = Status.ERROR if failure else Status.REVERTED
        migrations.update(connection, self.migration_uuid, {'status': str(status)})
        # Held: a deletion that is accepted now must not be overwritten.
        row = instances.held(connection, self.instance_uuid)
        if row is not None:
            instances.update(connection, row.uuid, self._outcome(row, failure))
            for device in (self.data.get(FINISH) or {}).get('block_devices', ()):
                children.update_block_device(connection, device['uuid'], device)
        if failure:
            self.add_fault(connection, failure)
        if self.began['vm_state'] == states.VmState.STOPPED:
            self.record_event(connection, STOP_EVENT, self.began['source']['host'])
        self.end_events(connection, error=failure)

    def _outcome(self, row, failure):
        """A deletion, and states that an administrator has set meanwhile, stay."""
        values = {'old_flavor': None, 'new_flavor': None}
        if resized.crosses(self) and self.data.get(ACTIVATE) and not instances.is_gone(row):
            values['network_info'] = self.data[ACTIVATE]
        reverting = row.task_state in self.tasks
        if reverting:
            values['task_state'] = None
        if failure:
            if reverting:
                values['vm_state'] = str(states.VmState.ERROR)
        elif row.vm_state == states.VmState.RESIZED:
            values['vm_state'] = self.began['vm_state']
            values['power_state'] = self.data.get(FINISH, {}).get('power_state', row.power_state)
        return values
