"""The devices of a guest, as the sagas that attach and detach them change them.

A server is in one saga at a time, so none moves while a device of it changes. Its task
state stays as it is, as in nova, and so does its vm state, whatever goes wrong.

A host that is not heard may have done what it was asked for. What cannot be undone there
becomes a duty, which makes the guest's devices those on record once the host is heard
again. Until then a volume or port that the guest may have stays reserved for the server.
Source: reference/nova/cells-and-rpc 4.1, reference/nova/api-surface 2.3.
"""

import dataclasses
import functools
import typing

from nova_lite import exception
from nova_lite import saga
from nova_lite import states
from nova_lite import transitions
from nova_lite.db.cell import actions
from nova_lite.db.cell import devices as device_rows
from nova_lite.db.cell import instances
from nova_lite.moves import asking
from nova_lite.moves import duties
from nova_lite.moves import neighbours
from nova_lite.moves import part
from nova_lite.moves import places
from nova_lite.saga import cleaning

# A note: what the answer of the API waits for has come about; of a port its id.
ACCEPTED: saga.Result[str | bool] = saga.Result('accepted', object)
# A note: the host was asked to change the guest.
ASKED = saga.Result('asked', bool)
# A note: a hard reboot was asked for before what was attached was on record.
REBOOTED = saga.Result('rebooted', bool)
REPLUG = 'plug it into a guest made again'
# Seconds after which a host is asked again whose answer was lost.
UNKNOWN_S = 5.0

# Arguments that name volumes.
VOLUMES = ('volume_id', 'old_volume_id')
# See `GuestDevices.replugging`.
WAYS_OF_ATTACHING = (saga.Way(), saga.Way(data={REBOOTED: True}))


class Began(saga.Value):
    """host: of the server, or None; and what else it had, of what a saga asks.

    device: uuid of a block device; attachment_id: of its volume; ports: their ids
    vif: the entry of network information of a port, with 'preserve_on_delete'
    """

    host: str | None
    device: str | None = None
    attachment_id: str | None = None
    ports: typing.Sequence[str] = ()
    vif: saga.Data | None = None


class GuestDevices(part.Part):
    """move: the saga; name: of the step that changes the guest

    The `settle` of the saga is the duty when that step could not be undone: the guest's devices
    are those on record.
    """

    def __init__(self, move, name):
        super().__init__(move)
        self._name = name

    def begin(self, connection, row, event, local_event=None, **found):
        """Begin what the host does; return what was found.

        local_event: what stands for it at a server that is on no host
        """
        event = event if row.host else local_event
        self.move.events.start(connection, event, row.host)
        return Began(host=row.host, **found)

    def attached(self, connection, row, volume_id):
        """Return the fields of Began for an attached volume. Raise VolumeNotAttached."""
        device = device_rows.find(connection, row.uuid, volume_id)
        if device is None:
            raise exception.VolumeNotAttached(instance_id=row.uuid, volume_id=volume_id)
        return {'device': device.uuid, 'attachment_id': device.attachment_id}

    # ---- the host ----

    def step(self, do, undo, *calls):
        """The step that changes the guest. What cannot be undone is the duty of `settle`."""
        clean = saga.Clean(self.move.settle, alone=True)
        return places.SOURCE_HOST.step(self._name, do, undo, clean=clean, calls=calls)

    def block_device(self, uuid):
        """One on record; raises VolumeNotAttached when its server was deleted."""
        for found in self.move.devices():
            if found.uuid == uuid:
                return found
        raise device_rows.gone(uuid)

    def current(self):
        """The server's row; raises InstanceNotFound when it is deleted or about to be."""
        return self.move.require_there(self.move.row())

    def ask(self, method, **arguments):
        """Ask the server's host; None for a server that is on no host."""
        if self.move.began.host is None:
            return None
        return self._ask_host(self.current(), method, self._name, arguments)

    def _ask_host(self, row, method, step, arguments):
        self.move.here.require_up(row.host)
        self.results[ASKED] = True
        return self._ask(row, method, step, arguments)

    def _ask(self, row, method, step, arguments):
        move = self.move
        common = {'host': row.host, 'instance': move.instance(row), 'key': move.key(step)}
        return move.ask(method, **common, **arguments)

    def undo(self, method, **arguments):
        """As `ask`, for an undo; nothing is to be undone where the host was not asked.

        The guest of a server that is being deleted may run for a long time yet.
        """
        move = self.move
        row = move.read(instances.find, move.instance_uuid)
        gone = row is None or row.deleted or row.host is None
        if gone or not (move.repeated or self.results.get(ASKED)):
            return None
        return self._ask_host(row, method, f'undo {self._name}', arguments)

    def settle_remade(self, **options):
        """Settle if the guest may have what was unplugged, of which there is no record now.

        A hard reboot makes a guest that was lost, as the records were when it began.
        """
        move = self.move
        unplugged = self.results.get(self._name)
        if (unplugged is None or unplugged.detached) and not move.read(self._is_rebooted):
            return None
        return self.move.settle(**options)

    def _is_rebooted(self, connection):
        move, reboot = self.move, transitions.REBOOT_HARD.verb
        return actions.is_followed_by(connection, move.instance_uuid, move.ctxt.request_id, reboot)

    def replugging(self, settle, *calls):
        """The steps that follow the record of what was attached: one, or none.

        A hard reboot that was asked for before may make the guest again without it, if it is lost.
        settle: has the guest as it is on record, and gives up nothing; takes options of _settle
        calls: the methods of computes that it calls
        """
        if REBOOTED not in self.results:
            return ()
        settle = functools.partial(settle, running=REPLUG)
        return (
            places.SOURCE_HOST.patient(
                REPLUG,
                functools.partial(settle, forward=True),
                clean=saga.Clean(settle, alone=True),
                calls=calls,
            ),
        )

    # ---- what could not be undone at the host ----

    def keeps(self, kind, *ids):
        """Return whether the undo at the host failed, and is a duty now.

        If so, the ids (of a kind of `cleaning.HELD`) are held for the server. Without a
        duty, of a saga that an older release began to undo, nobody would free them.
        """
        step = self._name
        if not cleaning.owes(self.move, step):
            return False
        held = self.results.get(cleaning.HELD) or {}
        self.results[cleaning.HELD] = {**held, step: {**held.get(step, {}), kind: list(ids)}}
        return True

    def settle_volumes(self, *volume_ids, **options):
        """Unplug those of the volumes that are not on record and free them; plug in the others.

        A duty in place of an undo; returns a Pending while that is under way.
        options: of _settle
        """
        side, row = duties.now(self.move)
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
        waits = self._settle(row, goes, **options)
        if waits is not None:
            return waits
        named = {each.get('attachment_id') for each in found}
        for attachment_id in self._held(neighbours.ATTACHMENTS) - named:
            self.move.world.volume.delete_attachment(self.move.ctxt, attachment_id)
        return self._settle(row, comes, **options)

    def settle_port(self, port, **options):
        """As `settle_volumes`, of one port. port: its entry of network information"""
        side, row = duties.now(self.move)
        found, calls = {}, []
        if row is not None:
            found = {each['id']: each for each in row.network_info or ()}
            if port['id'] in found:
                calls = [(side.compute.attach_interface, {'vif': found[port['id']]})]
            else:
                calls = [(side.compute.detach_interface, {'port_id': port['id']})]
        waits = self._settle(row, calls, **options)
        if waits is None and port['id'] in self._held(neighbours.PORTS) - set(found):
            move = self.move
            move.world.network.release_from(move.ctxt, move.instance_uuid, [port])
        return waits

    def _held(self, kind):
        held = self.results.get(cleaning.HELD) or {}
        return set(held.get(self._name, {}).get(kind, ()))

    def _settle(self, row, calls, *, forward=False, running=None):
        """Make calls to the host of a server, one after the other; a Pending or None.

        A server that is gone, or on no host, has no guest. One that was evacuated has its
        guest where it is now; its former host may not be heard before it has removed its own.
        forward: in a step, a saga that has set a task may wait for this one, and a host that
            does not answer counts as a failure, since the server is held meanwhile
        running: the step that does this or is to be cleaned up, where it is another one; its
            failures are counted, so that each try has a key of its own
        """
        if row is None or row.host is None:
            return None
        asking.require_heard(self.move, row.host)
        if row.task_state in states.REBOOTING_HARD or (row.task_state and not forward):
            return saga.Pending(detail=f'the server is in task {row.task_state}')
        for method, arguments in calls:
            try:
                waits = self._ask(row, method, f'{running or self._name}/settle', arguments)
            except exception.MessagingTimeout as error:
                if forward:
                    raise
                # It may come about yet: no other saga may change the guest before.
                return saga.Pending(wake_in=UNKNOWN_S, detail=str(error), keeps=True)
            if isinstance(waits, saga.Pending):
                return dataclasses.replace(waits, keeps=True)
        return None

    @part.transaction
    def finish(self, connection, change):
        """One transaction: `change(connection, row)`, and the end of the event."""
        move = self.move
        row = instances.lock(connection, move.instance_uuid)
        change(connection, move.require_there(row))
        if self._is_rebooted(connection):
            self.results[REBOOTED] = True
        move.events.end_all(connection)
