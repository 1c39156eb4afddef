"""An image that the disk of a guest is uploaded to; its id is the saga's own."""

from nova_lite.moves import duties
from nova_lite.moves import part
from nova_lite.moves import places


class Snapshot(part.Part):
    """move: the saga; pattern: of the image's name, with %s for the server's

    is_wanted: () -> whether there is an image; a server whose disks are volumes needs none
    properties: of the image
    """

    def __init__(self, move, pattern, *, is_wanted=lambda: True, properties=None):
        super().__init__(move)
        self._pattern = pattern
        self._is_wanted, self._properties = is_wanted, properties

    @property
    def id(self):
        """The image's id, or None."""
        return self._move.uuid if self._is_wanted() else None

    def step(self, name, do):
        """The step that makes the image. do: the effect, which calls `queue`"""
        return places.IMAGES.step(name, do, self.drop, clean=duties.own(self.drop))

    def queue(self):
        """Make the image, without data yet; returns its id, or None."""
        move, image_id = self._move, self.id
        if image_id is not None:
            row = move.row()
            move.world.image.create_snapshot(
                move.ctxt,
                self._pattern % row.display_name,
                row,
                properties=self._properties,
                image_id=image_id,
            )
        return image_id

    def dropping(self, name):
        """The step that deletes an image which has served its purpose."""
        return places.IMAGES.patient(name, self.drop, clean=duties.own(self.drop))

    def drop(self):
        """Delete the image, if it was made."""
        self._move.world.image.delete(self._move.ctxt, self._move.uuid, missing_ok=True)
