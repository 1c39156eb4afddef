"""Rebuild: a server gets a new guest on its host, perhaps from another image.

Until the host is known to be up and to suit the image nothing is touched: what fails
then leaves the server as it was, with its former image, but in error if the host does not
suit the image. From there on the saga only goes forward, since the disk is gone. What
cannot be done after a few tries ends it: the server is in error, with the image that was
asked for, and may be rebuilt once more.
Source: reference/nova/moves 5, reference/nova/scheduling 1 and 3.
"""

from nova_lite import exception
from nova_lite import runtime
from nova_lite import saga
from nova_lite import states
from nova_lite import transitions
from nova_lite.clients import volume as volume_client
from nova_lite.db.cell import children
from nova_lite.db.cell import instances
from nova_lite.moves import answers
from nova_lite.moves import duties
from nova_lite.moves import move
from nova_lite.moves import move_records
from nova_lite.moves import neighbours
from nova_lite.moves import part
from nova_lite.moves import places
from nova_lite.moves import steps
from nova_lite.moves.parts import shelving
from nova_lite.objects import image as image_objects

Task = states.TaskState
Vm = states.VmState

CHECK = 'check the host for the image'
COMMIT = 'give up the former guest'
DESTROY = 'destroy the former guest'
DROP = 'drop former attachments'
REIMAGE = 'write the image onto the root volume'
MAKE = saga.Result('rebuild the guest', answers.Guest)
CLEAR = 'leave nothing of a deleted server'
CONDUCTOR_EVENT = 'rebuild_server'
EVENT = 'compute_rebuild_instance'
STOP_EVENT = 'compute_stop_instance'
# How often a step is tried whose failure leaves the server in error.
TRIES = 3
# Seconds between two looks at a volume that is written.
LOOK_S = 1.0
# Notes: whether the volume service was asked to write the image, or may have
# been by one who was killed then; and since when the volume is waited for, a timestamp.
ASKED, SINCE = saga.Result('asked', str), saga.Result('since', float)
MAYBE, SURELY = 'maybe', 'surely'
WRITTEN = 'downloading'  # the status of a volume that an image is written onto
CHECK_TYPE = 'rebuild'
TRAIT = 'trait:'


class Arguments(move.Arguments):
    """image: fields of objects.ImageMeta of an image that is not the server's own, or None

    former: the columns that the API has changed with the image, as they were
    reimage: id of the image that is written onto the root volume, or None
    """

    image: saga.Data | None
    former: saga.Data
    reimage: str | None


class Rebuild(move.Move[steps.Began]):
    """A new guest in the former one's place."""

    arguments: Arguments
    kind = 'rebuild'
    first = shelving.BEGIN
    tasks = transitions.REBUILD.tasks
    volumes = shelving.attachments()
    ways = (saga.Way({'reimage': None}), saga.Way({'reimage': 'id of an image'}))

    def steps(self):
        reimages = self.arguments.reimage is not None
        return (
            steps.begin(self),
            places.SCHEDULER.step(CHECK, self.check),
            *((self.volumes.step(),) if reimages else ()),
            places.SOURCE_RECORDS.step(COMMIT, self.commit, pivot=True),
            steps.save_spec(self),
            places.SOURCE_HOST.patient(
                DESTROY, self.destroy, attempts=TRIES, calls=('revert_resize',)
            ),
            *(self._reimaging() if reimages else ()),
            places.SOURCE_HOST.patient(
                MAKE, self.make, attempts=TRIES, calls=('rebuild_instance', 'revert_resize')
            ),
            places.SOURCE_HOST.patient(CLEAR, self.clear, attempts=TRIES, calls=('revert_resize',)),
            places.SOURCE_RECORDS.step('tell that it is done', self.complete),
        )

    def _reimaging(self):
        if DESTROY in self.left:
            clean = duties.foreign_attachments(self)
        else:
            clean = saga.Clean(self.volumes.end_former)
        return (
            places.VOLUMES.patient(DROP, self.drop_former, attempts=TRIES, clean=clean),
            places.VOLUMES.patient(REIMAGE, self.reimage, attempts=TRIES),
        )

    def begun(self, connection, row):
        return shelving.begin(self, connection, row, CONDUCTOR_EVENT, at_host=False)

    # ---- before anything is touched ----

    def check(self):
        """Ask the scheduler about the server's own host, and placement about its traits."""
        if self.arguments.image is None:
            return saga.Skipped()
        spec = self.spec()
        spec.image = self._image()
        spec.check_type = CHECK_TYPE
        self._require_traits(spec)
        self.choice.select(spec, beside=[])
        return None

    def _image(self):
        return image_objects.ImageMeta(**self.arguments.image)

    def _require_traits(self, spec):
        """Raise NoValidHost for traits that the image requires and the server's host lacks."""
        wanted = _traits(spec.image.properties, 'required')
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

    def root(self):
        """The server's root volume, a block device."""
        for device in self.devices():
            if device.get('boot_index') == 0:
                return device
        raise exception.InstanceNotFound(instance_id=self.instance_uuid)

    def devices_to_reserve(self):
        """The root volume; Cinder writes none but to an attachment that connects no host.

        A rebuild that failed has left one, of a volume in error perhaps, which takes no other.
        """
        return [self.root()] if self.root().connection_info else []

    def commit(self):
        """From here on there is no way back. A host that is down keeps its guest."""
        self.here.require_up(self.began.host)
        host = self.began.host
        self.progress(
            changes={'task_state': str(Task.REBUILD_BLOCK_DEVICE_MAPPING)},
            ended=(CONDUCTOR_EVENT, None),
            started=(EVENT, host),
        )

    def changes_of_failure(self, row):
        """The image that the server still has; as in nova, an unfit host makes it an error."""
        former = self.arguments.former
        if self.error_type == exception.NoValidHost.__name__:
            return {**former, 'vm_state': str(Vm.ERROR)}
        return former

    # ---- only forward ----

    def save_spec(self):
        """Later moves look for a host for the image that the server has now."""
        if self.arguments.image is None:
            return saga.Skipped()
        self.change_spec(image=self._image())
        return None

    @property
    def is_over(self):
        """Return whether nothing more is to be made: the server is gone, or a step was left."""
        return bool(self.left) or self.is_gone()

    def destroy(self):
        return shelving.remove(self, DESTROY)

    def drop_former(self):
        """Only the attachment that connects no host stays, unless the guest is still there."""
        if DESTROY in self.left:
            self.volumes.drop_new()
        else:
            self.volumes.drop_former()

    def reimage(self):
        """Request that the volume service writes the image, and wait for it."""
        if self.is_over:
            return saga.Skipped()
        volume = self.world.volume.get(self.ctxt, self.root().volume_id)
        status, image = volume['status'], self.arguments.reimage
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

    def _wait_for(self, volume):
        """Wait for what the volume service does; raises VolumeNotUsable after a long time."""
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

    def make(self):
        """rebuild_instance: the host makes the guest. What a failed try has made goes first."""
        if self.is_over:
            return saga.Skipped()
        row = self.row()
        if row.task_state in self.tasks:
            self.progress(changes={'task_state': str(Task.REBUILD_SPAWNING)})
        if self.failed(MAKE):
            answer = shelving.remove(self, f'{MAKE}/again')
            if isinstance(answer, saga.Pending):
                return answer
        return self.ask(
            self.compute.rebuild_instance,
            host=self.began.host,
            instance=self.instance(row),
            node=self.began.node,
            block_devices=neighbours.with_attachments(self.devices(), self._reserved()),
            # One that was deleted softly meanwhile may be restored, and is off until then.
            power_on=self.runs_afterwards and row.task_state in self.tasks,
            key=self.key(MAKE),
        )

    def _reserved(self):
        """The attachments that take the place of others; none while the guest is there."""
        return {} if DESTROY in self.left else self.volumes.reserved

    @property
    def runs_afterwards(self):
        """A server that was stopped stays so; one in error is to run."""
        return self.began.vm_state != Vm.STOPPED

    def clear(self):
        """The guest may have been made after the deletion had removed it."""
        return shelving.remove(self, CLEAR) if self.is_gone() else saga.Skipped()

    @part.transaction
    def complete(self, connection):
        """The last of it: the server is its user's again, or in error."""
        row = instances.find(connection, self.instance_uuid)
        error = next(iter(self.left.values()), None)
        if row is not None and not instances.is_gone(row):
            self._record_devices(connection)
            if row.task_state in self.tasks:
                self._settle_states(connection, error)
        self.events.end_all(connection, error)

    def _settle_states(self, connection, error):
        instances.update(
            connection,
            self.instance_uuid,
            {'task_state': None, **self._columns(error)},
            expect_task=self.tasks,
            expect_host=(self.began.host,),
        )
        if error is not None:
            self.add_fault(connection, error)
        elif not self.runs_afterwards:
            self.events.record(connection, STOP_EVENT, self.began.host)

    def _columns(self, error):
        if error is not None:
            gone = {} if DESTROY in self.left else {'power_state': states.PowerState.NOSTATE}
            return {'vm_state': str(Vm.ERROR), **gone}
        return {
            'vm_state': str(Vm.ACTIVE if self.runs_afterwards else Vm.STOPPED),
            'power_state': self.results[MAKE].power_state,
            'launched_at': runtime.naive_now(),
            'progress': 0,
        }

    def _record_devices(self, connection):
        made = self.results.get(MAKE)
        connected = made.block_devices if made else ()
        move_records.change_devices(connection, self._reserved(), connected)
        for device in connected:
            children.update_block_device(
                connection, device['uuid'], {'connection_info': device['connection_info']}
            )


def _traits(values, wish):
    """The names that a flavor's extra specs or an image's properties require or forbid."""
    return {
        key.removeprefix(TRAIT)
        for key, value in values.items()
        if key.startswith(TRAIT) and value == wish
    }
