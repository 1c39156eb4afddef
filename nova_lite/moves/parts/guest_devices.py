"""Devices of a guest, which sagas attach and detach.

A server is in one saga at a time, so it does not move while a device changes. As in nova, its
task state and vm state do not change, even after a failure.

A host whose reply is lost may have carried out the request. If the undo at the host fails, it
becomes a duty, which makes the guest's devices match the records as soon as the host reports again.
Until then a volume or port that the guest may have stays reserved for the server.
Source: reference/nova/cells-and-rpc 4.1, reference/nova/api-surface 2.3.
"""

from collections.abc import Callable
from collections.abc import Sequence
import dataclasses
import typing

import sqlalchemy as sa

from nova_lite import exception
from nova_lite import saga
from nova_lite import states
from nova_lite.clients import session
from nova_lite.db import rows
from nova_lite.db.cell import action_lists
from nova_lite.db.cell import children
from nova_lite.db.cell import devices as device_rows
from nova_lite.db.cell import instances
from nova_lite.moves import answers
from nova_lite.moves import asking
from nova_lite.moves import duties
from nova_lite.moves import neighbours
from nova_lite.moves import places
from nova_lite.moves import scope as scopes
from nova_lite.moves import server_cell
from nova_lite.moves.parts import action_events
from nova_lite.objects import block_device
from nova_lite.objects import instance as instance_objects
from nova_lite.saga import cleaning
from nova_lite.states import transitions

# A note: the API may answer the request. Its value is True, or the id of a port.
ACCEPTED: saga.Result[object] = saga.Result('accepted', object)
# A note: the host was called to change the guest.
ASKED = saga.Result('asked', bool)
# A note: a hard reboot was requested before the attachment was recorded.
REBOOTED = saga.Result('rebooted', bool)
REPLUG = 'plug-into-new-guest'
# Seconds until a host whose reply was lost is called again.
UNKNOWN_S = 5.0

# A function of (running=..., forward=...) that makes a guest match the records; it returns a
# Pending while that is in progress.
Reconcile: typing.TypeAlias = Callable[..., saga.Pending | None]

# Arguments that name volumes.
VOLUMES = ('volume_id', 'old_volume_id')
# See `GuestDevices.replugging`.
WAYS_OF_ATTACHING = (saga.Way(), saga.Way(data={REBOOTED: True}))


class Began(saga.Value):
    """host: the server's host, or None. The other fields depend on the saga.

    device: uuid of a block device; attachment_id: that of its volume; ports: ids of ports
    vif: entry of network information of a port, with 'preserve_on_delete'
    """

    host: str | None
    device: str | None = None
    attachment_id: str | None = None
    ports: typing.Sequence[str] = ()
    vif: saga.Data | None = None


BEGIN = saga.Result('record-request', Began)


class GuestDevices:
    """The devices of one guest. first: id of the saga's first step

    change: id of the step that changes the guest; a Result of a Device if a device is unplugged
    calls: the RPC methods of computes that change the guest, in the step and afterwards
    reconcile: function that makes the guest match the records: the duty of that step, if its undo
        fails
    """

    def __init__(
        self,
        scope: scopes.Scope,
        events: action_events.Events,
        first: saga.Result[Began],
        change: str,
        *,
        calls: Sequence[str],
        reconcile: Reconcile,
    ) -> None:
        self.scope, self.events = scope, events
        self._first, self._name = first, change
        self._calls, self._reconcile_saga = tuple(calls), reconcile

    @property
    def _began(self) -> Began:
        return self.scope.results[self._first]

    def begin(
        self,
        connection: sa.Connection,
        row: rows.Row,
        event: str,
        local_event: str | None = None,
        **found: typing.Any,
    ) -> Began:
        """Begin the event. Return the result of the first step.

        local_event: instead of `event` for a server that is on no host
        """
        if not row.host and local_event:
            event = local_event
        self.events.start(connection, event, row.host)
        return Began(host=row.host, **found)

    def attached(self, connection: sa.Connection, row: rows.Row, volume_id: str) -> dict[str, str]:
        """Return the fields of Began for an attached volume. Raise VolumeNotAttached."""
        device = device_rows.find(connection, row.uuid, volume_id)
        if device is None:
            raise exception.VolumeNotAttached(instance_id=row.uuid, volume_id=volume_id)
        return {'device': device.uuid, 'attachment_id': device.attachment_id}

    def end_attachment(self) -> None:
        """Delete the attachment that the server had when the saga began."""
        scope, attachment_id = self.scope, self._began.attachment_id
        if attachment_id:
            scope.world.volume.delete_attachment(scope.ctxt, attachment_id)

    # ---- the host ----

    def step(self, do: saga.Effect, undo: saga.Effect) -> saga.Step:
        """Return the step that changes the guest. Its duty makes the guest match the records."""
        clean = saga.Clean(self._reconcile_saga, alone=True)
        return places.SOURCE_HOST.step(self._name, do, undo, clean=clean, calls=self._calls)

    def block_device(self, uuid: str) -> block_device.BlockDevice:
        """Return a block device. Raise VolumeNotAttached if its server was deleted."""
        for found in self.scope.devices():
            if found.uuid == uuid:
                return found
        raise device_rows.gone(uuid)

    @property
    def device(self) -> str:
        """Return the uuid of the block device that was attached when the saga began."""
        device = self._began.device
        if device is None:
            raise exception.InstanceNotFound(instance_id=self.scope.instance_uuid)
        return device

    def current(self) -> rows.Row:
        """Return the server's row. Raise InstanceNotFound if it is gone."""
        return self.scope.require_there(self.scope.row())

    def ask(self, method: asking.Method, **arguments: typing.Any) -> asking.Reply:
        """Call the server's host. Return None for a server that is on no host."""
        if self._began.host is None:
            return None
        return self._ask_host(self.current(), method, self._name, arguments)

    def _ask_host(
        self, row: rows.Row, method: asking.Method, step: str, arguments: saga.Data
    ) -> asking.Reply:
        # An accepted request waits for a silent host, unless another request waits for this saga,
        # such as an evacuation.
        if ACCEPTED in self.scope.results and row.task_state is None and not self.scope.undoing:
            asking.require_not_forced_down(self.scope, row.host)
        else:
            self.scope.here.require_up_or_fail(row.host)
        self.scope.results[ASKED] = True
        return self._ask(row, method, step, arguments)

    def _ask(
        self, row: rows.Row, method: asking.Method, step: str, arguments: saga.Data
    ) -> asking.Reply:
        instance = instance_objects.Instance.from_row(row)
        common = {'host': row.host, 'instance': instance, 'key': self.scope.key(step)}
        return asking.ask(self.scope, method, **common, **arguments)

    def undo(self, method: asking.Method, **arguments: typing.Any) -> asking.Reply:
        """Call the server's host for an undo, unless the host was not called to change the guest.

        The guest of a server that is being deleted may still run for long.
        """
        row = self.scope.read(instances.find, self.scope.instance_uuid)
        if row is None or row.deleted or row.host is None:
            return None
        if not (self.scope.repeated or self.scope.results.get(ASKED)):
            return None
        return self._ask_host(row, method, f'undo {self._name}', arguments)

    def unplugged(
        self,
        place: places.Place,
        name: str,
        then: saga.Effect = lambda: None,
        *,
        late: saga.Effect | None = None,
    ) -> saga.Step:
        """Return a step that first unplugs a device, which is no longer recorded, again.

        A hard reboot creates a lost guest again, with the devices that were recorded when it began.
        then: further effect of the step; late: effect of its duty
        """

        def reconcile(then: saga.Effect, **options: typing.Any) -> typing.Any:
            name_of = typing.cast(saga.Result[answers.Device], self._name)
            unplugged, waits = self.scope.results.get(name_of), None
            is_sure = unplugged is None or unplugged.detached
            if not is_sure or self.scope.read(self._is_rebooted):
                waits = self._reconcile_saga(running=name, **options)
            return then() if waits is None else waits

        return place.best_effort(
            name,
            lambda: reconcile(then, forward=True),
            clean=saga.Clean(lambda: reconcile(late or then), alone=True),
            calls=self._calls,
        )

    def _is_rebooted(self, connection: sa.Connection) -> bool:
        scope, reboot = self.scope, transitions.REBOOT_HARD.verb
        return action_lists.is_followed_by(
            connection, scope.instance_uuid, scope.ctxt.request_id, reboot
        )

    def replugging(self, reconcile: Reconcile) -> saga.Steps:
        """Return the step that follows the record of an attachment after a hard reboot, or none.

        A reboot that was requested before the record may create a lost guest again without the
        device.
        reconcile: function that makes the guest match the records and releases nothing; its options
            are those of _reconcile
        """
        if REBOOTED not in self.scope.results:
            return ()
        return (
            places.SOURCE_HOST.best_effort(
                REPLUG,
                lambda: reconcile(running=REPLUG, forward=True),
                clean=saga.Clean(lambda: reconcile(running=REPLUG), alone=True),
                calls=self._calls,
            ),
        )

    # ---- after a failed undo at the host ----

    def keeps(self, kind: str, *ids: str) -> bool:
        """Return whether the undo at the host has failed and is a duty now.

        If so, hold the objects `ids` (a kind of `cleaning.HELD`) for the server. Without a duty, in
        a saga that an older release began to undo, nothing would release them.
        """
        step = self._name
        if not self.scope.owes(step):
            return False
        held = self.scope.results.get(cleaning.HELD) or {}
        self.scope.results[cleaning.HELD] = {**held, step: {**held.get(step, {}), kind: list(ids)}}
        return True

    def reconcile_volumes(
        self, *volume_ids: str, freed: Callable[[], None] = lambda: None, **options: typing.Any
    ) -> saga.Pending | None:
        """Unplug and release the volumes that are not recorded, and plug the recorded volumes.

        Return a Pending while that is in progress. An error of Cinder does not prevent that a
        recorded volume is plugged, and an error of the host does not prevent that a volume is
        released. A recorded volume whose attachment Cinder no longer has is removed from both.
        freed: function that is called after a volume that was held for the server is released
        options: those of _reconcile
        """
        cell, row = duties.now(self.scope)
        found, goes, comes = [], [], []
        if cell is not None:
            found = cell.devices()
            on_record = {each.volume_id: each for each in found if each.get('volume_id')}
            for volume_id in volume_ids:
                device = on_record.get(volume_id)
                if device is None:
                    goes.append((cell.compute.detach_volume, {'volume_id': volume_id}))
                else:
                    comes.append((cell.compute.attach_volume, {'block_device': device}))
        waits = self._reconcile(row, goes, **options)
        if waits is not None:
            return waits
        failed = None
        try:
            self._release_volumes(found, freed)
        except exception.StaleEpoch:
            raise
        except exception.NovaLiteError as error:
            failed = error
        try:
            waits = self._reconcile(row, comes, **options)
        except exception.AttachmentNotFound:
            if cell is None or not self._forget_lost(cell, comes):
                raise
            # The guest may have been given the volume before its attachment was deleted.
            return self.reconcile_volumes(*volume_ids, freed=freed, **options)
        if waits is None and failed is not None:
            raise failed
        return waits

    def _forget_lost(
        self, cell: server_cell.ServerCell, comes: Sequence[tuple[asking.Method, saga.Data]]
    ) -> bool:
        """Remove volumes whose attachments Cinder no longer has from the record.

        Return whether there were any. comes: calls that plug volumes
        """
        devices = [arguments['block_device'] for _method, arguments in comes]
        lost = [each for each in devices if not neighbours.is_attached(self.scope, each)]
        for device in lost:
            cell.write(children.destroy_block_device, device.uuid)
        return bool(lost)

    def _release_volumes(self, found: server_cell.Devices, freed: Callable[[], None]) -> None:
        """Release the volumes that were held for the server. found: its recorded devices"""
        named = {each.get('attachment_id') for each in found}
        for attachment_id in self._held(neighbours.ATTACHMENTS) - named:
            self.scope.world.volume.delete_attachment(self.scope.ctxt, attachment_id)
        if self._held(neighbours.VOLUMES) - {each.get('volume_id') for each in found}:
            freed()

    def reconcile_port(self, port: session.Json, **options: typing.Any) -> saga.Pending | None:
        """Plug a port if it is recorded, otherwise unplug and release it.

        port: its entry of network information
        """
        cell, row = duties.now(self.scope)
        found: dict[str, session.Json] = {}
        calls: list[tuple[asking.Method, saga.Data]] = []
        if cell is not None and row is not None:
            found = {each['id']: each for each in row.network_info or ()}
            if port['id'] in found:
                calls = [(cell.compute.attach_interface, {'vif': found[port['id']]})]
            else:
                calls = [(cell.compute.detach_interface, {'port_id': port['id']})]
        waits = self._reconcile(row, calls, **options)
        if waits is None and port['id'] in self._held(neighbours.PORTS) - set(found):
            scope = self.scope
            scope.world.network.release_from(scope.ctxt, scope.instance_uuid, [port])
        return waits

    def _held(self, kind: str) -> set[str]:
        held = self.scope.results.get(cleaning.HELD) or {}
        return set(held.get(self._name, {}).get(kind, ()))

    def _reconcile(
        self,
        row: rows.Row | None,
        calls: Sequence[tuple[asking.Method, saga.Data]],
        *,
        forward: bool = False,
        running: str | None = None,
    ) -> saga.Pending | None:
        """Make calls to the host of a server one after the other. Return a Pending or None.

        A server that is gone, or on no host, has no guest. The guest of an evacuated server is
        on its current host; the former host does not report before it has removed its guest.
        forward: whether the call is part of a step. Then a host that does not answer is a failure,
            because another saga, which has set a task, may wait for this one
        running: the step that runs or is cleaned up, if it is not the step of the guest. Its
            failures are counted, so that each try has another key
        """
        if row is None or row.host is None:
            return None
        asking.require_up_or_retry(self.scope, row.host)
        if row.task_state in states.REBOOTING_HARD or (row.task_state and not forward):
            return saga.Pending(detail=f'the server is in task {row.task_state}')
        for method, arguments in calls:
            try:
                # Hosts know the key, so the key stays although the method was renamed.
                waits = self._ask(row, method, f'{running or self._name}/settle', arguments)
            except exception.MessagingTimeout as error:
                if forward:
                    raise
                # The call may still take effect, and no other saga may change the guest before.
                return saga.Pending(wake_in=UNKNOWN_S, detail=str(error), keeps=True)
            if isinstance(waits, saga.Pending):
                return dataclasses.replace(waits, keeps=True)
        return None

    @scopes.transaction
    def finish(
        self, connection: sa.Connection, change: Callable[[sa.Connection, rows.Row], None]
    ) -> None:
        """Run a transaction that calls `change(connection, row)` and ends the events."""
        row = instances.lock(connection, self.scope.instance_uuid)
        change(connection, self.scope.require_there(row))
        if self._is_rebooted(connection):
            self.scope.results[REBOOTED] = True
        self.events.end_all(connection)
