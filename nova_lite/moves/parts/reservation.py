"""Reservation of a volume for a server: an attachment that is not connected yet."""

from collections.abc import Callable

from nova_lite import exception
from nova_lite import saga
from nova_lite.moves import duties
from nova_lite.moves import neighbours
from nova_lite.moves import places
from nova_lite.moves import scope as scopes
from nova_lite.moves.parts import guest_devices


class Reservation:
    """The reservation of a volume that a guest will get. name: id of the step that reserves it"""

    def __init__(
        self,
        scope: scopes.Scope,
        guest: guest_devices.GuestDevices,
        name: saga.Result[str],
        volume_id: str,
    ) -> None:
        self.scope, self._guest = scope, guest
        self._name, self._volume_id = name, volume_id

    @property
    def id(self) -> str:
        return self.scope.results[self._name]

    def require_free(self) -> None:
        """Raise VolumeNotUsable while the guest may have the volume without a record."""
        scope = self.scope
        if self._volume_id in neighbours.held(scope, neighbours.VOLUMES):
            raise exception.VolumeNotUsable(
                volume_id=self._volume_id,
                reason=f'an earlier attachment to server {scope.instance_uuid} is not undone yet',
            )

    def step(self, record: Callable[[str], None] = lambda attachment_id: None) -> saga.Step:
        """Return the step that reserves the volume, for which the API waits.

        record: function that records the id of the attachment
        """

        def reserve() -> str:
            found = self._make()
            record(found)
            self.scope.results[guest_devices.ACCEPTED] = True
            return found

        clean = duties.foreign_attachments(self.scope)
        return places.VOLUMES.step(self._name, reserve, self.drop, clean=clean)

    def _make(self) -> str:
        """Create the attachment, or find an earlier one. Return its id."""
        found = self._made() if self.scope.repeated else []
        if found:
            return found[0]
        return neighbours.attach(self.scope, self._volume_id)

    def _made(self) -> list[str]:
        scope = self.scope
        listed = scope.world.volume.list_attachments(scope.ctxt, scope.instance_uuid)
        return [each['id'] for each in listed if each['volume_id'] == self._volume_id]

    def drop(self) -> None:
        """Delete the attachments, or hold them while the guest may still have the volume."""
        if self._guest.keeps(neighbours.VOLUMES, self._volume_id):
            self._guest.keeps(neighbours.ATTACHMENTS, self.id)
            return
        for attachment_id in self._made():
            self.scope.world.volume.delete_attachment(self.scope.ctxt, attachment_id)
