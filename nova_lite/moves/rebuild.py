"""Rebuild: create a new guest for a server on its host, perhaps from another image.

First the saga checks that the host is up and suitable for the image. A failure of these checks
leaves the server as it was, with its former image, but in ERROR if the host is not suitable.
Then the saga only goes forward, because the disk is destroyed. A step that fails several times
ends the saga: the server is in ERROR, with the requested image, and may be rebuilt again.
Source: reference/nova/moves 5, reference/nova/scheduling 1 and 3.
"""

from collections.abc import Mapping
import typing

import sqlalchemy as sa

from nova_lite import exception
from nova_lite import runtime
from nova_lite import saga
from nova_lite import states
from nova_lite.clients import session
from nova_lite.clients import volume as volume_client
from nova_lite.db import rows
from nova_lite.db.cell import instances
from nova_lite.moves import answers
from nova_lite.moves import asking
from nova_lite.moves import destroying
from nova_lite.moves import duties
from nova_lite.moves import move
from nova_lite.moves import move_records
from nova_lite.moves import places
from nova_lite.moves import scope as scopes
from nova_lite.moves import steps
from nova_lite.moves.parts import allocation
from nova_lite.moves.parts import choice
from nova_lite.moves.parts import shelving
from nova_lite.moves.parts import stored_request
from nova_lite.objects import block_device
from nova_lite.objects import image as image_objects
from nova_lite.objects import instance as instance_objects
from nova_lite.objects import request_spec
from nova_lite.saga import journal
from nova_lite.states import transitions

Began = steps.Began
Task = states.TaskState
Vm = states.VmState

CHECK = 'check-host-for-image'
COMMIT = 'give-up-former-guest'
DESTROY = 'destroy-former-guest'
DROP = 'drop-former-attachments'
REIMAGE = 'write-image'
MAKE = saga.Result('rebuild-guest', answers.Guest)
CLEAR = 'remove-deleted-guest'
CONDUCTOR_EVENT = 'rebuild_server'
EVENT = 'compute_rebuild_instance'
STOP_EVENT = 'compute_stop_instance'
# Tries of a step whose failure leaves the server in ERROR.
TRIES = 3
# Seconds between polls of a volume to which the image is written.
LOOK_S = 1.0
# Notes: whether the volume service was requested to write the image (MAYBE: by a super-conductor
# that was killed), and the timestamp of the begin of the wait for the volume.
ASKED, SINCE = saga.Result('asked', str), saga.Result('since', float)
MAYBE, SURELY = 'maybe', 'surely'
WRITTEN = 'downloading'  # the status of a volume while an image is written to it
CHECK_TYPE = 'rebuild'
TRAIT = 'trait:'


class Arguments(scopes.Arguments):
    """image: fields of objects.ImageMeta of another image, or None

    former: former values of the columns that the API has changed with the image
    reimage: id of the image to write onto the root volume, or None
    """

    image: saga.Data | None
    former: saga.Data
    reimage: str | None


class Rebuild(move.Move[Began]):
    arguments: Arguments
    kind = 'rebuild'
    first = shelving.BEGIN
    tasks = transitions.REBUILD.tasks
    ways = (saga.Way({'reimage': None}), saga.Way({'reimage': 'id of an image'}))

    def __init__(self, *given: typing.Any) -> None:
        super().__init__(*given)
        scope = self.scope
        self.choice = choice.Choice(scope, allocation.Allocation(scope), self.arguments)
        self.stored_request = stored_request.StoredRequest(scope)
        self.volumes = shelving.attachments(scope, devices=self.devices_to_reserve)

    def steps(self) -> saga.Steps:
        reimages = self.arguments.reimage is not None
        return (
            self.beginning(),
            places.SCHEDULER.step(CHECK, self.check, skips=True),
            *((self.volumes.step(),) if reimages else ()),
            places.SOURCE_RECORDS.step(COMMIT, self.commit, pivot=True),
            places.SOURCE_HOST.best_effort(
                DESTROY, self.destroy, attempts=TRIES, calls=('revert_resize',)
            ),
            self.stored_request.saving(self.save_spec),
            *(self._reimaging() if reimages else ()),
            places.SOURCE_HOST.best_effort(
                MAKE,
                self.make,
                attempts=TRIES,
                skips=True,
                calls=('rebuild_instance', 'revert_resize'),
            ),
            places.SOURCE_HOST.best_effort(
                CLEAR,
                self.clear,
                attempts=TRIES,
                skips=True,
                calls=('revert_resize',),
                title='remove the guest of a deleted server',
            ),
            places.SOURCE_RECORDS.step('record-end-of-action', self.complete),
        )

    def _reimaging(self) -> saga.Steps:
        if DESTROY in self.given_up:
            clean = duties.foreign_attachments(self.scope)
        else:
            clean = saga.Clean(self.volumes.end_former)
        return (
            places.VOLUMES.best_effort(DROP, self.drop_former, attempts=TRIES, clean=clean),
            places.VOLUMES.best_effort(
                REIMAGE,
                self.reimage,
                attempts=TRIES,
                skips=True,
                title='write the image onto the root volume',
            ),
        )

    def record_begin(self, connection: sa.Connection, row: rows.Row | None) -> Began:
        return shelving.begin(self.progress, connection, row, CONDUCTOR_EVENT, at_host=False)

    # ---- checks without changes ----

    def check(self) -> saga.Skipped | None:
        """Check the server's own host with the scheduler, and its traits with placement."""
        image = self._image()
        if image is None:
            return saga.Skipped()
        spec = self.choice.spec(beside=())
        spec.image, spec.check_type = image, CHECK_TYPE
        # A host may have several nodes, which differ.
        spec.destination().node = self.scope.row().node
        self._require_traits(spec, image)
        self.choice.select(spec, beside=())
        return None

    def _image(self) -> image_objects.ImageMeta | None:
        found = self.arguments.image
        return None if found is None else image_objects.ImageMeta(**found)

    def _require_traits(
        self, spec: request_spec.RequestSpec, image: image_objects.ImageMeta
    ) -> None:
        """Raise NoValidHost if the server's host lacks traits that the image requires."""
        wanted = _traits(image.properties, 'required')
        if not wanted:
            return
        placement = self.world.placement
        found = set(_traits(spec.flavor.extra_specs, 'forbidden'))
        if found & wanted:
            raise exception.NoValidHost(
                reason=f'The image requires what the flavor forbids: {sorted(found & wanted)}.'
            )
        has = set()
        for provider in placement.holding(self.ctxt, self.instance_uuid).allocations:
            has |= placement.providers.traits(self.ctxt, provider)[0]
        if wanted - has:
            raise exception.NoValidHost(
                reason=f'{self.began.host} lacks traits that the image requires: '
                f'{sorted(wanted - has)}.'
            )

    def root(self) -> block_device.BlockDevice:
        """Return the server's root volume, a block device."""
        for device in self.scope.devices():
            if device.get('boot_index') == 0:
                return device
        raise exception.InstanceNotFound(instance_id=self.instance_uuid)

    def devices_to_reserve(self) -> list[block_device.BlockDevice]:
        """Return the root volume, unless its attachment connects no host.

        Cinder writes an image only to a volume whose attachment connects no host. A failed rebuild
        has left the volume so, perhaps in error, and then it cannot get another attachment.
        """
        return [self.root()] if self.root().connection_info else []

    def commit(self) -> None:
        """Begin the work on the host. This is the pivot; a host that is down keeps its guest."""
        host = self.source.host
        self.scope.here.require_up_or_fail(host)
        self.progress.record(
            changes={'task_state': str(Task.REBUILD_BLOCK_DEVICE_MAPPING)},
            ended=(CONDUCTOR_EVENT, None),
            started=(EVENT, host),
        )

    def changes_of_failure(self, row: rows.Row) -> saga.Data:
        """Restore the image. As in nova, an unsuitable host sets the server to ERROR."""
        former = self.arguments.former
        if self.error_type == exception.NoValidHost.__name__:
            return {**former, 'vm_state': str(Vm.ERROR)}
        return former

    # ---- only forward ----

    def save_spec(self) -> saga.Skipped | None:
        """Store the image in the request, for later moves, unless the server keeps its guest."""
        image = self._image()
        if image is None or self._keeps_guest:
            return saga.Skipped()
        self.stored_request.change(image=image)
        return None

    @property
    def _keeps_guest(self) -> bool:
        """Return whether the server has left this saga before its guest was destroyed."""
        return DESTROY in self.given_up and destroying.BEGUN not in self.results

    @property
    def is_over(self) -> bool:
        """Return whether to create no guest: the server is gone, or a step was given up."""
        return bool(self.given_up) or self.scope.is_gone()

    def destroy(self) -> asking.Reply:
        """Remove the former guest, unless the server has left this saga: then it is kept."""
        waits = destroying.begin(self.scope, self.scope.find_present())
        return waits or shelving.remove(self.scope, self.source, DESTROY)

    def drop_former(self) -> None:
        """Delete the former attachments, or the new ones if the former guest still exists."""
        if DESTROY in self.given_up:
            self.volumes.drop_new()
        else:
            self.volumes.drop_former()

    def reimage(self) -> saga.Pending | saga.Skipped | None:
        """Request that the volume service writes the image, and wait for it."""
        image = self.arguments.reimage
        if self.is_over or image is None:
            return saga.Skipped()
        volume = self.world.volume.get(self.ctxt, self.root().volume_id)
        status = volume['status']
        if status in volume_client.WORKING:
            if status == WRITTEN and self.repeated and ASKED not in self.results:
                self.results[ASKED] = MAYBE
            return self._wait_for(volume)
        asked = self.results.pop(ASKED)
        if asked is None or (asked == MAYBE and (volume['image'] or {}).get('id') != image):
            self.world.volume.reimage(self.ctxt, volume['id'], image)
            self.results[ASKED] = SURELY
            return saga.Pending(wake_in=0, detail=f'volume {volume["id"]} is written')
        if status.startswith('error'):
            raise exception.VolumeNotUsable(
                volume_id=volume['id'], reason=f"its status is '{status}' after it was written"
            )
        return None

    def _wait_for(self, volume: session.Json) -> saga.Pending:
        """Wait for the volume service. Raise VolumeNotUsable after a time limit."""
        now = runtime.now().timestamp()
        if SINCE not in self.results:
            self.results[SINCE] = now
        waited = now - self.results[SINCE]
        if waited > self.world.conf.reimage_timeout_per_gb * volume['size']:
            self.results.pop(ASKED)
            self.results.pop(SINCE)
            raise exception.VolumeNotUsable(
                volume_id=volume['id'],
                reason=f"its status is still '{volume['status']}' after {waited:.0f} s",
            )
        return saga.Pending(wake_in=LOOK_S, detail=f'volume {volume["id"]} is {volume["status"]}')

    def make(self) -> saga.Skipped | asking.Reply:
        """Create the guest. First remove the guest of a failed try."""
        if self.is_over:
            return saga.Skipped()
        row = self.scope.row()
        if row.task_state in self.tasks:
            self.progress.record(changes={'task_state': str(Task.REBUILD_SPAWNING)})
        if self.failed(MAKE):
            answer = shelving.remove(self.scope, self.source, f'{MAKE}/again')
            if isinstance(answer, saga.Pending):
                return answer
        return self.volumes.call(
            lambda devices: asking.ask(
                self.scope,
                self.scope.compute.rebuild_instance,
                host=self.began.host,
                instance=instance_objects.Instance.from_row(row),
                node=self.began.node,
                block_devices=devices,
                # A server that was soft-deleted since stays off until it is restored.
                power_on=self.runs_afterwards and row.task_state in self.tasks,
                key=self.key(MAKE),
            ),
            self.scope.devices(),
        )

    def _reserved(self) -> dict[str, list[str]]:
        """Return the new attachments; none if the former guest still exists."""
        return {} if DESTROY in self.given_up else self.volumes.reserved

    @property
    def runs_afterwards(self) -> bool:
        """Return whether to start the guest: not if it was stopped, but after an error."""
        return self.began.vm_state != Vm.STOPPED

    def clear(self) -> saga.Skipped | asking.Reply:
        """Remove a guest that was created after the server's deletion."""
        return (
            shelving.remove(self.scope, self.source, CLEAR)
            if self.scope.is_gone()
            else saga.Skipped()
        )

    @scopes.transaction
    @scopes.ending
    def complete(self, connection: sa.Connection) -> None:
        """Clear the task, or set the server to ERROR, and end the action."""
        row = instances.held(connection, self.instance_uuid)
        error = next(iter(self.given_up.values()), None)
        if row is not None and not instances.is_gone(row):
            self._record_devices(connection)
            if row.task_state in self.tasks:
                self._settle_states(connection, error)
            else:
                self._settle_reset(connection, error)
            if error is not None:
                self.progress.add_fault(connection, error)
        self.events.end_all(connection, error)

    def _settle_states(self, connection: sa.Connection, error: journal.Failure | None) -> None:
        instances.update(
            connection,
            self.instance_uuid,
            {'task_state': None, **self._columns(error)},
            expect_task=self.tasks,
            expect_host=(self.began.host,),
        )
        if error is None and not self.runs_afterwards:
            self.events.record(connection, STOP_EVENT, self.began.host)

    def _settle_reset(self, connection: sa.Connection, error: journal.Failure | None) -> None:
        """Record the result for a server that has left this saga."""
        if self._keeps_guest:
            # The guest has the former image.
            instances.update(connection, self.instance_uuid, self.arguments.former)
            return
        columns = self._columns(error)
        if error is None:
            del columns['vm_state']
        move_records.change_reset(connection, self.instance_uuid, columns)

    def _columns(self, error: journal.Failure | None) -> saga.Data:
        if error is not None:
            gone = {} if DESTROY in self.given_up else {'power_state': states.PowerState.NOSTATE}
            return {'vm_state': str(Vm.ERROR), **gone}
        return {
            'vm_state': str(Vm.ACTIVE if self.runs_afterwards else Vm.STOPPED),
            'power_state': self.results[MAKE].power_state,
            'launched_at': runtime.naive_now(),
            'progress': 0,
        }

    def _record_devices(self, connection: sa.Connection) -> None:
        made = self.results.get(MAKE)
        connected = made.block_devices if made else ()
        move_records.change_devices(connection, self._reserved(), connected)
        for device in connected:
            move_records.change_connection(connection, device)


def _traits(values: Mapping[str, typing.Any], wanted: str) -> set[str]:
    """Return the names of traits in extra specs or image properties that are `wanted`."""
    return {
        key.removeprefix(TRAIT)
        for key, value in values.items()
        if key.startswith(TRAIT) and value == wanted
    }
