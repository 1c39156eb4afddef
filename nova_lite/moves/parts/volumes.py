"""The volumes of a server that moves: attachments for its other end.

They are created beside those of the source, so that either can be deleted alone. The volume
service connects a volume to a second host only when it creates the attachment, so the
destination is first asked for its connector.
Source: reference/nova/moves 3.1, reference/nova/neighbour-calls.
"""

from collections.abc import Callable
import functools
import typing

import sqlalchemy as sa

from nova_lite import saga
from nova_lite.clients import session
from nova_lite.db.cell import instances
from nova_lite.moves import asking
from nova_lite.moves import duties
from nova_lite.moves import move_records
from nova_lite.moves import neighbours
from nova_lite.moves import part
from nova_lite.moves import places
from nova_lite.moves import steps
from nova_lite.objects import block_device

if typing.TYPE_CHECKING:
    from nova_lite.moves import move as moves

# Whether something holds for a saga.
Condition: typing.TypeAlias = Callable[['moves.AnyMove'], bool]


class Volumes(part.Part):
    """name: of the step that creates the attachments

    connects: whether they connect the destination; otherwise they connect no host
    needless: (move) -> whether none are needed
    gone: (move) -> whether to delete the new ones in the end; otherwise a deletion does so
    """

    def __init__(
        self,
        move: 'moves.AnyMove',
        name: saga.Result[steps.Reserved],
        *,
        connects: bool = False,
        needless: Condition = lambda it: it.stays,
        gone: Condition = lambda it: False,
    ) -> None:
        super().__init__(move)
        self._name, self._connects = name, connects
        self._needless, self._gone = needless, gone

    @property
    def reserved(self) -> steps.Reserved:
        """Return {uuid of a block device: [id of its former attachment, id of the new one]}."""
        return self.results.get(self._name) or {}

    def step(self) -> saga.Step:
        """Return the step that creates the attachments. A failed undo becomes a duty."""
        return places.VOLUMES.step(
            self._name,
            self._reserve,
            self.drop_new,
            clean=duties.foreign_attachments(self.move),
            skips=True,
            calls=('get_volume_connector',) if self._connects else (),
        )

    def forward(self) -> saga.Step:
        """Return the same step for a saga that has passed its pivot, of a server that leaves."""
        reserve = functools.partial(self._reserve, forward=True)
        clean = saga.Clean(self._reserve_later, alone=True)
        return places.VOLUMES.best_effort(self._name, reserve, clean=clean, skips=True)

    def _reserve(self, *, forward: bool = False) -> steps.Reserved | saga.Skipped:
        move = self.move
        devices = [] if self._needless(move) else move.devices_to_reserve()
        if not neighbours.has_volumes(devices):
            return saga.Skipped()
        connector = self._connector() if self._connects else None
        return neighbours.reserve(move, devices, connector=connector, forward=forward)

    def _reserve_later(self) -> saga.Pending | None:
        """Replace the attachments of a server on no host that connect the host which it has left.

        While they do so, the volumes cannot be connected to another host.
        """
        move = self.move
        waits: saga.Pending | None = duties.foreign_attachments(move).do()
        cell, row = duties.now(move)
        if waits is not None or cell is None or row is None or row.host is not None:
            return waits
        connected = [device for device in cell.devices() if device.get('connection_info')]
        made = neighbours.reserve(move, connected, forward=True)
        if not cell.write(_record_reserved, row.uuid, made):
            return saga.Pending(detail='another request changed the server')
        for former, _new in made.values():
            move.world.volume.delete_attachment(move.ctxt, former)
        return None

    def _connector(self) -> session.Json:
        """Return the destination's connector."""
        move = self.move
        asking.require_up_or_retry(move, move.dest_host)
        return move.there.compute.get_volume_connector(move.ctxt, **move.dest)

    def drop_new(self) -> None:
        """Delete all attachments that no block device names."""
        move = self.move
        if self._needless(move):
            return
        devices = move.devices()
        if neighbours.has_volumes(devices) or move.is_gone():
            neighbours.drop_foreign(move, devices)

    def arriving(
        self, devices: list[block_device.BlockDevice] | None = None
    ) -> list[block_device.BlockDevice]:
        """Return the block devices with the new attachments. devices: default: read them"""
        found = self.move.devices() if devices is None else devices
        return neighbours.with_attachments(found, self.reserved)

    def settling(self, name: str) -> saga.Step:
        """Return the step that deletes the former attachments after the arrival."""
        clean = saga.Clean(self.end_former)
        return places.VOLUMES.best_effort(
            name, self.drop_former, clean=clean, later=True, skips=True
        )

    def drop_former(self) -> saga.Skipped | None:
        """Delete the former attachments; for a deleted server the new ones, too."""
        move = self.move
        self.end_former()
        if self._gone(move):
            neighbours.drop_foreign(move, move.devices())
        elif not self.reserved:
            return saga.Skipped()
        return None

    def end_former(self) -> None:
        """Delete the former attachments."""
        for former, _new in self.reserved.values():
            self.move.world.volume.delete_attachment(self.move.ctxt, former)


def _record_reserved(connection: sa.Connection, uuid: str, made: steps.Reserved) -> bool:
    """Record the attachments of a server on no host. Return False if it is not there any more."""
    row = instances.held(connection, uuid)
    if row is None or instances.is_gone(row) or row.host is not None:
        return False
    move_records.change_devices(connection, made, None)
    return True
