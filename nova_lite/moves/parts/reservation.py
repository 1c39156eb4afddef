"""The reservation of a volume that a server is to have: an attachment, not connected yet."""

from nova_lite import exception
from nova_lite.moves import duties
from nova_lite.moves import neighbours
from nova_lite.moves import part
from nova_lite.moves import places
from nova_lite.moves.parts import guest_devices


class Reservation(part.Part):
    """move: the saga, given a volume_id; name: of the step that makes it"""

    def __init__(self, move, name):
        super().__init__(move)
        self._name, self._volume_id = name, move.arguments.volume_id

    @property
    def id(self):
        """The id of the attachment."""
        return self.results[self._name]

    def require_free(self):
        """Raise VolumeNotUsable while the guest may have the volume, which is not on record."""
        move = self.move
        if self._volume_id in neighbours.held(move, neighbours.VOLUMES):
            raise exception.VolumeNotUsable(
                volume_id=self._volume_id,
                reason=f'an earlier attachment to server {move.instance_uuid} is not undone yet',
            )

    def step(self, record=lambda attachment_id: None):
        """The step that makes the attachment, which the request waits for.

        record: what else to do with its id
        """

        def reserve():
            found = self._make()
            record(found)
            self.results[guest_devices.ACCEPTED] = True
            return found

        clean = duties.foreign_attachments(self.move)
        return places.VOLUMES.step(self._name, reserve, self.drop, clean=clean)

    def _make(self):
        """Make the attachment, or find the one made before; its id."""
        move = self.move
        found = self._made() if move.repeated else []
        if found:
            return found[0]
        return neighbours.attach(move, self._volume_id)

    def _made(self):
        move = self.move
        listed = move.world.volume.list_attachments(move.ctxt, move.instance_uuid)
        return [each['id'] for each in listed if each['volume_id'] == self._volume_id]

    def drop(self):
        """End it: a volume that is not the server's has no attachment of it.

        It is held instead while the guest may still have the volume.
        """
        if self.move.guest.keeps(neighbours.VOLUMES, self._volume_id):
            self.move.guest.keeps(neighbours.ATTACHMENTS, self.id)
            return
        for attachment_id in self._made():
            self.move.world.volume.delete_attachment(self.move.ctxt, attachment_id)
