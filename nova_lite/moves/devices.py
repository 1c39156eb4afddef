"""What the sagas that attach and detach devices share.

A server is in one saga at a time, so none moves while a device of it changes. Its task
state stays as it is, as in nova, and so does its vm state, whatever goes wrong.

A host that is not heard may have done what it was asked for. What cannot be undone there
becomes a duty, which makes the guest's devices those on record once the host is heard
again. Until then a volume or port that the guest may have stays reserved for the server.
Source: reference/nova/cells-and-rpc 4.1, reference/nova/api-surface 2.3.
"""

import dataclasses
import functools

from nova_lite import exception
from nova_lite import saga
from nova_lite import states
from nova_lite import transitions
from nova_lite.db.cell import actions
from nova_lite.db.cell import instances
from nova_lite.db.cell import services
from nova_lite.moves import asking
from nova_lite.moves import duties
from nova_lite.moves import move
from nova_lite.moves import neighbours
from nova_lite.moves import places
from nova_lite.moves import steps
from nova_lite.saga import cleaning

# Key of Saga.data: what the answer of the API waits for has come about.
ACCEPTED = 'accepted'
# Key of Saga.data: the host was asked to change the guest.
ASKED = 'asked'
# Key of Saga.data: a hard reboot was asked for before what was attached was on record.
REBOOTED = 'rebooted'
REPLUG = 'plug it into a guest made again'
# Seconds after which a host is asked again whose answer was lost.
UNKNOWN_S = 5.0
# Arguments that name volumes.
VOLUMES = ('volume_id', 'old_volume_id')

# See `DeviceSaga.replugging`.
WAYS_OF_ATTACHING = (saga.Way(), saga.Way(data={REBOOTED: True}))


class DeviceSaga(move.Move):
    """Base. event: what the host does; local_event: the same without a host"""

    event = None
    local_event = None

    # ---- step: begin ----

    def begun(self, connection, row):
        if instances.is_gone(row):
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

    def _free(self, connection, row):
        """There is no task to clear, and the event tells what failed.

        What could not be undone does not break the server.
        """

    # ---- the host ----

    def at_guest(self, name, do, undo, *calls):
        """The step that changes the guest. What cannot be undone is the duty of `settle`."""
        clean = saga.Clean(self.settle, alone=True)
        return saga.Step(name, do, undo=undo, clean=clean, at=places.SOURCE_HOST, calls=calls)

    def current(self):
        """The server's row; raises InstanceNotFound when it is deleted or about to be."""
        row = self.row()
        if instances.is_gone(row):
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
        return self._ask_host(self.current(), method, step, arguments)

    def _ask_host(self, row, method, step, arguments):
        self.require_up(row.host)
        self.data[ASKED] = True
        return self._ask(row, method, step, arguments)

    def _ask(self, row, method, step, arguments):
        common = {'host': row.host, 'instance': self.instance(row), 'key': self.key(step)}
        return self.ask(method, {**common, **arguments})

    def undo_at_host(self, method, step, **arguments):
        """As `ask_host`, for an undo; nothing is to be undone where the host was not asked.

        The guest of a server that is being deleted may run for a long time yet.
        """
        row = self.read(instances.find, self.instance_uuid)
        gone = row is None or row.deleted or row.host is None
        if gone or not (self.repeated or self.data.get(ASKED)):
            return None
        return self._ask_host(row, method, f'undo {step}', arguments)

    def settle_remade(self, step, **options):
        """`settle` if the guest may have what `step` unplugged, of which there is no record now.

        A hard reboot makes a guest that was lost, as the records were when it began.
        """
        return self.settle(**options) if self._may_be_remade(step) else None

    def _may_be_remade(self, step):
        if not (self.data.get(step) or {}).get('detached', True):
            return True
        return self.read(self._is_rebooted)

    def _is_rebooted(self, connection):
        uuid, reboot = self.instance_uuid, transitions.REBOOT_HARD.verb
        return actions.is_followed_by(connection, uuid, self.ctxt.request_id, reboot)

    def replugging(self, settle, *calls):
        """The steps that follow the record of what was attached: one, or none.

        A hard reboot that was asked for before may make the guest again without it, if it is lost.
        settle: has the guest as it is on record, and gives up nothing; takes options of _settle
        calls: the methods of computes that it calls
        """
        if not self.data.get(REBOOTED):
            return ()
        settle = functools.partial(settle, running=REPLUG)
        return (
            steps.patient(
                REPLUG,
                functools.partial(settle, forward=True),
                clean=saga.Clean(settle, alone=True),
                at=places.SOURCE_HOST,
                calls=calls,
            ),
        )

    # ---- what could not be undone at the host ----

    def keeps(self, step, kind, *ids):
        """Return whether the undo of a step at the host failed, and is a duty now.

        If so, the ids (of a kind of `neighbours.HELD`) are held for the server. Without a
        duty, of a saga that an older release began to undo, nobody would free them.
        """
        if step not in {duty['step'] for duty in self.data.get(cleaning.DUTIES, ())}:
            return False
        held = self.data.get(neighbours.HELD, {})
        self.data[neighbours.HELD] = {**held, step: {**held.get(step, {}), kind: list(ids)}}
        return True

    def require_not_held(self, volume_id):
        """Raise VolumeNotUsable while the guest may have a volume that is not on record."""
        if volume_id in neighbours.held(self.world, self.instance_uuid, neighbours.VOLUMES):
            raise exception.VolumeNotUsable(
                volume_id=volume_id,
                reason=f'an earlier attachment to server {self.instance_uuid} is not undone yet',
            )

    def settle_volumes(self, step, *volume_ids, **options):
        """Unplug those of the volumes that are not on record and free them; plug in the others.

        A duty in place of the undo of `step`; returns a Pending while that is under way.
        options: of _settle
        """
        side, row = duties.now(self)
        found, goes, comes = [], [], []
        if row is not None:
            found = side.devices(row.uuid)
            on_record = {each.volume_id: each for each in found if each.get('volume_id')}
            for volume_id in volume_ids:
                device = on_record.get(volume_id)
                if device is None:
                    goes.append((side.compute.detach_volume, {'volume_id': volume_id}))
                else:
                    comes.append((side.compute.attach_volume, {'block_device': device}))
        waits = self._settle(row, step, goes, **options)
        if waits is not None:
            return waits
        named = {each.get('attachment_id') for each in found}
        for attachment_id in self._held(step, neighbours.ATTACHMENTS) - named:
            self.world.volume.delete_attachment(self.ctxt, attachment_id)
        return self._settle(row, step, comes, **options)

    def settle_port(self, step, port, **options):
        """As `settle_volumes`, of one port. port: its entry of network information"""
        side, row = duties.now(self)
        found, calls = {}, []
        if row is not None:
            found = {each['id']: each for each in row.network_info or ()}
            if port['id'] in found:
                calls = [(side.compute.attach_interface, {'vif': found[port['id']]})]
            else:
                calls = [(side.compute.detach_interface, {'port_id': port['id']})]
        waits = self._settle(row, step, calls, **options)
        if waits is None and port['id'] in self._held(step, neighbours.PORTS) - set(found):
            self.world.network.release_from(self.ctxt, self.instance_uuid, [port])
        return waits

    def _held(self, step, kind):
        return set(self.data.get(neighbours.HELD, {}).get(step, {}).get(kind, ()))

    def _settle(self, row, step, calls, *, forward=False, running=None):
        """Make calls to the host of a server, one after the other; a Pending or None.

        A server that is gone, or on no host, has no guest. One that was evacuated has its
        guest where it is now; its former host may not be heard before it has removed its own.
        forward: in a step, a saga that has set a task may wait for this one, and a host that
            does not answer counts as a failure, since the server is held meanwhile
        running: the step that does this or is to be cleaned up, where it is not `step`; its
            failures are counted, so that each try has a key of its own
        """
        if row is None or row.host is None:
            return None
        asking.require_heard(self, row.host)
        if row.task_state in states.REBOOTING_HARD or (row.task_state and not forward):
            return saga.Pending(detail=f'the server is in task {row.task_state}')
        for method, arguments in calls:
            try:
                waits = self._ask(row, method, f'{running or step}/settle', arguments)
            except exception.MessagingTimeout as error:
                if forward:
                    raise
                # It may come about yet: no other saga may change the guest before.
                return saga.Pending(wake_in=UNKNOWN_S, detail=str(error), keeps=True)
            if isinstance(waits, saga.Pending):
                return dataclasses.replace(waits, keeps=True)
        return None

    def finish(self, change):
        """One transaction: `change(connection, row)`, and the end of the event."""
        self.write(self._finish, change)

    def _finish(self, connection, change):
        row = instances.lock(connection, self.instance_uuid)
        if instances.is_gone(row):
            raise exception.InstanceNotFound(instance_id=self.instance_uuid)
        change(connection, row)
        if self._is_rebooted(connection):
            self.data[REBOOTED] = True
        self.end_events(connection)
