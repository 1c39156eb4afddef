"""Shelve and shelveOffload: a server becomes an image, and then leaves its host.

A failure before the server is recorded as shelved leaves it as it was, but stopped if it was
paused or suspended, because a snapshot loses the memory. A server that boots from a volume
needs no image and is offloaded at once.
"""

import typing

import sqlalchemy as sa

from nova_lite import runtime
from nova_lite import saga
from nova_lite import states
from nova_lite.clients import image
from nova_lite.db import rows
from nova_lite.db.cell import instances
from nova_lite.moves import asking
from nova_lite.moves import move
from nova_lite.moves import places
from nova_lite.moves import scope as scopes
from nova_lite.moves import steps
from nova_lite.moves.parts import image_snapshot
from nova_lite.moves.parts import offload
from nova_lite.moves.parts import shelving

Began = steps.Began
Task = states.TaskState
Vm = states.VmState

QUEUE = 'create-shelved-image'
SNAPSHOT = 'stop-and-snapshot'
RECORD = 'record-shelved'
# A note: a guest that was paused or suspended has been stopped.
STOPPED = saga.Result('stopped', bool)
IMAGE_NAME = '%s-shelved'


class Arguments(scopes.Arguments):
    """The host and the images of a shelving.

    offload: whether to leave the host at once; image: whether the server needs an image
    former: the image of a former shelving, after which the server's state was reset
    """

    VERSION = 2
    offload: bool
    image: bool
    former: str | None = None


class Shelve(move.Move[Began]):
    arguments: Arguments
    kind = 'shelve'
    first = shelving.BEGIN
    tasks = offload.TASKS
    ways = tuple(
        saga.Way({'offload': leaves, 'image': True, 'former': former})
        for former in (None, 'image-of-before')
        for leaves in (False, True)
    )

    def __init__(self, *given: typing.Any) -> None:
        super().__init__(*given)
        self.image = image_snapshot.Snapshot(
            self.scope,
            IMAGE_NAME,
            is_wanted=lambda: self.arguments.image,
            properties={image.SHELVED: 'True'},
        )
        self.offload = offload.Offload(self.scope, self.source, self.progress)

    def steps(self) -> saga.Steps:
        return (
            self.beginning(),
            self.image.step(QUEUE, self.queue_image),
            places.SOURCE_HOST.step(
                SNAPSHOT,
                self.snapshot,
                self.take_back,
                calls=('finish_revert_resize', 'prep_snapshot_based_resize_at_source'),
            ),
            places.SOURCE_RECORDS.step(
                RECORD, self.record, pivot=True, title='record that the server is shelved'
            ),
            *(self.offload.steps() if self.arguments.offload else ()),
            *((self._dropping(),) if self.arguments.former else ()),
        )

    def _dropping(self) -> saga.Step:
        """Return the step that deletes the former image, which no record names any more."""
        clean = saga.Clean(self.drop_former)
        return places.IMAGES.best_effort('delete-former-image', self.drop_former, clean=clean)

    def record_begin(self, connection: sa.Connection, row: rows.Row | None) -> Began:
        return shelving.begin(self.progress, connection, row, shelving.SHELVE_EVENT)

    def queue_image(self) -> None:
        self.scope.here.require_up_or_fail(self.source.host)
        self.image.queue()

    def drop_former(self) -> None:
        """Delete the former image, unless the server's record still names it."""
        shelving.drop_unnamed_image(self.scope, self.arguments.former)

    def snapshot(self) -> asking.Reply:
        """Stop the guest and upload its disk."""
        self.progress.record(changes={'task_state': str(Task.SHELVING_IMAGE_UPLOADING)})
        return shelving.stop(self.scope, self.source, SNAPSHOT, self.image.id)

    def take_back(self) -> asking.Reply:
        """Undo `snapshot`: start the guest again if it ran."""
        if self.scope.is_gone() or self.began.vm_state == Vm.STOPPED:
            return None
        if self.began.vm_state == Vm.ACTIVE:
            return shelving.start(self.scope, self.source, f'undo {SNAPSHOT}')
        self.results[STOPPED] = True
        return shelving.stop(self.scope, self.source, f'undo {SNAPSHOT}')

    def changes_of_failure(self, row: rows.Row) -> saga.Data:
        if STOPPED in self.results:
            return {'vm_state': Vm.STOPPED, 'power_state': int(states.PowerState.SHUTDOWN)}
        return {}

    @scopes.transaction
    def record(self, connection: sa.Connection) -> None:
        """Record the server as shelved. This is the pivot."""
        row = instances.hold(connection, self.instance_uuid)
        if row.vm_state == Vm.SHELVED:
            return
        leaves = self.arguments.offload
        shelf = {
            shelving.SHELVED_AT: runtime.naive_now().isoformat(),
            shelving.IMAGE_ID: self.image.id,
            shelving.HOST: row.host,
        }
        self.progress.note(
            connection,
            changes={
                'vm_state': str(Vm.SHELVED),
                'power_state': int(states.PowerState.SHUTDOWN),
                'task_state': str(Task.SHELVING_OFFLOADING) if leaves else None,
                'system_metadata': {**row.system_metadata, **shelf},
            },
            ended=(shelving.SHELVE_EVENT, row.host),
            started=(shelving.OFFLOAD_EVENT, row.host) if leaves else None,
        )
        if not leaves:
            self.events.end_all(connection)


class ShelveOffload(move.Move[Began]):
    kind = 'shelve-offload'
    first = shelving.BEGIN
    tasks = offload.TASKS

    def __init__(self, *given: typing.Any) -> None:
        super().__init__(*given)
        self.offload = offload.Offload(self.scope, self.source, self.progress)

    def steps(self) -> saga.Steps:
        return (
            self.beginning(),
            places.SOURCE_RECORDS.step('check-host-is-up', self.agree, pivot=True),
            *self.offload.steps(),
        )

    def record_begin(self, connection: sa.Connection, row: rows.Row | None) -> Began:
        return shelving.begin(self.progress, connection, row, shelving.OFFLOAD_EVENT)

    def agree(self) -> None:
        """Check that the guest can be removed, and the disk is in the image. This is the pivot."""
        self.scope.here.require_up_or_fail(self.source.host)
        shelving.require_image(self.world.image, self.ctxt, self.scope.row())
        self._agree()

    @scopes.transaction
    def _agree(self, connection: sa.Connection) -> None:
        self.scope.require_task(instances.get(connection, self.instance_uuid))
        self.events.start(connection, shelving.OFFLOAD_EVENT, self.began.host)
