"""Reservation of a volume for a server: an attachment that is not connected yet."""

from collections.abc import Callable
import typing

from nova_lite import exception
from nova_lite import saga
from nova_lite.moves import duties
from nova_lite.moves import neighbours
from nova_lite.moves import part
from nova_lite.moves import places
from nova_lite.moves.parts import guest_devices

if typing.TYPE_CHECKING:
    from nova_lite.moves import attach_volume
    from nova_lite.moves import swap_volume

    DeviceSaga: typing.TypeAlias = attach_volume.AttachVolume | swap_volume.SwapVolume


class Reservation(part.Part):
    """The volume of the saga's argument volume_id. name: of the step that reserves it"""

    move: 'DeviceSaga'

    def __init__(self, move: 'DeviceSaga', name: saga.Result[str]) -> None:
        super().__init__(move)
        self._name, self._volume_id = name, move.arguments.volume_id

    @property
    def id(self) -> str:
        return self.results[self._name]

    def require_free(self) -> None:
        """Raise VolumeNotUsable while the guest may have the volume without a record."""
        move = self.move
        if self._volume_id in neighbours.held(move, neighbours.VOLUMES):
            raise exception.VolumeNotUsable(
                volume_id=self._volume_id,
                reason=f'an earlier attachment to server {move.instance_uuid} is not undone yet',
            )

    def step(self, record: Callable[[str], None] = lambda attachment_id: None) -> saga.Step:
        """Return the step that reserves the volume, for which the API waits.

        record: (id of the attachment) -> records it
        """

        def reserve() -> str:
            found = self._make()
            record(found)
            self.results[guest_devices.ACCEPTED] = True
            return found

        clean = duties.foreign_attachments(self.move)
        return places.VOLUMES.step(self._name, reserve, self.drop, clean=clean)

    def _make(self) -> str:
        """Create the attachment, or find an earlier one. Return its id."""
        move = self.move
        found = self._made() if move.repeated else []
        if found:
            return found[0]
        return neighbours.attach(move, self._volume_id)

    def _made(self) -> list[str]:
        move = self.move
        listed = move.world.volume.list_attachments(move.ctxt, move.instance_uuid)
        return [each['id'] for each in listed if each['volume_id'] == self._volume_id]

    def drop(self) -> None:
        """Delete the attachments, or hold them while the guest may still have the volume."""
        if self.move.guest.keeps(neighbours.VOLUMES, self._volume_id):
            self.move.guest.keeps(neighbours.ATTACHMENTS, self.id)
            return
        for attachment_id in self._made():
            self.move.world.volume.delete_attachment(self.move.ctxt, attachment_id)
