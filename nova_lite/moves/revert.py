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
from nova_lite.moves import answers
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

RESERVE = saga.Result('reserve volumes for source', steps.Reserved)
ACTIVATE = cross_cell_revert.ACTIVATE
DESTROY = 'destroy on destination'
FINISH = saga.Result('finish revert on source', answers.Guest)
# A note: the volumes are no longer attached to the destination.
FREED = saga.Result('freed', bool)
DROP = 'drop destination'
DEST_EVENT = 'compute_revert_resize'
SOURCE_EVENT = 'compute_finish_revert_resize'
STOP_EVENT = 'compute_stop_instance'


class Began(resized.Ends):
    """flavor: to which the server returns; None for one that is gone"""

    flavor: saga.Data | None


BEGIN = saga.Result('record the request', Began)


class RevertResize(move.Move[Began]):
    """From VERIFY_RESIZE back to the source.

    What cannot be undone of the first steps is cleaned up later, see `duties`: the server can
    be confirmed or reverted meanwhile, as it could not in ERROR.
    """

    kind, also = 'revert-resize', ('cross-cell-revert',)
    first = BEGIN
    harmless = (RESERVE, ACTIVATE, cross_cell_revert.SHOW)
    tasks = transitions.REVERT_RESIZE.tasks
    ports = part.Of(ports.Ports)
    volumes = part.Of(volumes.Volumes, RESERVE)
    crossing = part.Of(cross_cell_revert.Crossing)

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
    def source_host(self):
        return self.began.dest['host']

    @property
    def dest_host(self):
        return self.began.source['host']

    @property
    def source_side(self):
        """The cell to which the server returns."""
        return resized.source_side(self)

    def find(self):
        return self.crossing.find() if resized.crosses(self) else super().find()

    # ---- while the destination has the guest ----

    def begun(self, connection, row):
        flavor = row and (row.old_flavor or row.flavor)
        began = Began.of(connection, self.migration_uuid, flavor=flavor)
        self.events.start(connection, DEST_EVENT, began.dest['host'])
        return began

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
        self.free_source()
        return self.crossing.give_up() if resized.crosses(self) else None

    def devices_to_reserve(self):
        return [] if self.is_gone() else self.devices()

    def destroy(self):
        """revert_resize: the destination removes the guest."""
        return self.ask(self.compute.revert_resize, **resized.asked(self, 'dest', DESTROY))

    # ---- only forward ----

    def switch(self):
        """From here on the server is the source's; nobody runs it."""
        self._switch(resized.zone(self, self.began.source['host']))

    @part.transaction
    def _switch(self, connection, zone):
        row, source = instances.find(connection, self.instance_uuid), self.began.source
        if row is not None and not instances.is_gone(row):
            values = {
                **source,
                'availability_zone': zone,
                **move_records.flavor_columns(self.began.flavor),
                **self.ports.columns(ACTIVATE),
            }
            instances.update(connection, row.uuid, values)
            move_records.change_devices(connection, self.volumes.reserved, None)
        self.events.end(connection, DEST_EVENT, self.began.dest['host'])
        self.events.start(connection, SOURCE_EVENT, source['host'])

    def finish(self):
        """finish_revert_resize: the source has the guest again, as it was."""
        row, side, found = self.find(), self.source_side, None
        if not instances.is_gone(row):
            found = self._restore(side.compute, row, side.devices(row.uuid))
            if isinstance(found, saga.Pending):
                return found
        if self.is_gone():
            discard = resized.asked(self, 'source', f'{FINISH}/discard')
            waits = self.ask(side.compute.discard_guest, **discard)
            return waits if isinstance(waits, saga.Pending) else None
        return found

    def _restore(self, compute, row, devices):
        """The guest of a row is as it was, with the devices that its server has by now.

        The source can reach the volumes once the destination does not.
        """
        if FREED not in self.results:
            self.volumes.end_former()
            self.results[FREED] = True
        was_on = self.began.vm_state == states.VmState.ACTIVE
        end = resized.asked(self, 'source', FINISH)
        asking.require_heard(self, end['host'])
        return asking.answer(
            compute.restore_guest(
                self.ctxt,
                host=end['host'],
                instance=self.instance(row),
                block_devices=devices,
                arrival={
                    **{name: end[name] for name in ('node', 'move', 'key')},
                    'power_on': was_on and row.task_state in self.tasks,
                },
            )
        )

    def drop_dest(self):
        """The ports' bindings and the attachments that the destination had."""
        row = self.find()
        if not self.stays:
            if not instances.is_gone(row):
                neighbours.unbind(self, row.network_info, self.source_host)
            self.volumes.end_former()

    def drop_dest_late(self):
        """As `drop_dest`, once the server may have moved on."""
        if not self.stays:
            duties.drop_bindings(self, self.source_host)
            self.volumes.end_former()

    def save_spec(self):
        flavor = self.began.flavor
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
            made = self.results.get(FINISH)
            for device in made.block_devices if made else ():
                children.update_block_device(connection, device['uuid'], device)
        if failure:
            self.add_fault(connection, failure)
        if self.began.vm_state == states.VmState.STOPPED:
            self.events.record(connection, STOP_EVENT, self.began.source['host'])
        self.events.end_all(connection, failure)

    def _outcome(self, row, failure):
        """A deletion, and states that an administrator has set meanwhile, stay."""
        values = {'old_flavor': None, 'new_flavor': None}
        if resized.crosses(self) and self.results.get(ACTIVATE) and not instances.is_gone(row):
            values['network_info'] = self.results[ACTIVATE]
        reverting = row.task_state in self.tasks
        if reverting:
            values['task_state'] = None
        if failure:
            if reverting:
                values['vm_state'] = str(states.VmState.ERROR)
        elif row.vm_state == states.VmState.RESIZED:
            values['vm_state'] = self.began.vm_state
            made = self.results.get(FINISH)
            values['power_state'] = made.power_state if made else row.power_state
        return values
